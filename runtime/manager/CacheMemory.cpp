//===- CacheMemory.cpp - The tensors of one replica -----------------------===//

#include "kv/Runtime/Manager/CacheMemory.h"

#include <algorithm>

using namespace kv;

Expected<CacheMemory::Staged>
CacheMemory::Staged::create(const Device &device,
                            std::span<const int64_t> shape) {
  Expected<Buffer> buffer = Buffer::create(device, DType::I32, shape);
  if (!buffer)
    return std::unexpected(buffer.error());
  Staged staged;
  staged.device = std::move(*buffer);
  if ((*device.backend())->isHost())
    return staged;
  Expected<Memory> staging = device.allocatePinned(staged.device.bytes());
  if (!staging)
    return std::unexpected(staging.error());
  staged.staging = std::move(*staging);
  return staged;
}

void CacheMemory::Staged::upload(DeviceBackend &backend, int64_t first,
                                 int64_t end) const {
  if (staging.data() && first < end)
    backend.copyToDevice(device.as<int32_t>() + first,
                         staging.as<int32_t>() + first,
                         (end - first) * sizeof(int32_t));
}

Expected<CacheMemory> CacheMemory::create(const MultiKVCacheParams &params,
                                          const PoolLayout &layout,
                                          std::span<const Device> devices,
                                          const Shape &shape) {
  CacheMemory memory;
  memory.layout = layout;
  for (const KVCacheParams &each : params.params)
    memory.layouts.push_back(each.geometry.layout);
  memory.segment = shape.segment;
  // In a paged cache, row 0 is the null page.
  int64_t rows = shape.count + params.params[0].geometry.isPaged();
  for (const Device &device : devices) {
    Expected<DeviceBackend *> backend = device.backend();
    if (!backend)
      return std::unexpected(backend.error());
    Shard &shard = memory.shards.emplace_back();
    shard.backend = *backend;
    for (int64_t bytes : layout.slabs) {
      Expected<Memory> slab = device.allocate(size_t(rows) * size_t(bytes));
      if (!slab)
        return makeError(slab.error().code, "a slab of ", rows, " rows of ",
                         bytes, " bytes: ", slab.error().message);
      shard.slabs.push_back(std::move(*slab));
    }
    for (int64_t bytes : layout.stateSlabs) {
      // Row 0 is the null state.
      Expected<Memory> slab =
          device.allocate(size_t(shape.states + 1) * size_t(bytes));
      if (!slab)
        return makeError(slab.error().code, shape.states, " states of ", bytes,
                         " bytes: ", slab.error().message);
      shard.stateSlabs.push_back(std::move(*slab));
    }
    for (size_t i = 0; i < params.params.size(); ++i) {
      const KVCacheParams &one = params.params[i];
      const PoolLayout::Collection &at = layout.collections[i];
      bool hasStates = at.states != PoolLayout::NoSlab;
      const Memory &blocks =
          hasStates ? shard.stateSlabs[at.states] : shard.slabs[at.blocks];
      shard.blocks.push_back(
          makeView(blocks.data(), one.dtype(),
                   one.blockShape(hasStates ? shape.states : shape.count)));
      shard.scales.push_back(at.scales == PoolLayout::NoSlab
                                 ? KvTensorView()
                                 : makeView(shard.slabs[at.scales].data(),
                                            one.scaleDType(),
                                            one.scaleShape(shape.count)));
    }
    for (Step &step : shard.steps) {
      std::array<int64_t, 2> sizes = {shape.maxSteps, shape.maxBatch};
      Expected<Staged> lengths = Staged::create(device, sizes);
      if (!lengths)
        return std::unexpected(lengths.error());
      step.lengths = std::move(*lengths);
      for (size_t i = 0; i < layout.tables.size(); ++i) {
        sizes = {shape.maxBatch, memory.pitch(static_cast<int32_t>(i))};
        Expected<Staged> table = Staged::create(
            device, std::span(sizes).first(shape.segment ? 2 : 1));
        if (!table)
          return std::unexpected(table.error());
        step.tables.push_back(std::move(*table));
      }
      if (layout.hasStates()) {
        sizes = {shape.maxBatch, 2};
        Expected<Staged> table = Staged::create(device, sizes);
        if (!table)
          return std::unexpected(table.error());
        step.states = std::move(*table);
      }
    }
  }
  for (Memory &maxima : memory.maxLengths) {
    Expected<Memory> made =
        Device().allocatePinned(shape.maxSteps * 2 * sizeof(int32_t));
    if (!made)
      return std::unexpected(made.error());
    maxima = std::move(*made);
  }
  return memory;
}

