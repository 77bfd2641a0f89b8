//===- Formulas.cpp - What follows from parameters, without a manager ----===//

#include "Scenario.h"

#include <array>

using namespace kv::conformance;

/// The enumerator that a field names: its place in `names`.
template <size_t N>
static int32_t enumerator(const json &fields, const char *field,
                          const std::array<std::string_view, N> &names) {
  auto given = fields.value(field, std::string(names[0]));
  for (size_t i = 0; i < N; ++i)
    if (names[i] == given)
      return static_cast<int32_t>(i);
  bad(std::string("unknown ") + field + " \"" + given + "\"");
}

/// A collection of the fields, and where they have "collections", one for each
/// of them, which say what is different there.
void Scenario::readCollections(const json &given, const Sizes &sizes) {
  static const char *const Names[] = {"a", "b", "c", "d"};
  collections.clear();
  for (const json &own : given.value("collections", json::array({nullptr}))) {
    json fields = given;
    if (own.is_object())
      fields.update(own);
    KvCollectionSpec one = {};
    one.name = Names[collections.size()];
    one.dtype = enumerator<9>(
        fields, "dtype",
        {"f32", "f16", "bf16", "f8", "f8e5m2", "f8e8m0", "i8", "i32", "i64"});
    one.scaleDType =
        enumerator<3>(fields, "scale_dtype", {"f32", "f16", "bf16"});
    one.layout = enumerator<3>(fields, "layout", {"nhd", "hnd", "cpu"});
    one.strategy = number(fields, "continuous") ? KV_STRATEGY_CONTINUOUS
                                                : KV_STRATEGY_PAGED;
    one.layers = number(fields, "layers", 1);
    one.heads = number(fields, "heads", sizes.heads);
    one.dim = number(fields, "dim", sizes.dim);
    one.vDim = number(fields, "v_dim");
    one.page = number(fields, "page", sizes.page);
    one.pageLayers = number(fields, "page_layers");
    one.scaleGroup = number(fields, "scale_group");
    one.window = number(fields, "window");
    collections.push_back(one);
  }
}

KvCacheSpec Scenario::readSpec(const json &fields, const Sizes &sizes) {
  readCollections(fields, sizes);
  KvCacheSpec spec = {};
  spec.collections = collections.data();
  spec.numCollections = static_cast<int32_t>(collections.size());
  spec.enablePrefixCaching = static_cast<int32_t>(
      number(fields, "prefix_caching", !number(fields, "continuous")));
  spec.dataParallelDegree = number(fields, "replicas", 1);
  spec.numDevices =
      number(fields, "n_devices",
             spec.dataParallelDegree * number(fields, "shards", 1));
  spec.numDraftTokens = static_cast<int32_t>(number(fields, "draft_tokens"));
  spec.speculativeMethod =
      enumerator<4>(fields, "method", {"none", "eagle", "mtp", "dflash"});
  spec.connector =
      enumerator<4>(fields, "connector", {"none", "null", "host", "tiered"});
  spec.hostSwapSpaceGB = fields.value("host_gb", 0.0);
  return spec;
}

int32_t Scenario::formula(const json &step) {
  KvCacheSpec spec = readSpec(step, {8, 128, 0});
  int64_t batch = number(step, "batch", 512);
  int64_t length = number(step, "max_seq_len", 1 << 20);
  int64_t memory = number(step, "memory", 1 << 30);

  std::string what = step["do"].get<std::string>().substr(5);
  if (what == "replicates")
    return figure<int32_t>(
        [&](int32_t *out) { return CALL(kvReplicatesKVAcrossTP)(&spec, out); });
  if (what == "block_shape" || what == "scale_shape") {
    std::array<int64_t, 6> shape = {};
    int64_t count = number(step, "count");
    int32_t status = what == "block_shape"
                         ? CALL(kvBlockShape)(&spec, 0, count, shape.data())
                         : CALL(kvScaleShape)(&spec, 0, count, shape.data());
    result = shape;
    return status;
  }
  if (what == "symbolic")
    return symbolicOf(spec, step);
  KvStepLimits limits = {static_cast<int32_t>(number(step, "max_steps")),
                         number(step, "max_chunk_tokens")};
  return figure([&](int64_t *out) {
    if (what == "num_blocks")
      return CALL(kvPagedNumBlocks)(&spec, batch, length, memory, &limits, out);
    if (what == "host_pages")
      return CALL(kvPagedHostPages)(&spec, batch, number(step, "count"), memory,
                                    out);
    if (what == "estimated_memory")
      return CALL(kvPagedEstimatedMemorySize)(&spec, batch, length, memory,
                                              &limits, out);
    if (what == "optimal_batch")
      return CALL(kvPagedInferOptimalBatchSize)(&spec, length, memory, out);
    if (what == "max_sequence")
      return CALL(kvPagedMaxSupportedSequenceLength)(&spec, memory, &limits,
                                                     out);
    if (what == "continuous_memory")
      return CALL(kvContinuousEstimatedMemorySize)(&spec, batch, &limits, out);
    if (what == "continuous_batch")
      return CALL(kvContinuousInferOptimalBatchSize)(&spec, memory, &limits,
                                                     out);
    if (what == "null_memory")
      return CALL(kvNullEstimatedMemorySize)(&spec, batch, length, memory, out);
    if (what == "null_batch")
      return CALL(kvNullInferOptimalBatchSize)(&spec, length, memory, out);
    if (what == "page_size")
      return CALL(kvPageSize)(&spec, out);
    if (what == "bytes_per_page")
      return CALL(kvBytesPerPage)(&spec, out);
    if (what == "bytes_per_block")
      return CALL(kvBytesPerBlock)(&spec, out);
    if (what == "tensor_parallel_degree")
      return CALL(kvTensorParallelDegree)(&spec, out);
    if (what == "draft_slots")
      return CALL(kvDraftSlots)(&spec, out);
    if (what == "shard_heads")
      return CALL(kvShardHeads)(
          number(step, "heads"), number(step, "degree", 1),
          static_cast<int32_t>(number(step, "replicate")), out);
    bad("unknown formula \"" + what + "\"");
  });
}

/// The names of one device's inputs.
int32_t Scenario::symbolicOf(const KvCacheSpec &spec, const json &step) {
  auto prefix = step.value("prefix", "");
  KvSymbolicInputs *list = nullptr;
  int32_t status = CALL(kvSymbolicInputs)(&spec, prefix.c_str(),
                                          number(step, "layers"), &list);
  if (status)
    return status;
  result = namesOf(list)[0];
  CALL(kvSymbolicInputsDestroy)(list);
  return KV_STATUS_OK;
}
