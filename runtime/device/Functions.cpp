//===- Functions.cpp - The rows of Symbols.def ----------------------------===//

#include "Functions.h"
#include "kv/Kernels/Reference.h"
#include "kv/Kernels/Sample.h"
#include "kv/Runtime/Device/Buffer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace kv;

using State = ExecutionContext::State;

namespace {

/// The size of a dimension symbol, and the argument and dimension that gave it.
struct Binding {
  int64_t size = -1;
  int64_t argument = 0;
  int64_t dimension = 0;
};

KvStatus fail(State &state, KvStatus status, std::string_view message) {
  state.recordError(status, message);
  return status;
}

std::string argumentName(int64_t index, const KvArgumentSpec &spec) {
  return concat(
      "argument ", index, " (",
      std::string_view(spec.name, strnlen(spec.name, sizeof(spec.name))), ")");
}

/// Leaves the running entry by a jump, after an error that generated code
/// cannot continue from. The frames in between are not unwound: the caller must
/// hold no object that needs destruction, and generated code has none. Returns
/// only if no entry is running.
void leave(State &state) {
  if (state.exit)
    longjmp(*state.exit, 1);
}

/// Compares `view` with specs[index]. Returns the first mismatch as a sentence;
/// empty if there is none.
std::string checkArgument(const KvArgumentSpec *specs, int64_t index,
                          const KvTensorView &view,
                          Binding (&symbols)[KV_MAX_DIMENSION_SYMBOLS]) {
  const KvArgumentSpec &spec = specs[index];
  auto name = [&] { return argumentName(index, spec); };
  if (view.dtype != spec.dtype)
    return concat(name(), " has the element type ",
                  dtypeName(static_cast<DType>(view.dtype)), ", expected ",
                  dtypeName(static_cast<DType>(spec.dtype)));
  if (view.rank != spec.rank)
    return concat(name(), " has rank ", view.rank, ", expected ", spec.rank);
  int64_t elements = 1;
  for (int64_t d = 0; d < spec.rank; ++d) {
    int64_t size = view.sizes[d], wanted = spec.sizes[d];
    if (size < 0)
      return concat(name(), " has the size ", size, " in dimension ", d);
    if (wanted >= 0 && size != wanted)
      return concat(name(), " is ", describe(view), ", expected the size ",
                    wanted, " in dimension ", d);
    if (wanted < 0) {
      int64_t symbol = -1 - wanted;
      if (symbol >= KV_MAX_DIMENSION_SYMBOLS)
        return concat(name(), " uses dimension symbol ", symbol,
                      ", allowed: below ", KV_MAX_DIMENSION_SYMBOLS);
      Binding &binding = symbols[symbol];
      if (binding.size < 0)
        binding = {size, index, d};
      else if (binding.size != size)
        return concat(name(), " is ", describe(view), ", expected the size ",
                      binding.size, " in dimension ", d, ", as dimension ",
                      binding.dimension, " of ",
                      argumentName(binding.argument, specs[binding.argument]));
    }
    if (__builtin_mul_overflow(elements, size, &elements))
      return concat(name(), " is ", describe(view),
                    ", more elements than can be counted");
  }
  if (elements == 0)
    return {};
  if (!view.data)
    return concat(name(), " has no memory");
  // Generated code takes arguments for dense row-major tensors.
  int64_t stride = 1;
  for (int64_t d = spec.rank - 1; d >= 0; --d) {
    if (view.sizes[d] > 1 && view.strides[d] != stride)
      return concat(name(), " has the stride ", view.strides[d],
                    " in dimension ", d, ", expected ", stride,
                    " (dense, row-major)");
    stride *= view.sizes[d];
  }
  return {};
}

/// The rows of Symbols.def that run on the host, under their names.
namespace abi {

int32_t checkArguments(KvContext *context, void *specs, int64_t specCount,
                       const KvTensorView *args, int32_t count) {
  State &state = State::of(context);
  if (state.failed())
    return context->status;
  if (count != specCount)
    return fail(state, KV_STATUS_INVALID_ARGUMENT,
                concat("the entry takes ", specCount, " arguments, ", count,
                       " are given"));
  Binding symbols[KV_MAX_DIMENSION_SYMBOLS];
  for (int64_t i = 0; i < specCount; ++i) {
    std::string message = checkArgument(
        static_cast<const KvArgumentSpec *>(specs), i, args[i], symbols);
    if (!message.empty())
      return fail(state, KV_STATUS_INVALID_ARGUMENT, message);
  }
  return KV_STATUS_OK;
}

int64_t arenaMark(KvContext *context) {
  return State::of(context).arena.mark();
}

/// Leaves the entry if the arena is exhausted, since generated code does not
/// expect null. Only where no entry is running, as in tests, the result is
/// null.
void *arenaAlloc(KvContext *context, int64_t bytes) {
  State &state = State::of(context);
  if (void *result = state.arena.allocate(bytes))
    return result;
  {
    fail(state, KV_STATUS_OUT_OF_MEMORY,
         concat("the arena: ", bytes, " bytes asked for, ",
                state.arena.capacity() - state.arena.used(), " of ",
                state.arena.capacity(), " are free"));
  }
  leave(state);
  return nullptr;
}

void arenaRelease(KvContext *context, int64_t mark) {
  State::of(context).arena.release(mark);
}

/// Moves a buffer on a device (Arena::Move). A device's copies must not
/// overlap: where source and target do, the bytes go through `spare`, the
/// memory of the arena that is not in use.
void moveOnDevice(void *env, void *target, const void *source, size_t bytes,
                  void *spare) {
  State &state = *static_cast<State *>(env);
  auto *to = static_cast<char *>(target);
  const auto *from = static_cast<const char *>(source);
  if (to + bytes > from) {
    size_t used = static_cast<char *>(spare) - state.arenaMemory.as<char>();
    if (bytes > state.arena.capacity() - used) {
      fail(state, KV_STATUS_OUT_OF_MEMORY,
           concat("the arena: ", bytes, " bytes asked for to move a result, ",
                  state.arena.capacity() - used, " of ", state.arena.capacity(),
                  " are free"));
      return;
    }
    state.backend->copyOnDevice(spare, source, bytes);
    source = spare;
  }
  state.backend->copyOnDevice(target, source, bytes);
}

void arenaReturn(KvContext *context, int64_t mark, void *pointers, void *bytes,
                 int64_t count) {
  State &state = State::of(context);
  state.arena.returnBuffers(mark, static_cast<void **>(pointers),
                            static_cast<const int64_t *>(bytes), count,
                            state.backend ? &moveOnDevice : nullptr, &state);
}

void parallelFor(KvContext *context, void *body, void *env, int64_t count,
                 int64_t grain) {
  State &state = State::of(context);
  if (state.failed())
    return;
  auto call = reinterpret_cast<KvParallelBody>(body);
  state.executor->forRange(count, grain, [&](int64_t lo, int64_t hi) {
    call(context, env, lo, hi);
  });
}

void recordError(KvContext *context, int32_t status, void *message) {
  State::of(context).recordError(static_cast<KvStatus>(status),
                                 static_cast<const char *>(message));
}

void store(KvContext *context, const KvTensorView *blocks,
           const KvTensorView *scales, const KvTensorView *cacheLengths,
           const KvTensorView *lookupTable, const KvTensorView *rowOffsets,
           int64_t layer, const KvTensorView *k, const KvTensorView *v) {
  State &state = State::of(context);
  if (state.failed())
    return;
  reference::StoreArguments args{
      blocks, scales, cacheLengths, lookupTable, rowOffsets, layer, k, v};
  if (auto failure = reference::validateTable(args)) {
    fail(state, failure->status, failure->message);
    return;
  }
  state.executor->forRange(
      reference::storeItems(args), reference::StoreGrain,
      [&](int64_t lo, int64_t hi) { reference::store(args, lo, hi); });
}

static void attend(KvContext *context,
                   const reference::AttentionArguments &args) {
  State &state = State::of(context);
  if (state.failed())
    return;
  if (auto failure = reference::validateTable(args)) {
    fail(state, failure->status, failure->message);
    return;
  }
  int64_t items = reference::attentionItems(args);
  // A decode step has few items with many keys each, so the ranges must be
  // small for every thread to get some.
  int64_t grain =
      std::clamp<int64_t>(items / (4 * int64_t(state.executor->threads())), 1,
                          reference::AttentionGrain);
  state.executor->forRange(items, grain, [&](int64_t lo, int64_t hi) {
    reference::attention(args, lo, hi);
  });
}

void attention(KvContext *context, const KvTensorView *blocks,
               const KvTensorView *scales, const KvTensorView *cacheLengths,
               const KvTensorView *lookupTable, const KvTensorView *rowOffsets,
               int64_t layer, const KvTensorView *q, const KvTensorView *out,
               const KvTensorView *lse, float scale, float softcap,
               int32_t mask, int64_t window, const KvTensorView *sinks,
               const KvTensorView *kvRowOffsets) {
  attend(context,
         {blocks, scales, cacheLengths, lookupTable, rowOffsets, layer, q, out,
          lse, scale, softcap, mask, window, sinks, kvRowOffsets});
}

void treeAttention(KvContext *context, const KvTensorView *blocks,
                   const KvTensorView *scales, const KvTensorView *cacheLengths,
                   const KvTensorView *lookupTable,
                   const KvTensorView *rowOffsets, int64_t layer,
                   const KvTensorView *q, const KvTensorView *out,
                   const KvTensorView *lse, float scale, float softcap,
                   int32_t mask, int64_t window, const KvTensorView *sinks,
                   const KvTensorView *ancestors) {
  attend(context, {blocks, scales, cacheLengths, lookupTable, rowOffsets, layer,
                   q, out, lse, scale, softcap, mask, window, sinks,
                   /*kvRowOffsets=*/nullptr, ancestors});
}

void print(KvContext *context, const KvTensorView *blocks,
           const KvTensorView *scales, const KvTensorView *cacheLengths,
           const KvTensorView *lookupTable, const KvTensorView *rowOffsets,
           int64_t layer) {
  State &state = State::of(context);
  if (state.failed())
    return;
  reference::PrintArguments args{blocks,      scales,     cacheLengths,
                                 lookupTable, rowOffsets, layer};
  if (auto failure = reference::validate(args)) {
    fail(state, failure->status, failure->message);
    return;
  }
  std::fputs(reference::print(args).c_str(), stderr);
}

/// Whether the step passes the step check; if not, its error has been recorded.
bool isGoodStep(State &state, const reference::StepArguments &args) {
  // On a device only sizes are checked: reading its memory would wait for it.
  auto failure = state.backend ? reference::validateSizes(args)
                               : reference::validate(args);
  if (failure)
    fail(state, failure->status, failure->message);
  return !failure;
}

void checkStep(KvContext *context, const KvTensorView *rowOffsets,
               const KvTensorView *cacheLengths,
               const KvTensorView *lookupTable, const KvTensorView *maxLengths,
               int64_t rows, int64_t sequences, int64_t pageTokens,
               int64_t bands) {
  State &state = State::of(context);
  if (!isGoodStep(state, {rowOffsets, cacheLengths, lookupTable, maxLengths,
                          rows, sequences, pageTokens, bands}))
    leave(state);
}

bool isGoodResult(State &state, const KvTensorView &buffer, const char *name,
                  int64_t dimension, int64_t size) {
  if (buffer.sizes[dimension] == size)
    return true;
  fail(state, KV_STATUS_INVALID_ARGUMENT,
       concat("the result ", name, " is ", describe(buffer),
              ", the entry makes the size ", size, " in dimension ",
              dimension));
  return false;
}

void checkResult(KvContext *context, const KvTensorView *buffer, void *name,
                 int64_t dimension, int64_t size) {
  State &state = State::of(context);
  if (!isGoodResult(state, *buffer, static_cast<const char *>(name), dimension,
                    size))
    leave(state);
}

/// The first element that is no index below `count`, as a sentence; empty if
/// there is none.
template <class T>
std::string findBadIndex(const KvTensorView &view, std::string_view name,
                         int64_t count) {
  const T *first = static_cast<const T *>(view.data) + view.offset;
  int64_t elements = 1;
  for (int64_t d = 0; d < view.rank; ++d)
    elements *= view.sizes[d];
  for (int64_t i = 0; i < elements; ++i) {
    int64_t place = 0, rest = i;
    for (int64_t d = view.rank; d-- > 0; rest /= view.sizes[d])
      place += rest % view.sizes[d] * view.strides[d];
    if (int64_t index = first[place]; index < 0 || index >= count)
      return concat(name, ": element ", i, " is ", index, ", allowed: ",
                    count > 0 ? concat("0 to ", count - 1)
                              : std::string("none, there are no rows"));
  }
  return {};
}

bool areGoodIndices(State &state, const KvTensorView &view, const char *name,
                    int64_t count) {
  std::string bad = view.dtype == KV_DTYPE_I64
                        ? findBadIndex<int64_t>(view, name, count)
                        : findBadIndex<int32_t>(view, name, count);
  if (!bad.empty())
    fail(state, KV_STATUS_OUT_OF_RANGE, bad);
  return bad.empty();
}

void checkIndices(KvContext *context, const KvTensorView *indices, void *name,
                  int64_t count) {
  State &state = State::of(context);
  if (!areGoodIndices(state, *indices, static_cast<const char *>(name), count))
    leave(state);
}

int64_t rank(KvContext *context) {
  const Communicator *ranks = State::of(context).ranks;
  return ranks ? ranks->rank() : 0;
}

size_t denseBytes(const KvTensorView &view) {
  size_t bytes = dtypeBytes(static_cast<DType>(view.dtype));
  for (int64_t d = 0; d < view.rank; ++d)
    bytes *= static_cast<size_t>(view.sizes[d]);
  return bytes;
}

std::byte *firstByte(const KvTensorView &view) {
  return static_cast<std::byte *>(view.data) +
         view.offset * int64_t(dtypeBytes(static_cast<DType>(view.dtype)));
}

/// Whether all ranks have exchanged their shards; if not, the error has been
/// recorded.
bool isGathered(State &state, const KvTensorView &x, int64_t shard,
                int64_t size, int64_t ranks, int64_t copies,
                const KvTensorView &out) {
  if (state.failed())
    return false;
  int64_t running = state.ranks ? state.ranks->size() : 1;
  if (running != ranks) {
    fail(state, KV_STATUS_UNSUPPORTED,
         concat("the graph is for ", ranks, " ranks, this context has ",
                running));
    return false;
  }
  size_t bytes = dtypeBytes(static_cast<DType>(x.dtype));
  Expected<void> done = gatherShards(
      state.ranks, {firstByte(x), denseBytes(x)}, shard * bytes, size * bytes,
      static_cast<size_t>(copies), firstByte(out), state.gathered);
  if (!done)
    fail(state, done.error().code, done.error().message);
  return done.has_value();
}

void gather(KvContext *context, const KvTensorView *x, int64_t shard,
            int64_t size, int64_t ranks, int64_t copies,
            const KvTensorView *out) {
  State &state = State::of(context);
  if (!isGathered(state, *x, shard, size, ranks, copies, *out))
    leave(state);
}

/// Element i of a vector.
template <class T> const T &at(const KvTensorView *vector, int64_t i) {
  return reinterpret_cast<const T *>(
      firstByte(*vector))[i * vector->strides[0]];
}

void sample(KvContext *context, const KvTensorView *logits,
            const KvTensorView *temperature, const KvTensorView *topK,
            const KvTensorView *topP, const KvTensorView *minP,
            const KvTensorView *seeds, const KvTensorView *indices,
            const KvTensorView *out) {
  State &state = State::of(context);
  if (state.failed())
    return;
  int64_t rows = logits->sizes[0], width = logits->sizes[1];
  for (const KvTensorView *one :
       {temperature, topK, topP, minP, seeds, indices, out})
    if (one->sizes[0] != rows) {
      fail(state, KV_STATUS_INVALID_ARGUMENT,
           concat("sample: logits is ", describe(*logits),
                  ", with it stands a vector of ", one->sizes[0]));
      return;
    }
  state.executor->forRange(rows, 1, [&](int64_t lo, int64_t hi) {
    sampling::RowSampler sampler;
    for (int64_t row = lo; row < hi; ++row)
      const_cast<int32_t &>(at<int32_t>(out, row)) =
          sampler.sample({reinterpret_cast<const float *>(firstByte(*logits)) +
                              row * logits->strides[0],
                          size_t(width)},
                         {.temperature = at<float>(temperature, row),
                          .topK = at<int32_t>(topK, row),
                          .topP = at<float>(topP, row),
                          .minP = at<float>(minP, row),
                          .seed = uint64_t(at<int64_t>(seeds, row)),
                          .index = uint64_t(at<int32_t>(indices, row))});
  });
}

} // namespace abi
} // namespace

void kv::recordMisplaced(KvContext *context, std::string_view function,
                         std::string_view runsOn, std::string_view calledOn) {
  State::of(context).recordError(KV_STATUS_UNSUPPORTED,
                                 concat("'", function, "' runs on ", runsOn,
                                        " and was called on ", calledOn,
                                        ": compile the model for ", calledOn));
}

// A row of Symbols.def without an implementation here does not compile. An
// implementation without a row draws the warning about unused functions.
#define KV_TABLE_Host(Name, Result) abi::Name
#define KV_TABLE_Cpu(Name, Result) abi::Name
#define KV_TABLE_CpuAndDevice(Name, Result) abi::Name
#define KV_TABLE_Device(Name, Result)                                          \
  KV_MISPLACED(Name, Result, "a device with kernels of its own", "a CPU")

const KvFunctionTable &ExecutionContext::functions() {
  static const KvFunctionTable table = {
#define KV_FUNCTION(Name, Result, Where, ...)                                  \
  .Name = KV_TABLE_##Where(Name, Result),
#include "kv/ABI/Symbols.def"
  };
  return table;
}