int64_t CacheMemory::poolBytes() const {
  size_t bytes = 0;
  for (const Shard &shard : shards) {
    for (const Memory &slab : shard.slabs)
      bytes += slab.bytes();
    for (const Memory &slab : shard.stateSlabs)
      bytes += slab.bytes();
    for (const Step &step : shard.steps) {
      bytes += step.lengths.device.bytes();
      if (layout.hasStates())
        bytes += step.states.device.bytes();
      for (const Staged &table : step.tables)
        bytes += table.device.bytes();
    }
  }
  return static_cast<int64_t>(bytes);
}

int64_t CacheMemory::hostBytes() const {
  size_t bytes = 0;
  for (const Shard &shard : shards)
    for (const Step &step : shard.steps) {
      bytes += step.lengths.staging.bytes() + step.states.staging.bytes();
      for (const Staged &table : step.tables)
        bytes += table.staging.bytes();
    }
  for (const Memory &maxima : maxLengths)
    bytes += maxima.bytes();
  return static_cast<int64_t>(bytes);
}

Expected<void> CacheMemory::reuse(int32_t buffer) {
  for (Shard &shard : shards)
    if (Expected<void> done = shard.backend->wait(shard.steps[buffer].uploaded);
        !done)
      return done;
  return {};
}

void CacheMemory::publishLengths(int32_t buffer, int64_t rows, int64_t first,
                                 int64_t steps) {
  int64_t begin = first * rows, end = steps * rows;
  for (Shard &shard : shards) {
    Step &step = shard.steps[buffer];
    if (step.lengths.host() != lengths(buffer))
      std::copy(lengths(buffer) + begin, lengths(buffer) + end,
                step.lengths.host() + begin);
    step.lengths.upload(*shard.backend, begin, end);
    step.uploaded = shard.backend->mark();
  }
}

void CacheMemory::publish(int32_t buffer, int64_t rows, int64_t steps) {
  for (Shard &shard : shards) {
    for (size_t i = 0; i < layout.tables.size(); ++i) {
      int64_t entries = std::max<int64_t>(pitch(static_cast<int32_t>(i)), 1);
      shard.steps[buffer].tables[i].upload(*shard.backend, 0, rows * entries);
    }
    if (layout.hasStates())
      shard.steps[buffer].states.upload(*shard.backend, 0, rows * 2);
  }
  publishLengths(buffer, rows, 0, steps);
}

void CacheMemory::fill(std::span<RaggedKVCacheInputs> inputs, int32_t buffer,
                       int64_t rows, int64_t steps) const {
  size_t at = 0;
  for (const Shard &shard : shards)
    for (size_t i = 0; i < shard.blocks.size(); ++i) {
      const Step &step = shard.steps[buffer];
      int32_t tableOf = layout.collections[i].table;
      bool hasStates = layout.collections[i].states != PoolLayout::NoSlab;
      const Staged &table = hasStates ? step.states : step.tables[tableOf];
      int64_t width = hasStates ? 2 : pitch(tableOf);
      auto lengthsAt = [&](void *data) {
        return data ? makeView(data, DType::I32, {rows}) : KvTensorView();
      };
      auto tableAt = [&](void *data) {
        return data && segment ? makeView(data, DType::I32, {rows, width})
                               : lengthsAt(data);
      };
      inputs[at++] = {
          .blocks = shard.blocks[i],
          .cacheLengths = lengthsAt(step.lengths.device.data()),
          .lookupTable = tableAt(table.device.data()),
          .maxLengths =
              makeView(maxLengths[buffer].data(), DType::I32, {steps, 2}),
          .scales = shard.scales[i],
          .hostCacheLengths = lengthsAt(step.lengths.staging.data()),
          .hostLookupTable = tableAt(table.staging.data())};
    }
}

/// Calls fn(backend, first byte of the slab, bytes of a row) for each slab of
/// the group on each shard. The rows of its pages in other slabs are not used.
template <class Fn> void CacheMemory::forEachRow(int32_t group, Fn &&fn) {
  for (Shard &shard : shards)
    for (int32_t slab : layout.groups[group].slabs)
      fn(*shard.backend, shard.slabs[slab].as<char>(), layout.slabs[slab]);
}

void CacheMemory::copyPage(int32_t group, int64_t source, int64_t target) {
  forEachRow(group, [&](DeviceBackend &device, char *base, int64_t bytes) {
    device.copyOnDevice(base + target * bytes, base + source * bytes, bytes);
  });
}

void CacheMemory::zeroPage(int32_t group, int64_t target) {
  forEachRow(group, [&](DeviceBackend &device, char *base, int64_t bytes) {
    device.zero(base + target * bytes, bytes);
  });
}

