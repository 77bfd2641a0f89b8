//===- KVCacheParams.cpp - The geometry of one cache ----------------------===//

#include "kv/Runtime/KVCacheParams.h"

using namespace kv;

KVCacheParams KVCacheParams::fromCollection(const Collection &collection) {
  return {.name = collection.name,
          .strategy = collection.strategy,
          .dtype = collection.dtype,
          .numLayers = collection.layers,
          .numKVHeads = collection.heads,
          .headDim = collection.dim,
          .pageSize = collection.page,
          .layout = collection.layout};
}

Expected<void> KVCacheParams::validate() const {
  auto fail = [&](std::string_view field, const auto &value,
                  std::string_view allowed) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, "collection ", name, ": ",
                     field, " is ", value, ", allowed: ", allowed);
  };
  if (strategy != "paged")
    return fail("strategy", strategy, "paged");
  if (layout != "nhd")
    return fail("layout", layout, "nhd");
  if (dtype != DType::F32 && dtype != DType::F16 && dtype != DType::BF16)
    return fail("dtype", dtypeName(dtype), "f32, f16, bf16");
  // The upper bounds keep every product of sizes within 64 bits.
  constexpr int64_t Most = 1 << 20;
  constexpr std::string_view Range = "1 to 1048576";
  if (numLayers < 1 || numLayers > Most)
    return fail("layers", numLayers, Range);
  if (numKVHeads < 1 || numKVHeads > Most)
    return fail("heads", numKVHeads, Range);
  if (headDim < 1 || headDim > Most)
    return fail("dim", headDim, Range);
  if (pageSize < 1 || pageSize > Most)
    return fail("page", pageSize, Range);
  __int128 bytes = __int128(2) * numLayers * pageSize * numKVHeads * headDim *
                   static_cast<int64_t>(dtypeBytes(dtype));
  if (bytes > (__int128(1) << 40))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "collection ", name,
                     ": a page of ", pageSize, " tokens, ", numLayers,
                     " layers, ", numKVHeads, " heads and dim ", headDim,
                     " takes more than 2^40 bytes");
  return {};
}

namespace {

std::string describe(const Dimension &dimension) {
  return dimension.isStatic() ? std::to_string(dimension.size)
                              : dimension.symbol;
}

} // namespace

Expected<void> KVCacheParams::validate(const Entry &entry) const {
  for (const Argument &wanted : symbolicInputs()) {
    const Argument *found = entry.findInput(wanted.kind, name);
    auto fail = [&](std::string_view field, const auto &theirs,
                    const auto &ours) {
      return makeError(KV_STATUS_INVALID_ARGUMENT, "entry ", entry.name, ": ",
                       field, " of ", wanted.name, " is ", theirs,
                       ", the cache manager gives ", ours);
    };
    if (!found) {
      // max_lengths is for graphs that plan on the host; others omit it.
      if (wanted.kind == ArgumentKind::MaxLengths)
        continue;
      return makeError(KV_STATUS_INVALID_ARGUMENT, "entry ", entry.name,
                       " has no argument of the kind ",
                       argumentKindName(wanted.kind), " for collection ", name);
    }
    if (found->dtype != wanted.dtype)
      return fail("dtype", dtypeName(found->dtype), dtypeName(wanted.dtype));
    if (found->shape.size() != wanted.shape.size())
      return fail("rank", found->shape.size(), wanted.shape.size());
    for (size_t i = 0; i < wanted.shape.size(); ++i) {
      const Dimension &theirs = found->shape[i], &ours = wanted.shape[i];
      if (theirs.isStatic() != ours.isStatic() || theirs.size != ours.size)
        return fail(concat("dimension ", i), describe(theirs), describe(ours));
    }
  }
  return {};
}

int64_t KVCacheParams::bytesPerPage() const {
  return 2 * numLayers * pageSize * numKVHeads * headDim *
         static_cast<int64_t>(dtypeBytes(dtype));
}

int64_t KVCacheParams::pagesIn(int64_t bytes) const {
  return bytes / bytesPerPage();
}

int64_t KVCacheParams::pagesFor(int64_t tokens) const {
  return (tokens + pageSize - 1) / pageSize;
}

std::array<int64_t, 6> KVCacheParams::blockShape(int64_t pages) const {
  return {pages + 1, 2, numLayers, pageSize, numKVHeads, headDim};
}

std::vector<Argument> KVCacheParams::symbolicInputs() const {
  auto symbol = [&](std::string_view part) {
    return Dimension{.symbol = concat(name, ".", part)};
  };
  auto fixed = [](int64_t size) {
    Dimension dimension;
    dimension.size = size;
    return dimension;
  };
  auto argument = [&](ArgumentKind kind, std::string_view part, DType type,
                      std::vector<Dimension> shape) {
    return Argument{.name = concat(name, ".", part),
                    .kind = kind,
                    .dtype = type,
                    .shape = std::move(shape),
                    .collection = name,
                    .host = kind == ArgumentKind::MaxLengths};
  };
  return {argument(ArgumentKind::Blocks, "blocks", dtype,
                   {symbol("pages"), fixed(2), fixed(numLayers),
                    fixed(pageSize), fixed(numKVHeads), fixed(headDim)}),
          argument(ArgumentKind::CacheLengths, "cache_lengths", DType::I32,
                   {symbol("batch")}),
          argument(ArgumentKind::LookupTable, "lookup_table", DType::I32,
                   {symbol("batch"), symbol("pitch")}),
          argument(ArgumentKind::MaxLengths, "max_lengths", DType::I32,
                   {symbol("steps"), fixed(2)})};
}
