//===- Validate.cpp - What would make a kernel leave its memory -----------===//

#include "Elements.h"
#include "PagedCache.h"
#include "kv/Kernels/Reference.h"

using namespace kv::reference;

using Checked = std::optional<Failure>;

namespace {

std::string text(int64_t value) { return std::to_string(value); }

Failure invalid(std::string message) {
  return {KV_STATUS_INVALID_ARGUMENT, std::move(message)};
}

Failure outOfRange(std::string message) {
  return {KV_STATUS_OUT_OF_RANGE, std::move(message)};
}

Checked checkRank(const char *op, const char *name, const KvTensorView *view,
                  int64_t rank) {
  auto prefix = [&] { return std::string(op) + ": " + name; };
  if (!view)
    return invalid(prefix() + " is missing");
  if (view->rank != rank)
    return invalid(prefix() + " has rank " + text(view->rank) + ", expected " +
                   text(rank));
  for (int64_t i = 0; i < rank; ++i)
    if (view->sizes[i] < 0)
      return invalid(prefix() + " has the size " + text(view->sizes[i]) +
                     " in dimension " + text(i));
  return std::nullopt;
}

Checked checkIndices(const char *op, const char *name, const KvTensorView *view,
                     int64_t rank) {
  if (Checked failure = checkRank(op, name, view, rank))
    return failure;
  if (view->dtype != KV_DTYPE_I32)
    return invalid(std::string(op) + ": " + name + " has the element type " +
                   text(view->dtype) + ", expected i32");
  return std::nullopt;
}

/// A tensor whose rows (last dimension) are contiguous.
Checked checkContiguousRows(const char *op, const char *name,
                            const KvTensorView *view, int64_t rank) {
  if (Checked failure = checkRank(op, name, view, rank))
    return failure;
  auto prefix = [&] { return std::string(op) + ": " + name; };
  if (view->strides[rank - 1] != 1 && view->sizes[rank - 1] > 1)
    return invalid(prefix() + " has the stride " +
                   text(view->strides[rank - 1]) +
                   " in its last dimension, expected 1");
  return std::nullopt;
}

/// Checks rows of floats that a step computes with.
Checked checkRows(const char *op, const char *name, const KvTensorView *view,
                  int64_t rank) {
  if (Checked failure = checkContiguousRows(op, name, view, rank))
    return failure;
  if (!isFloat(view->dtype))
    return invalid(std::string(op) + ": " + name + " has the element type " +
                   text(view->dtype) + ", expected f32, bf16 or f16");
  return std::nullopt;
}

Checked checkSize(const char *op, const char *name, const KvTensorView *view,
                  int64_t dimension, int64_t expected, const char *why) {
  if (view->sizes[dimension] == expected)
    return std::nullopt;
  return invalid(std::string(op) + ": " + name + " has the size " +
                 text(view->sizes[dimension]) + " in dimension " +
                 text(dimension) + ", expected " + text(expected) + " (" + why +
                 ")");
}

/// That the scales are those of the blocks.
Checked checkScales(const char *op, const KvTensorView *blocks,
                    const KvTensorView *scales) {
  auto prefix = [&] { return std::string(op) + ": "; };
  if (!scales) {
    if (blocks->dtype == KV_DTYPE_I8)
      return invalid(prefix() + "blocks of i8 need scales");
    return std::nullopt;
  }
  if (!isScalable(blocks->dtype))
    return invalid(prefix() +
                   "scales are given for blocks of the element type " +
                   text(blocks->dtype) + ", expected f8E4M3FN, f8E5M2 or i8");
  if (Checked failure = checkContiguousRows(op, "scales", scales, 6))
    return failure;
  if (scales->dtype != KV_DTYPE_F32 && scales->dtype != KV_DTYPE_F8E8M0FNU)
    return invalid(prefix() + "scales has the element type " +
                   text(scales->dtype) + ", expected f32 or f8E8M0FNU");
  for (int64_t d = 0; d < 5; ++d)
    if (Checked failure = checkSize(op, "scales", scales, d, blocks->sizes[d],
                                    "as blocks has"))
      return failure;
  if (scales->sizes[5] < 1 || blocks->sizes[5] % scales->sizes[5] != 0)
    return invalid(prefix() + "scales has " + text(scales->sizes[5]) +
                   " groups a row, expected a divisor of " +
                   text(blocks->sizes[5]));
  return std::nullopt;
}

Checked checkLayer(const char *op, const KvTensorView *blocks, int64_t layer) {
  if (layer >= 0 && layer < blocks->sizes[2])
    return std::nullopt;
  return outOfRange(std::string(op) + ": layer " + text(layer) +
                    ", the cache has " + text(blocks->sizes[2]) + " layers");
}

/// Blocks and scales, and that a layer of them can be addressed at all.
Checked checkPlace(const char *op, const KvTensorView *blocks,
                   const KvTensorView *scales, int64_t layer) {
  if (Checked failure = checkContiguousRows(op, "blocks", blocks, 6))
    return failure;
  if (!isFloat(blocks->dtype) && !isScalable(blocks->dtype))
    return invalid(std::string(op) + ": blocks has the element type " +
                   text(blocks->dtype) +
                   ", expected f32, bf16, f16, f8E4M3FN, f8E5M2 or i8");
  if (blocks->sizes[1] != 1 && blocks->sizes[1] != 2)
    return invalid(std::string(op) + ": blocks has " + text(blocks->sizes[1]) +
                   " planes, expected 2 (K and V) or 1 (latent)");
  if (Checked failure = checkScales(op, blocks, scales))
    return failure;
  if (blocks->sizes[3] < 1)
    return invalid(std::string(op) + ": blocks has pages of " +
                   text(blocks->sizes[3]) + " tokens, expected at least 1");
  return checkLayer(op, blocks, layer);
}

/// Pages of each sequence, or one slot each.
Checked checkTable(const char *op, const KvTensorView *table) {
  return checkIndices(op, "lookup_table", table,
                      table && table->rank == 1 ? 1 : 2);
}

/// Where every key of a sequence with new tokens lies must be a page. The step
/// has been validated.
Checked checkPages(const char *op, const KvTensorView *blocks,
                   const KvTensorView *cacheLengths,
                   const KvTensorView *lookupTable,
                   const KvTensorView *rowOffsets,
                   const KvTensorView *kvRowOffsets) {
  int64_t pages = blocks->sizes[0], pageSize = blocks->sizes[3];
  bool isPaged = lookupTable->rank == 2;
  const KvTensorView &keyOffsets = kvRowOffsets ? *kvRowOffsets : *rowOffsets;
  for (int64_t b = 0; b < cacheLengths->sizes[0]; ++b) {
    // A sequence without new tokens asks for nothing.
    if (loadIndex(*rowOffsets, b) == loadIndex(*rowOffsets, b + 1))
      continue;
    int64_t length = int64_t(loadIndex(*cacheLengths, b)) +
                     loadIndex(keyOffsets, b + 1) - loadIndex(keyOffsets, b);
    int64_t used = (length + pageSize - 1) / pageSize;
    for (int64_t i = 0; i < used; ++i) {
      int64_t page = pageOf(*lookupTable, b, i * pageSize, pageSize);
      if (page < 0 || page >= pages)
        return outOfRange(std::string(op) + ": lookup_table[" + text(b) +
                          (isPaged ? ", " + text(i) + "] is " : "] is ") +
                          text(page) +
                          (isPaged ? ", the cache has the pages 0 to "
                                   : ", the cache has the slots 0 to ") +
                          text(pages - 1));
    }
  }
  return std::nullopt;
}

/// Checks that store and attention share; `rows` has one row per token and is
/// called `rowsName`.
Checked checkCache(const char *op, const KvTensorView *blocks,
                   const KvTensorView *scales, const KvTensorView *cacheLengths,
                   const KvTensorView *lookupTable,
                   const KvTensorView *rowOffsets,
                   const KvTensorView *kvRowOffsets, int64_t layer,
                   const KvTensorView *rows, const char *rowsName) {
  if (Checked failure = checkPlace(op, blocks, scales, layer))
    return failure;
  if (Checked failure = checkRows(op, rowsName, rows, 3))
    return failure;
  std::string prefix = std::string(op) + ": ";
  StepArguments step = {.rowOffsets = rowOffsets,
                        .cacheLengths = cacheLengths,
                        .lookupTable = lookupTable,
                        .rows = rows->sizes[0],
                        .pageTokens = kvRowOffsets ? 0 : blocks->sizes[3],
                        .prefix = prefix.c_str(),
                        .rowsName = rowsName};
  if (Checked failure = validate(step))
    return failure;
  if (kvRowOffsets) {
    step.rowOffsets = kvRowOffsets;
    step.rows = -1;
    step.pageTokens = blocks->sizes[3];
    step.offsetsName = "kv_row_offsets";
    if (Checked failure = validate(step))
      return failure;
  }
  return checkPages(op, blocks, cacheLengths, lookupTable, rowOffsets,
                    kvRowOffsets);
}

} // namespace

