//===- ExecutionContext.cpp - The runtime side of KvContext ---------------===//

#include "kv/Runtime/Device/ExecutionContext.h"
#include "Functions.h"

#include <algorithm>
#include <cstring>

using namespace kv;

void ExecutionContext::State::recordError(KvStatus status,
                                          std::string_view text) {
  if (status == KV_STATUS_OK || recording.exchange(true))
    return;
  messageLength = std::min(text.size(), MessageBytes);
  std::memcpy(message, text.data(), messageLength);
  std::atomic_ref(context.status).store(status, std::memory_order_release);
}

Expected<std::unique_ptr<ExecutionContext>>
ExecutionContext::create(Executor &executor, const Options &options) {
  Expected<DeviceBackend *> backend = options.device.backend();
  if (!backend)
    return std::unexpected(backend.error());
  size_t arenaBytes =
      options.arenaBytes ? options.arenaBytes : (*backend)->defaultArenaBytes();
  auto state = std::make_unique<State>();
  state->context = {KV_ABI_VERSION, KV_STATUS_OK, &functions(), state.get(),
                    nullptr};
  state->executor = &executor;
  state->ranks = options.ranks;
  if ((*backend)->isHost()) {
    Expected<Arena> arena = Arena::reserve(arenaBytes);
    if (!arena)
      return std::unexpected(arena.error());
    state->arena = std::move(*arena);
  } else {
    Expected<Memory> memory = options.device.allocateScratch(arenaBytes);
    if (!memory)
      return makeError(memory.error().code,
                       "the arena: ", memory.error().message);
    Expected<std::unique_ptr<DeviceContext>> device = (*backend)->createContext(
        {options.deterministic, options.ranks, options.log});
    if (!device)
      return makeError(device.error().code, "device ", options.device.str(),
                       ": ", device.error().message);
    state->backend = *backend;
    state->arenaMemory = std::move(*memory);
    state->arena = Arena::over(state->arenaMemory.data(), arenaBytes);
    state->device = std::move(*device);
    state->context.functions = &state->device->functions();
    state->context.stream = state->device->stream();
  }
  return std::unique_ptr<ExecutionContext>(
      new ExecutionContext(std::move(state)));
}

ExecutionContext::ExecutionContext(std::unique_ptr<State> state)
    : state(std::move(state)) {}

ExecutionContext::~ExecutionContext() = default;

/// Calls the entry and returns its status. leave() in Functions.cpp jumps back
/// to here, so no object of this function may need destruction.
static int32_t callGuarded(KvEntry entry, KvContext *context,
                           const KvTensorView *args, int32_t count,
                           jmp_buf *&exit) {
  jmp_buf here;
  exit = &here;
  int32_t status = setjmp(here) ? context->status : entry(context, args, count);
  exit = nullptr;
  return status;
}

Expected<void> ExecutionContext::call(KvEntry entry,
                                      std::span<const KvTensorView> args,
                                      const DeviceModule *module,
                                      std::span<const uint64_t> identity) {
  reset();
  if (state->device) {
    if (Expected<void> sound = state->backend->status(); !sound)
      return sound;
    if (Expected<void> sound = state->device->takeStepError(); !sound)
      return makeError(sound.error().code,
                       "an earlier call: ", sound.error().message);
    state->device->use(module);
    if (state->device->start(identity))
      return state->backend->status();
  }
  callEntry(entry, args);
  if (state->device && !state->device->finish(!state->failed())) {
    reset();
    callEntry(entry, args);
  }
  if (state->device && !state->failed())
    return state->backend->status();
  return result();
}

void ExecutionContext::callEntry(KvEntry entry,
                                 std::span<const KvTensorView> args) {
  int32_t status = callGuarded(entry, &state->context, args.data(),
                               static_cast<int32_t>(args.size()), state->exit);
  if (status != KV_STATUS_OK)
    recordError(
        static_cast<KvStatus>(status),
        concat("the entry returned status ", status, " without a message"));
  state->arena.release(0);
}

Expected<void> ExecutionContext::stepError() {
  return state->device ? state->device->takeStepError() : Expected<void>();
}

KvContext *ExecutionContext::abi() { return &state->context; }
Arena &ExecutionContext::arena() { return state->arena; }
Executor &ExecutionContext::executor() { return *state->executor; }

void ExecutionContext::recordError(KvStatus status, std::string_view message) {
  state->recordError(status, message);
}

Expected<void> ExecutionContext::result() const {
  if (!state->failed())
    return {};
  return std::unexpected(
      Error{static_cast<KvStatus>(state->context.status),
            std::string(state->message, state->messageLength)});
}

void ExecutionContext::reset() {
  state->context.status = KV_STATUS_OK;
  state->recording = false;
  state->messageLength = 0;
  state->arena.release(0);
}
