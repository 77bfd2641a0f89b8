//===- RankedRunner.cpp - Steps that several ranks compute ----------------===//

#include "kv/Runtime/Serving/RankedRunner.h"

#include <cassert>
#include <cstring>

using namespace kv;

//===----------------------------------------------------------------------===//
// Messages: 32-bit numbers, lists with their length in front
//===----------------------------------------------------------------------===//

namespace {

class MessageWriter {
public:
  explicit MessageWriter(std::vector<std::byte> &bytes) : bytes(bytes) {
    bytes.clear();
  }
  void number(int64_t value) {
    assert(value == static_cast<int32_t>(value));
    auto narrow = static_cast<int32_t>(value);
    append(&narrow, 1);
  }
  void list(std::span<const int32_t> values) {
    number(static_cast<int64_t>(values.size()));
    append(values.data(), values.size());
  }
  /// A dense tensor of i32 in host memory.
  void tensor(const KvTensorView &view) {
    number(view.rank);
    size_t elements = 1;
    for (int64_t d = 0; d < view.rank; ++d) {
      number(view.sizes[d]);
      elements *= static_cast<size_t>(view.sizes[d]);
    }
    append(static_cast<const int32_t *>(view.data) + view.offset, elements);
  }

private:
  void append(const int32_t *values, size_t count) {
    const auto *raw = reinterpret_cast<const std::byte *>(values);
    bytes.insert(bytes.end(), raw, raw + count * sizeof(int32_t));
  }
  std::vector<std::byte> &bytes;
};

/// Reads what a MessageWriter wrote; what is not there is read as nothing.
class MessageReader {
public:
  explicit MessageReader(std::span<std::byte> bytes)
      : values(reinterpret_cast<int32_t *>(bytes.data()),
               bytes.size() / sizeof(int32_t)) {}

  bool isWhole() const { return whole && at == values.size(); }
  int32_t number() {
    std::span<int32_t> one = take(1);
    return one.empty() ? 0 : one[0];
  }
  std::span<int32_t> list() { return take(number()); }
  KvTensorView tensor() {
    std::vector<int64_t> sizes;
    int64_t elements = 1;
    for (int32_t rank = std::min(number(), 2); rank > 0; --rank) {
      sizes.push_back(number());
      elements *= sizes.back();
    }
    return makeView(take(elements).data(), DType::I32, sizes);
  }

private:
  std::span<int32_t> take(int64_t count) {
    if (count < 0 || static_cast<size_t>(count) > values.size() - at) {
      whole = false;
      return {};
    }
    at += static_cast<size_t>(count);
    return values.subspan(at - static_cast<size_t>(count),
                          static_cast<size_t>(count));
  }
  std::span<int32_t> values;
  size_t at = 0;
  bool whole = true;
};

enum MessageKind : int32_t { End = 0, Step = 1, Rest = 2 };
constexpr size_t PageOpNumbers = 5;

} // namespace

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

void RankedRunner::addPageOps(int32_t replica, std::span<const PageOp> ops) {
  for (const PageOp &op : ops)
    pageOps.insert(pageOps.end(),
                   {replica, op.kind, op.group, op.source, op.target});
}

Expected<std::span<const float>> RankedRunner::run(const ModelStep &step) {
  if (!ranks)
    return own.run(step);
  MessageWriter writer(message);
  writer.number(Step);
  // Pages, or slots, of one replica's memory, the null page included.
  writer.number(step.kv[0].blocks.sizes[0]);
  writer.list(pageOps);
  pageOps.clear();
  writer.number(step.replica);
  writer.list(step.tokens);
  writer.list(step.rowOffsets);
  writer.list(step.logitRows);
  host.assign(step.kv.begin(), step.kv.end());
  for (RaggedKVCacheInputs &inputs : host) {
    if (inputs.hostCacheLengths.data) {
      inputs.cacheLengths = inputs.hostCacheLengths;
      inputs.lookupTable = inputs.hostLookupTable;
    }
    writer.tensor(inputs.cacheLengths);
    writer.tensor(inputs.lookupTable);
    writer.tensor(inputs.maxLengths);
  }
  ModelStep mine = step;
  mine.kv = host;
  mine.hostTables = true;
  Expected<void> sent = send();
  Expected<std::span<const float>> logits =
      sent ? own.run(mine) : std::unexpected(sent.error());
  if (ranks->isBroken())
    lost(logits ? Error{} : logits.error());
  return logits;
}

void RankedRunner::rest() {
  if (!ranks)
    return;
  MessageWriter(message).number(Rest);
  Expected<void> sent = send();
  if (!sent)
    lost(sent.error());
}

Expected<void> RankedRunner::finish() {
  if (!ranks)
    return {};
  MessageWriter(message).number(End);
  return send();
}

Expected<void> RankedRunner::send() {
  // Rank 0 waits for nothing that another one says.
  return ranks->broadcast(message, Communicator::Wait::Limited);
}