/// `least`: 0 where a graph may not know of its own step.
static Checked checkMaxLengths(const StepArguments &args, int64_t least) {
  const KvTensorView *most = args.maxLengths;
  if (!most || (most->sizes[0] >= least && most->sizes[1] == 2))
    return std::nullopt;
  return invalid(std::string(args.prefix) + "max_lengths is [" +
                 text(most->sizes[0]) + ", " + text(most->sizes[1]) +
                 "], expected two numbers a step");
}

Checked kv::reference::validateSizes(const StepArguments &args) {
  std::string_view given = args.prefix;
  std::string op(given.substr(0, given.find(':')));
  auto prefix = [&] { return std::string(given); };
  if (Checked failure =
          checkIndices(op.c_str(), "cache_lengths", args.cacheLengths, 1))
    return failure;
  if (Checked failure = checkTable(op.c_str(), args.lookupTable))
    return failure;
  if (Checked failure =
          checkIndices(op.c_str(), args.offsetsName, args.rowOffsets, 1))
    return failure;
  int64_t batch = args.cacheLengths->sizes[0];
  if (args.lookupTable->sizes[0] != batch)
    return invalid(prefix() + "lookup_table has " +
                   text(args.lookupTable->sizes[0]) +
                   " rows, cache_lengths has " + text(batch));
  if (args.rowOffsets->sizes[0] != batch + 1)
    return invalid(prefix() + args.offsetsName + " has " +
                   text(args.rowOffsets->sizes[0]) + " elements, expected " +
                   text(batch + 1) + " (one more than cache_lengths has)");
  if (args.sequences >= 0 && batch != args.sequences)
    return invalid(prefix() + "cache_lengths has " + text(batch) +
                   " elements, the graph was compiled for " +
                   text(args.sequences) + " sequences");
  return checkMaxLengths(args, /*least=*/0);
}

