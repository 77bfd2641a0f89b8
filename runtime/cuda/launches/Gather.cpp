//===- Gather.cpp - What ranks hold, on all of them -----------------------===//

#include "Movers.h"
#include "kv/Runtime/Device/Buffer.h"
#include "runtime/cuda/Ranks.h"

using namespace kv;
using namespace kv::cuda;

/// Copies what ranks gave, [ranks, runs, shard], to runs of `size` elements. A
/// rotation by no angles is a copy whose two outer strides are free.
static void place(Call &call, const void *gathered, int64_t runs, int64_t shard,
                  int64_t size, int64_t copies, const KvTensorView &out) {
  auto bytes = int64_t(dtypeBytes(static_cast<DType>(out.dtype)));
  auto copy = [&](int64_t first, int64_t groups, int64_t width) {
    if (groups == 0 || width == 0)
      return;
    RopeParams p{};
    p.x = static_cast<const char *>(gathered) +
          first * copies * runs * shard * bytes;
    p.out = static_cast<char *>(firstElement(out)) + first * shard * bytes;
    p.xTokenStride = shard;
    p.xHeadStride = copies * runs * shard;
    p.outTokenStride = size;
    p.outHeadStride = shard;
    p.tokens = int32_t(runs);
    p.heads = int32_t(groups);
    p.dim = int32_t(width);
    p.xType = p.outType = int32_t(out.dtype);
    p.errors = Context::of(call.state).stepErrors();
    move(call, kernelRow("kv_rope"), runs * groups * ropeItems(p.dim, p.width),
         p);
  };
  int64_t whole = size / shard;
  copy(0, whole, shard);
  copy(whole, 1, size % shard);
}

void rows::gather(KvContext *context, const KvTensorView *x, int64_t shard,
                  int64_t size, int64_t ranks, int64_t copies,
                  const KvTensorView *out) {
  Call call(context, "gather");
  if (call.failed())
    return;
  Ranks *group = Context::of(call.state).ranks();
  int64_t running = group ? group->size() : 1;
  if (running != ranks)
    return call.fail(KV_STATUS_UNSUPPORTED, "the graph is for ", ranks,
                     " ranks, this context has ", running);
  int64_t elements = elementsOf(*x), made = elementsOf(*out);
  if (x->dtype != out->dtype || !isDense(*x) || !isDense(*out) ||
      shard % kernels::RowChunk || size % kernels::RowChunk || shard <= 0 ||
      copies <= 0 || size <= 0 || size > ranks / copies * shard ||
      elements % shard || elements / shard * size != made)
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "x is ", describe(*x), " of ",
                     shard, ", out ", describe(*out), " of ", size,
                     ": they do not fit");
  int64_t runs = elements / shard;
  if (runs == 0)
    return;
  size_t bytes = size_t(elements) * dtypeBytes(static_cast<DType>(x->dtype));
  auto exchange = [&](void *into) {
    Expected<void> done =
        group ? group->gather(firstElement(*x), into, bytes) : Expected<void>();
    if (!done)
      call.fail(done.error().code, done.error().message);
    return done.has_value();
  };
  if (!group)
    return place(call, firstElement(*x), runs, shard, size, copies, *out);
  // One run of whole shards lies in `out` as the ranks give it.
  if (runs == 1 && copies == 1 && size == ranks * shard) {
    exchange(firstElement(*out));
    return;
  }
  // Work that is queued later may use the memory again: it runs later.
  Arena &arena = call.state.arena;
  int64_t mark = arena.mark();
  void *scratch = arena.allocate(int64_t(bytes) * ranks);
  if (!scratch)
    return call.fail(KV_STATUS_OUT_OF_MEMORY, "the arena has no ",
                     int64_t(bytes) * ranks, " bytes for what ", ranks,
                     " ranks give");
  if (exchange(scratch))
    place(call, scratch, runs, shard, size, copies, *out);
  arena.release(mark);
}
