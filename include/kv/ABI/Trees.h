//===- Trees.h - Trees of drafts in a step ----------------------*- C++ -*-===//
//
// The last KV_TREE_ROWS new tokens of a sequence, or all where they are fewer,
// may be nodes of a tree. A word i64 a token says which of them are its
// ancestors: bit j is the j-th of them. The bit of the token itself and those
// of later ones are not looked at: KV_NO_TREE is a sequence without branches.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_TREES_H
#define KV_ABI_TREES_H

// The most nodes of a tree: the bits of a word.
#define KV_TREE_ROWS 64
#define KV_NO_TREE (-1)

#endif // KV_ABI_TREES_H