/// One pass over the offsets; words are made only when there is something to
/// say.
Checked kv::reference::validate(const StepArguments &args) {
  if (Checked failure = validateSizes(args))
    return failure;
  if (Checked failure = checkMaxLengths(args, /*least=*/1))
    return failure;
  auto prefix = [&] { return std::string(args.prefix); };
  auto name = [&] { return prefix() + args.offsetsName; };
  int64_t batch = args.cacheLengths->sizes[0];
  bool isPaged = args.lookupTable->rank == 2;
  int64_t pitch = isPaged ? args.lookupTable->sizes[1] / args.bands : 1;
  int64_t mostNew = INT32_MAX, mostKeys = INT32_MAX;
  if (args.maxLengths) {
    const KvTensorView &most = *args.maxLengths;
    const int32_t *first =
        static_cast<const int32_t *>(most.data) + most.offset;
    mostNew = first[0];
    mostKeys = first[most.strides[1]];
  }
  if (loadIndex(*args.rowOffsets, 0) != 0)
    return invalid(name() + " begins with " +
                   text(loadIndex(*args.rowOffsets, 0)) + ", expected 0");
  int64_t first = 0;
  for (int64_t b = 0; b < batch; ++b) {
    int64_t end = loadIndex(*args.rowOffsets, b + 1);
    if (end < first)
      return invalid(name() + " falls from " + text(first) + " to " +
                     text(end) + " at sequence " + text(b));
    int64_t cached = loadIndex(*args.cacheLengths, b);
    if (cached < 0)
      return invalid(prefix() + "cache_lengths[" + text(b) + "] is " +
                     text(cached));
    int64_t added = end - first, length = cached + added;
    auto sequence = [&] { return prefix() + "sequence " + text(b) + " has "; };
    if (length > INT32_MAX)
      return outOfRange(sequence() + text(length) +
                        " tokens, more than positions can count");
    if (added > mostNew)
      return invalid(sequence() + text(added) +
                     " new tokens, max_lengths says at most " + text(mostNew));
    if (length > mostKeys)
      return invalid(sequence() + text(length) +
                     " tokens, max_lengths says at most " + text(mostKeys));
    if (args.pageTokens && length > pitch * args.pageTokens)
      return outOfRange(sequence() + text(length) + " tokens, its " +
                        (isPaged ? "table row holds " + text(pitch) +
                                       " pages of " + text(args.pageTokens)
                                 : "slot holds " + text(args.pageTokens)));
    first = end;
  }
  if (args.rows >= 0 && first != args.rows)
    return invalid(name() + " ends with " + text(first) + ", " + args.rowsName +
                   " has " + text(args.rows) + " tokens");
  return std::nullopt;
}