//===----------------------------------------------------------------------===//
// The other ranks
//===----------------------------------------------------------------------===//

namespace {

/// The caches of one of the other ranks, and what their steps need.
class Follower {
public:
  Follower(ModelRunner &own, const Communicator &ranks,
           const MultiKVCacheParams &params, const Device &device)
      : own(own), ranks(ranks), params(params), device(device),
        layout(PoolLayout::of(params)) {}

  /// Runs a step, whose own error it leaves to rank 0. Errors: no memory; a
  /// message that is not one; the ranks are apart.
  Expected<void> step(MessageReader &reader) {
    if (Expected<void> made = allocate(reader.number()); !made)
      return made;
    std::span<const int32_t> ops = reader.list();
    int32_t replica = reader.number();
    ModelStep step{.tokens = reader.list(),
                   .rowOffsets = reader.list(),
                   .logitRows = reader.list(),
                   .kv = inputs,
                   .replica = replica,
                   .hostTables = true};
    if (replica < 0 || static_cast<size_t>(replica) >= memories.size())
      return damaged();
    memories[static_cast<size_t>(replica)].fill(inputs, 0, 1, 1);
    for (RaggedKVCacheInputs &one : inputs) {
      one.cacheLengths = reader.tensor();
      one.lookupTable = reader.tensor();
      one.maxLengths = reader.tensor();
    }
    if (!reader.isWhole() || !runPageOps(ops))
      return damaged();
    Expected<std::span<const float>> logits = own.run(step);
    if (!logits && ranks.isBroken())
      return std::unexpected(logits.error());
    return {};
  }

private:
  static std::unexpected<Error> damaged() {
    return makeError(KV_STATUS_INTERNAL,
                     "a step of rank 0 cannot be read: does it run the same "
                     "program?");
  }

  /// Every replica's memory, of `rows` pages with the null page, or slots.
  Expected<void> allocate(int64_t rows) {
    if (!memories.empty())
      return {};
    bool isPaged = params.params[0].geometry.isPaged();
    inputs.resize(params.params.size());
    for (int64_t replica = 0; replica < params.dataParallelDegree();
         ++replica) {
      Expected<CacheMemory> memory =
          CacheMemory::create(params, layout, std::span(&device, 1),
                              {.count = rows - isPaged,
                               .maxBatch = 1,
                               .segment = isPaged,
                               .maxSteps = 1});
      if (!memory)
        return std::unexpected(memory.error());
      memories.push_back(std::move(*memory));
    }
    return {};
  }

  bool runPageOps(std::span<const int32_t> ops) {
    if (ops.size() % PageOpNumbers != 0)
      return false;
    for (; !ops.empty(); ops = ops.subspan(PageOpNumbers)) {
      if (ops[0] < 0 || static_cast<size_t>(ops[0]) >= memories.size() ||
          ops[2] < 0 || ops[2] >= layout.numGroups())
        return false;
      CacheMemory &memory = memories[static_cast<size_t>(ops[0])];
      if (ops[1] == PageOp::Copy)
        memory.copyPage(ops[2], ops[3], ops[4]);
      else
        memory.zeroPage(ops[2], ops[4]);
    }
    return true;
  }

  ModelRunner &own;
  const Communicator &ranks;
  const MultiKVCacheParams &params;
  const Device &device;
  PoolLayout layout;
  std::vector<CacheMemory> memories;
  std::vector<RaggedKVCacheInputs> inputs;
};

} // namespace

Expected<void> kv::followSteps(ModelRunner &own, Communicator &ranks,
                               const MultiKVCacheParams &params,
                               const Device &device) {
  Follower follower(own, ranks, params, device);
  std::vector<std::byte> message;
  // Until there are requests, no rank knows when the first step comes.
  using Wait = Communicator::Wait;
  for (Wait wait = Wait::Unlimited;;) {
    if (Expected<void> received = ranks.broadcast(message, wait); !received)
      return received;
    MessageReader reader(message);
    int32_t kind = reader.number();
    if (kind == End)
      return {};
    wait = kind == Rest ? Wait::Unlimited : Wait::Limited;
    if (kind == Rest)
      continue;
    if (Expected<void> done = follower.step(reader); !done)
      return done;
  }
}

Expected<void> kv::checkAgreement(Communicator &ranks, std::string_view what,
                                  uint64_t digest) {
  std::vector<uint64_t> all(static_cast<size_t>(ranks.size()));
  if (Expected<void> done =
          ranks.gather(std::as_bytes(std::span(&digest, 1)),
                       std::as_writable_bytes(std::span(all)));
      !done)
    return done;
  std::string others;
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      others += concat(others.empty() ? "" : ", ", rank);
  if (others.empty())
    return {};
  return makeError(KV_STATUS_INVALID_ARGUMENT, what, " of rank ", others,
                   " is not that of rank 0");
}
