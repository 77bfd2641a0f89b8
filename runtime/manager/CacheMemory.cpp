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
                                          std::span<const Device> devices,
                                          const Shape &shape) {
  CacheMemory memory;
  Expected<void> status;
  auto make = [&](const Device &device, DType dtype,
                  std::span<const int64_t> sizes) {
    if (!status)
      return Buffer();
    Expected<Buffer> made = Buffer::create(device, dtype, sizes);
    if (made)
      return std::move(*made);
    status = std::unexpected(made.error());
    return Buffer();
  };
  auto stage = [&](const Device &device, std::span<const int64_t> sizes) {
    if (!status)
      return Staged();
    Expected<Staged> made = Staged::create(device, sizes);
    if (made)
      return std::move(*made);
    status = std::unexpected(made.error());
    return Staged();
  };
  std::array<int64_t, 2> tableShape = {shape.maxBatch, shape.pitch};
  std::array<int64_t, 2> maximaShape = {shape.maxSteps, 2};
  std::array<int64_t, 2> lengthsShape = {shape.maxSteps, shape.maxBatch};
  std::span<const int64_t> tableSizes(tableShape);
  memory.pitch = shape.pitch;
  memory.groups = shape.groups;
  memory.groups.resize(params.params.size());
  memory.groupCount = *std::ranges::max_element(memory.groups) + 1;
  for (const Device &device : devices) {
    Expected<DeviceBackend *> backend = device.backend();
    if (!backend)
      return std::unexpected(backend.error());
    Shard &shard = memory.shards.emplace_back();
    shard.backend = *backend;
    for (const KVCacheParams &one : params.params) {
      shard.blocks.push_back(
          make(device, one.dtype(), one.blockShape(shape.count)));
      shard.scales.push_back(one.quantized() ? make(device, one.scaleDType(),
                                                    one.scaleShape(shape.count))
                                             : Buffer());
    }
    for (Step &step : shard.steps) {
      step.lengths = stage(device, lengthsShape);
      for (int32_t group = 0; group < memory.groupCount; ++group)
        step.tables.push_back(
            stage(device, tableSizes.first(shape.pitch ? 2 : 1)));
    }
  }
  for (Buffer &buffer : memory.maxLengths)
    buffer = make(Device(), DType::I32, maximaShape);
  if (!status)
    return std::unexpected(status.error());
  return memory;
}

int64_t CacheMemory::poolBytes() const {
  size_t bytes = 0;
  for (const Shard &shard : shards)
    for (const auto *buffers : {&shard.blocks, &shard.scales})
      for (const Buffer &buffer : *buffers)
        bytes += buffer.data() ? buffer.bytes() : 0;
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
  for (Shard &shard : shards)
    for (const Staged &table : shard.steps[buffer].tables)
      table.upload(*shard.backend, 0, rows * std::max<int64_t>(pitch, 1));
  publishLengths(buffer, rows, 0, steps);
}

void CacheMemory::fill(std::span<RaggedKVCacheInputs> inputs, int32_t buffer,
                       int64_t rows, int64_t steps) const {
  size_t at = 0;
  for (const Shard &shard : shards)
    for (size_t i = 0; i < shard.blocks.size(); ++i) {
      const Step &step = shard.steps[buffer];
      void *table = step.tables[groups[i]].device.data();
      inputs[at++] = {
          .blocks = shard.blocks[i].view(),
          .cacheLengths =
              makeView(step.lengths.device.data(), DType::I32, {rows}),
          .lookupTable = pitch ? makeView(table, DType::I32, {rows, pitch})
                               : makeView(table, DType::I32, {rows}),
          .maxLengths =
              makeView(maxLengths[buffer].data(), DType::I32, {steps, 2}),
          .scales = shard.scales[i].view()};
    }
}

/// Calls fn(backend, first byte, bytes of a page) for each buffer that has
/// pages: the page is the outermost dimension in every layout.
template <class Fn> void CacheMemory::forEachPaged(int32_t group, Fn &&fn) {
  for (Shard &shard : shards)
    for (auto *buffers : {&shard.blocks, &shard.scales})
      for (size_t i = 0; i < buffers->size(); ++i)
        if (const Buffer &buffer = (*buffers)[i];
            groups[i] == group && buffer.data())
          fn(*shard.backend, buffer.as<char>(),
             buffer.bytes() / buffer.shape()[0]);
}

void CacheMemory::copyPage(int32_t group, int64_t source, int64_t target) {
  forEachPaged(group, [&](DeviceBackend &device, char *base, size_t bytes) {
    device.copyOnDevice(base + target * bytes, base + source * bytes, bytes);
  });
}

void CacheMemory::zeroPage(int32_t group, int64_t target) {
  forEachPaged(group, [&](DeviceBackend &device, char *base, size_t bytes) {
    device.zero(base + target * bytes, bytes);
  });
}