Checked kv::reference::validateTable(const StoreArguments &args) {
  if (Checked failure = checkLayer("store", args.blocks, args.layer))
    return failure;
  return checkPages("store", args.blocks, args.cacheLengths, args.lookupTable,
                    args.rowOffsets, /*kvRowOffsets=*/nullptr);
}

Checked kv::reference::validateTable(const AttentionArguments &args) {
  if (Checked failure = checkLayer("attention", args.blocks, args.layer))
    return failure;
  return checkPages("attention", args.blocks, args.cacheLengths,
                    args.lookupTable, args.rowOffsets, args.kvRowOffsets);
}

Checked kv::reference::validate(const StoreArguments &args) {
  if (Checked failure =
          checkCache("store", args.blocks, args.scales, args.cacheLengths,
                     args.lookupTable, args.rowOffsets,
                     /*kvRowOffsets=*/nullptr, args.layer, args.k, "k"))
    return failure;
  bool latent = args.blocks->sizes[1] == 1;
  if (latent != (args.v == nullptr))
    return invalid(latent ? "store: v is given, but blocks has one plane"
                          : "store: v is missing, but blocks has two planes");
  for (auto [name, view] : {std::pair{"k", args.k}, std::pair{"v", args.v}}) {
    if (!view)
      continue;
    if (Checked failure = checkRows("store", name, view, 3))
      return failure;
    if (Checked failure = checkSize("store", name, view, 0, args.k->sizes[0],
                                    "the tokens of k"))
      return failure;
    if (Checked failure =
            checkSize("store", name, view, 1, args.blocks->sizes[4],
                      "the heads of blocks"))
      return failure;
    if (Checked failure =
            checkSize("store", name, view, 2, args.blocks->sizes[5],
                      "the head dimension of blocks"))
      return failure;
  }
  return std::nullopt;
}

