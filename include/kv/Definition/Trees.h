//===- Trees.h - Rows that are nodes of a tree ------------------*- C++ -*-===//
//
// The last new tokens of a sequence may be nodes of a tree (kv/ABI/Trees.h): a
// row then sees its path, as if only the path stood after the tokens before the
// tree.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DEFINITION_TREES_H
#define KV_DEFINITION_TREES_H

#include "kv/ABI/Trees.h"
#include "kv/Definition/HostDevice.h"

namespace kv::plan {

/// How many of a sequence's new tokens stand before its tree.
KV_HD constexpr int64_t tokensBeforeTree(int64_t added) {
  return greater<int64_t>(added - KV_TREE_ROWS, 0);
}

KV_HD constexpr int countBits(uint64_t bits) {
  int count = 0;
  for (; bits; bits &= bits - 1)
    ++count;
  return count;
}

/// A new token, at its place among those of its sequence.
struct TreeNode {
  int64_t base;       // position of the tree's first token
  int64_t position;   // along the path
  int number;         // in the tree; negative: before it
  uint64_t ancestors; // bit j: the j-th token of the tree

  /// The bits of the path from its end: bit 63 is the node itself, bit 63 - d
  /// the key d places before it; all before the tree are set.
  KV_HD constexpr uint64_t path() const {
    if (number < 0)
      return ~uint64_t(0);
    int spare = KV_TREE_ROWS - 1 - number;
    uint64_t own = uint64_t(1) << number;
    return (ancestors | own) << spare | ((uint64_t(1) << spare) - 1);
  }
};

/// Token `token` of the `added` new ones of a sequence that had `cached`;
/// `word` is its word.
KV_HD constexpr TreeNode nodeAt(int64_t cached, int64_t added, int64_t token,
                                int64_t word) {
  int64_t before = tokensBeforeTree(added);
  TreeNode node{cached + before, cached + token, int(token - before), 0};
  if (node.number < 0)
    return node;
  node.ancestors = uint64_t(word) & ((uint64_t(1) << node.number) - 1);
  node.position = node.base + countBits(node.ancestors);
  return node;
}

} // namespace kv::plan

#endif // KV_DEFINITION_TREES_H