/// A token's rows of one page lie apart by a whole page's rows of what stands
/// in memory before the tokens: planes and layers, or heads as well.
static void copyTokenOf(DeviceBackend &device, const KvTensorView &view,
                        CacheLayout layout, CacheMemory::TokenPlace source,
                        CacheMemory::TokenPlace target) {
  std::array<int, 6> order = blockOrder(layout);
  auto tokens = std::ranges::find(order, 3) - order.begin();
  int64_t element = dtypeBytes(static_cast<DType>(view.dtype));
  int64_t run = element;
  for (auto d = tokens + 1; d < 6; ++d)
    run *= view.sizes[d];
  int64_t stride = run * view.sizes[tokens], runs = 1;
  for (auto d = 1; d < tokens; ++d)
    runs *= view.sizes[d];
  char *base = static_cast<char *>(view.data) + view.offset * element;
  auto at = [&](CacheMemory::TokenPlace place) {
    return base + place.page * view.strides[0] * element + place.token * run;
  };
  for (int64_t i = 0; i < runs; ++i)
    device.copyOnDevice(at(target) + i * stride, at(source) + i * stride, run);
}

void CacheMemory::copyToken(int32_t collection, TokenPlace source,
                            TokenPlace target) {
  for (Shard &shard : shards)
    for (const KvTensorView &view :
         {shard.blocks[collection], shard.scales[collection]})
      if (view.data)
        copyTokenOf(*shard.backend, view, layouts[collection], source, target);
}

/// Calls fn(address on the device, bytes, their place in the record, whether
/// they are another shard's as well) for each piece of a record that the shard
/// has.
template <class Fn>
void CacheMemory::forEachPiece(size_t index, const Record &record,
                               Fn &&fn) const {
  const Shard &shard = shards[index];
  if (record.state == NullState) {
    // Replicated rows lie among the first shard's.
    int64_t first = 0, own = 0;
    if (index > 0)
      own = layout.shardBytes(true) +
            static_cast<int64_t>(index - 1) * layout.shardBytes(false);
    for (size_t group = 0; group < layout.groups.size(); ++group) {
      const PoolLayout::Group &of = layout.groups[group];
      for (size_t i = 0; i < of.slabs.size(); ++i) {
        int64_t bytes = layout.slabs[of.slabs[i]];
        bool isCopy = index > 0 && of.isReplicated[i];
        fn(shard.slabs[of.slabs[i]].as<char>() + record.pages[group] * bytes,
           bytes, isCopy ? first : own, isCopy);
        first += bytes;
        if (!isCopy)
          own += bytes;
      }
    }
    return;
  }
  int64_t begin = record.part * recordBytes(), end = begin + recordBytes();
  int64_t at = static_cast<int64_t>(layout.bytesPerState()) *
               static_cast<int64_t>(index);
  for (size_t slab = 0; slab < layout.stateSlabs.size(); ++slab) {
    int64_t bytes = layout.stateSlabs[slab];
    int64_t from = std::max(begin, at), to = std::min(end, at + bytes);
    if (from < to)
      fn(shard.stateSlabs[slab].as<char>() + record.state * bytes + from - at,
         to - from, from - begin, false);
    at += bytes;
  }
}

void CacheMemory::copyRecords(std::span<const Record> records, bool toDevices) {
  for (size_t index = 0; index < shards.size(); ++index) {
    Shard &shard = shards[index];
    copies.clear();
    for (const Record &record : records)
      forEachPiece(index, record,
                   [&](char *row, int64_t count, int64_t place, bool isCopy) {
                     auto bytes = static_cast<size_t>(count);
                     std::byte *at = record.data + place;
                     if (toDevices)
                       copies.push_back(MemoryCopy{row, at, bytes});
                     else if (!isCopy)
                       copies.push_back(MemoryCopy{at, row, bytes});
                   });
    shard.copied = shard.backend->copyAside(copies, /*after=*/true);
  }
  if (toDevices)
    followCopies();
}

void CacheMemory::followCopies() {
  for (Shard &shard : shards)
    shard.backend->followAside(shard.copied);
}

bool CacheMemory::areCopiesDone() const {
  return std::ranges::all_of(shards, [](const Shard &shard) {
    return shard.backend->isAsideDone(shard.copied);
  });
}

Expected<void> CacheMemory::finishCopies() {
  followCopies();
  for (Shard &shard : shards)
    if (Expected<void> done = shard.backend->wait(shard.backend->mark()); !done)
      return done;
  return {};
}

Expected<void> CacheMemory::status() const {
  for (const Shard &shard : shards)
    if (Expected<void> sound = shard.backend->status(); !sound)
      return sound;
  return {};
}