Checked kv::reference::validate(const AttentionArguments &args) {
  if (Checked failure =
          checkCache("attention", args.blocks, args.scales, args.cacheLengths,
                     args.lookupTable, args.rowOffsets, args.kvRowOffsets,
                     args.layer, args.q, "q"))
    return failure;
  if (Checked failure = checkRows("attention", "out", args.out, 3))
    return failure;
  int64_t tokens = args.q->sizes[0], queryHeads = args.q->sizes[1];
  int64_t heads = args.blocks->sizes[4], dim = args.blocks->sizes[5];
  if (heads < 1 || queryHeads % heads != 0)
    return invalid("attention: q has " + text(queryHeads) +
                   " heads, not a multiple of the cache's " + text(heads));
  if (Checked failure = checkSize("attention", "q", args.q, 2, dim,
                                  "the head dimension of blocks"))
    return failure;
  if (Checked failure =
          checkSize("attention", "out", args.out, 0, tokens, "the tokens of q"))
    return failure;
  if (Checked failure = checkSize("attention", "out", args.out, 1, queryHeads,
                                  "the heads of q"))
    return failure;
  if (args.blocks->sizes[1] == 1) {
    if (args.out->sizes[2] > dim)
      return invalid("attention: out has the head dimension " +
                     text(args.out->sizes[2]) + ", the latent cache holds " +
                     text(dim));
  } else if (Checked failure = checkSize("attention", "out", args.out, 2, dim,
                                         "the head dimension of blocks")) {
    return failure;
  }
  if (args.lse) {
    if (Checked failure = checkRank("attention", "lse", args.lse, 2))
      return failure;
    if (args.lse->dtype != KV_DTYPE_F32)
      return invalid("attention: lse has the element type " +
                     text(args.lse->dtype) + ", expected f32");
    if (Checked failure = checkSize("attention", "lse", args.lse, 0, tokens,
                                    "the tokens of q"))
      return failure;
    if (Checked failure = checkSize("attention", "lse", args.lse, 1, queryHeads,
                                    "the heads of q"))
      return failure;
  }
  if (args.sinks) {
    if (Checked failure = checkRank("attention", "sinks", args.sinks, 1))
      return failure;
    if (args.sinks->dtype != KV_DTYPE_F32)
      return invalid("attention: sinks has the element type " +
                     text(args.sinks->dtype) + ", expected f32");
    if (Checked failure = checkSize("attention", "sinks", args.sinks, 0,
                                    queryHeads, "the heads of q"))
      return failure;
  }
  if (args.ancestors) {
    if (Checked failure =
            checkRank("attention", "ancestors", args.ancestors, 1))
      return failure;
    if (args.ancestors->dtype != KV_DTYPE_I64)
      return invalid("attention: ancestors has the element type " +
                     text(args.ancestors->dtype) + ", expected i64");
    if (Checked failure = checkSize("attention", "ancestors", args.ancestors, 0,
                                    tokens, "the tokens of q"))
      return failure;
    if (args.kvRowOffsets ||
        (args.mask != KV_MASK_CAUSAL && args.mask != KV_MASK_SLIDING &&
         args.mask != KV_MASK_CHUNKED_CAUSAL))
      return invalid("attention: ancestors with the mask " + text(args.mask) +
                     (args.kvRowOffsets ? " and kv_row_offsets" : "") +
                     ", expected causal, sliding or chunked_causal over the "
                     "keys of the rows");
  }
  if (args.mask < KV_MASK_NONE || args.mask > KV_MASK_CHUNKED_CAUSAL)
    return invalid("attention: mask " + text(args.mask) +
                   ", expected a value from 0 to 5");
  if (args.mask >= KV_MASK_SLIDING && args.window < 1)
    return invalid("attention: a window of " + text(args.window) +
                   " tokens, expected at least 1");
  return std::nullopt;
}

Checked kv::reference::validate(const PrintArguments &args) {
  if (Checked failure =
          checkPlace("print", args.blocks, args.scales, args.layer))
    return failure;
  if (Checked failure =
          checkIndices("print", "cache_lengths", args.cacheLengths, 1))
    return failure;
  if (Checked failure = checkTable("print", args.lookupTable))
    return failure;
  int64_t batch = args.cacheLengths->sizes[0];
  if (Checked failure = checkSize("print", "lookup_table", args.lookupTable, 0,
                                  batch, "the sequences of cache_lengths"))
    return failure;
  if (!args.rowOffsets)
    return std::nullopt;
  if (Checked failure =
          checkIndices("print", "row_offsets", args.rowOffsets, 1))
    return failure;
  return checkSize("print", "row_offsets", args.rowOffsets, 0, batch + 1,
                   "one more than cache_lengths has");
}
