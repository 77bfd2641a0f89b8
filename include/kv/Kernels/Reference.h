//===- Reference.h - Attention and store over a paged cache -----*- C++ -*-===//
//
// The plain CPU kernels behind the rows `store` and `attention` of
// Symbols.def: the oracle of every other kernel. Scalar in meaning (double
// accumulation, one fixed order by absolute key position), written so that a
// compiler can use vectors.
//
// The bits of one (token, query head) of the result depend on its own absolute
// position and on the values it sees: not on the batch, the chunking of a
// prompt, the page size, the range a call computes, or the vector width.
//
// Sequence b owns the tokens row_offsets[b] .. row_offsets[b + 1]; its token i
// stands at position cache_lengths[b] + i - row_offsets[b], and its keys are
// the positions 0 .. cache_lengths[b] + new tokens. Key positions beyond that
// are never read. Page 0 is the null page: what is stored to it is dropped. A
// continuous cache has slots for pages and no null one. Dimensions are given in
// logical order; memory may have another (the strides say).
//
// The validate functions look at everything that could make a kernel read or
// write out of bounds; the kernels assume that they were called. A compiled
// graph has its step validated once, and its shapes follow from its entry's: in
// each layer validateTable is what is left.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_REFERENCE_H
#define KV_KERNELS_REFERENCE_H

#include "kv/ABI/Context.h"

#include <optional>
#include <string>

namespace kv::reference {

struct Failure {
  KvStatus status;
  std::string message;
};

/// Views as Symbols.def describes them, not owned.
struct StoreArguments {
  const KvTensorView *blocks;       // [P+1, 2|1, L, page, H, D] of a float
                                    // of 32, 16, 8 bits, or i8
  const KvTensorView *scales;       // [P+1, 2|1, L, page, H, D / group] of f32
                                    // or f8E8M0FNU, or null
  const KvTensorView *cacheLengths; // i32 [B]
  const KvTensorView *lookupTable;  // i32 [B, pitch], continuous: [B]
  const KvTensorView *rowOffsets;   // i32 [B+1]
  int64_t layer;
  const KvTensorView *k; // [T, H, D] f32|bf16|f16
  const KvTensorView *v; // like k; null when blocks holds one plane
};

struct AttentionArguments {
  const KvTensorView *blocks;
  const KvTensorView *scales;
  const KvTensorView *cacheLengths;
  const KvTensorView *lookupTable;
  const KvTensorView *rowOffsets;
  int64_t layer;
  const KvTensorView *q;   // [T, Hq, D] f32|bf16|f16; Hq a multiple of H
  const KvTensorView *out; // [T, Hq, Dv] f32|bf16|f16
  const KvTensorView *lse; // f32 [T, Hq] or null
  float scale;
  float softcap; // <= 0: none
  int32_t mask;  // KvMask
  int64_t window;
  const KvTensorView *sinks = nullptr; // f32 [Hq] or null: a logit a head
  /// i32 [B+1]: this step's keys, where they are not as many as the queries.
  const KvTensorView *kvRowOffsets = nullptr;
};

struct PrintArguments {
  const KvTensorView *blocks;
  const KvTensorView *scales;
  const KvTensorView *cacheLengths;
  const KvTensorView *lookupTable;
  const KvTensorView *rowOffsets; // null: cached tokens only
  int64_t layer;
};

/// What `checkStep` of Symbols.def checks; there it is described.
struct StepArguments {
  const KvTensorView *rowOffsets;           // i32 [B+1]
  const KvTensorView *cacheLengths;         // i32 [B]
  const KvTensorView *lookupTable;          // i32 [B, pitch], continuous: [B]
  const KvTensorView *maxLengths = nullptr; // i32 [steps, 2] or null
  int64_t rows = -1;
  int64_t sequences = -1;
  int64_t pageTokens = 0;
  /// What messages begin with, and how they name the offsets and the rows.
  const char *prefix = "";
  const char *offsetsName = "row_offsets";
  const char *rowsName = "the step";
};

/// Nothing, or the first violation, in one sentence with both values.
std::optional<Failure> validate(const StepArguments &args);
/// The same of the sizes alone, where no element can be looked at.
std::optional<Failure> validateSizes(const StepArguments &args);
std::optional<Failure> validate(const StoreArguments &args);
std::optional<Failure> validate(const AttentionArguments &args);
std::optional<Failure> validate(const PrintArguments &args);

/// Of a step and of shapes that have been validated: the layer, and that every
/// entry of the table that holds a key of a sequence with new tokens is a page.
std::optional<Failure> validateTable(const StoreArguments &args);
std::optional<Failure> validateTable(const AttentionArguments &args);

/// How many work items there are, and how many should go together.
int64_t storeItems(const StoreArguments &args);
int64_t attentionItems(const AttentionArguments &args);
constexpr int64_t StoreGrain = 64;
constexpr int64_t AttentionGrain = 16;

/// Items [lo, hi): tokens. Rounds to nearest even.
void store(const StoreArguments &args, int64_t lo, int64_t hi);

/// Items [lo, hi): item h * T + t is token t of KV head h, with all query
/// heads that share it.
void attention(const AttentionArguments &args, int64_t lo, int64_t hi);

/// What `print` prints, a line a position and head with the first elements of
/// K and V. A table entry that is no page is said to be none.
std::string print(const PrintArguments &args);

} // namespace kv::reference

#endif // KV_KERNELS_REFERENCE_H
