//===- Reference.h - Attention and store over a paged cache -----*- C++ -*-===//
//
// The CPU kernels of the functions `store` and `attention` of Symbols.def, and
// the oracle that every other kernel is compared with. Their result is that of
// scalar code (sums in double, in one fixed order by absolute key position);
// they are written so that a compiler can use vector instructions.
//
// The bits of a result row, of one token and query head, depend on its absolute
// position and on the keys and values that it sees, and on nothing else: not on
// the batch, the chunks of the prompt, the page size, the range [lo, hi) of a
// call, or the vector width.
//
// Sequence b owns the tokens row_offsets[b] .. row_offsets[b + 1]. Its token i
// stands at position cache_lengths[b] + i - row_offsets[b], and its keys are
// the positions 0 .. cache_lengths[b] + new tokens. Key positions beyond that
// are never read. Page 0 is the null page: rows stored to it are dropped. A
// continuous cache has slots instead of pages, and no null slot. Dimensions are
// in logical order; the strides give their order in memory.
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

/// Views as Symbols.def describes them; their memory is the caller's.
struct StoreArguments {
  const KvTensorView *blocks;       // [P+1, planes, L, page, H, D] of floats
                                    // of 32, 16 or 8 bits, or of i8
  const KvTensorView *scales;       // [P+1, planes, L, page, H, D / group] of
                                    // f32 or f8E8M0FNU, or null
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
  /// f32 [Hq] or null: one more logit for the softmax of each head, without a
  /// value.
  const KvTensorView *sinks = nullptr;
  /// i32 [B+1]: the row offsets of this step's keys; null: those of the
  /// queries.
  const KvTensorView *kvRowOffsets = nullptr;
  /// i64 [T] or null: which of a sequence's last rows are ancestors of a row
  /// (kv/ABI/Trees.h). Then there are no kvRowOffsets.
  const KvTensorView *ancestors = nullptr;
};

struct PrintArguments {
  const KvTensorView *blocks;
  const KvTensorView *scales;
  const KvTensorView *cacheLengths;
  const KvTensorView *lookupTable;
  const KvTensorView *rowOffsets; // null: cached tokens only
  int64_t layer;
};

/// The arguments that `checkStep` of Symbols.def checks, as described there.
struct StepArguments {
  const KvTensorView *rowOffsets;           // i32 [B+1]
  const KvTensorView *cacheLengths;         // i32 [B]
  const KvTensorView *lookupTable;          // i32 [B, pitch], continuous: [B]
  const KvTensorView *maxLengths = nullptr; // i32 [steps, 2] or null
  int64_t rows = -1;
  int64_t sequences = -1;
  int64_t pageTokens = 0;
  int64_t bands = 1;
  /// The beginning of messages, and their names of the offsets and the rows.
  const char *prefix = "";
  const char *offsetsName = "row_offsets";
  const char *rowsName = "the step";
};

/// Nothing, or the first violation, in one sentence with both values.
std::optional<Failure> validate(const StepArguments &args);
/// Checks the sizes alone, if no element can be read.
std::optional<Failure> validateSizes(const StepArguments &args);
std::optional<Failure> validate(const StoreArguments &args);
std::optional<Failure> validate(const AttentionArguments &args);
std::optional<Failure> validate(const PrintArguments &args);

/// Checks a step whose shapes have been validated: the layer, and that every
/// entry of the table that holds a key of a sequence with new tokens is a page.
std::optional<Failure> validateTable(const StoreArguments &args);
std::optional<Failure> validateTable(const AttentionArguments &args);

/// How many work items a call has, and the smallest range of them that is worth
/// a thread.
int64_t storeItems(const StoreArguments &args);
int64_t attentionItems(const AttentionArguments &args);
constexpr int64_t StoreGrain = 64;
constexpr int64_t AttentionGrain = 16;

/// Stores the items [lo, hi); item t is token t. Rounds to nearest even.
void store(const StoreArguments &args, int64_t lo, int64_t hi);

/// Computes the items [lo, hi); item h * T + t is token t with all query heads
/// that share the KV head h.
void attention(const AttentionArguments &args, int64_t lo, int64_t hi);

/// The text that the function `print` of Symbols.def prints: a line for each
/// position and head with the first elements of K and V. A table entry that is
/// not a page id of the cache is printed as such.
std::string print(const PrintArguments &args);

} // namespace kv::reference

#endif // KV_KERNELS_REFERENCE_H
