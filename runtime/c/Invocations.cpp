//===- Invocations.cpp - Entries that run, in C ---------------------------===//

#include "SessionHandles.h"

#include <algorithm>

using namespace kv;
using namespace kv::capi;

KvInvocation::KvInvocation(Model given, Invocation prepared)
    : model(std::move(given)), invocation(std::move(prepared)) {
  const Entry &entry = invocation.entry();
  for (const std::vector<Argument> *list : {&entry.inputs, &entry.outputs})
    for (const Argument &argument : *list)
      slots.push_back({.argument = &argument});
  // Outputs need not be bound: execute() makes them.
  for (size_t i = entry.inputs.size(); i < slots.size(); ++i)
    invocation.bind(static_cast<int>(i), {});
}

int32_t kvModelPrepare(KvModel *model, const char *entry,
                       KvInvocation **invocation) {
  return guarded([&] {
    KV_REQUIRE("kvModelPrepare", model);
    KV_REQUIRE("kvModelPrepare", entry);
    KV_REQUIRE("kvModelPrepare", invocation);
    Expected<Invocation> prepared = model->model.prepare(entry);
    if (!prepared)
      return fail(prepared.error());
    *invocation = new KvInvocation(model->model, std::move(*prepared));
    return int32_t(KV_STATUS_OK);
  });
}

void kvInvocationDestroy(KvInvocation *invocation) { delete invocation; }

/// Gives memory to an output that the caller has not bound, for the sizes of
/// the inputs. The memory of the last execution is reused if it has this size
/// and no one else holds it. Without all inputs, executing says which are
/// missing.
Expected<void> KvInvocation::makeOutput(int index) {
  BoundSlot &slot = slots[index];
  std::vector<int64_t> shape;
  for (const Dimension &wanted : slot.argument->shape) {
    std::optional<int64_t> size;
    if (wanted.isStatic())
      size = wanted.size;
    for (const BoundSlot &input : slots)
      for (size_t d = 0; !size && d < input.argument->shape.size(); ++d)
        if (!isOutput(input) && input.argument->shape[d] == wanted)
          size = input.given ? input.view.sizes[d] : 0;
    if (!size)
      return refuse(invocation.entry(), slot.argument->name, "the size ",
                    wanted.symbol, " is that of no input: bind the output");
    shape.push_back(*size);
  }
  bool fits =
      slot.owner && slot.owner.use_count() == 1 &&
      std::ranges::equal(shape, std::span(slot.view.sizes, shape.size()));
  if (fits)
    return {};
  Expected<Buffer> made =
      Buffer::create(model.device(), slot.argument->dtype, shape);
  if (!made)
    return refuse(invocation.entry(), slot.argument->name,
                  made.error().message);
  KvTensorView view = made->view();
  return put(index, view, /*onHost=*/false,
             std::make_shared<Buffer>(std::move(*made)));
}

Expected<void> KvInvocation::execute() {
  executed = false;
  if (Expected<void> bound = bindCaches(); !bound)
    return bound;
  for (size_t i = 0; i < slots.size(); ++i)
    if (isOutput(slots[i]) && !slots[i].given)
      if (Expected<void> made = makeOutput(static_cast<int>(i)); !made)
        return made;
  Expected<void> done = invocation.execute();
  executed = done.has_value();
  return done;
}

int32_t kvInvocationExecute(KvInvocation *invocation) {
  return guarded([&] {
    KV_REQUIRE("kvInvocationExecute", invocation);
    return give(invocation->execute());
  });
}

int32_t kvInvocationWait(KvInvocation *invocation) {
  return guarded([&] {
    KV_REQUIRE("kvInvocationWait", invocation);
    if (Expected<void> done = invocation->wait(); !done)
      return fail(done.error());
    return give(invocation->model.context().stepError());
  });
}

/// Calls fn(slot) for an output of the latest execution.
template <class Fn>
static int32_t withOutput(const char *function, const KvInvocation *invocation,
                          const char *name, const void *result, Fn &&fn) {
  return guarded([&] {
    KV_REQUIRE(function, invocation);
    KV_REQUIRE(function, name);
    KV_REQUIRE(function, result);
    const Entry &entry = invocation->invocation.entry();
    const Argument *output = entry.findOutput(name);
    if (!output) {
      std::string known;
      for (const Argument &one : entry.outputs)
        known += concat(known.empty() ? "" : ", ", one.name);
      return invalid("entry ", entry.name, ": no output \"", name,
                     "\", there are: ", known.empty() ? "none" : known);
    }
    if (!invocation->executed)
      return invalid("entry ", entry.name,
                     ": no outputs: it has not been executed");
    return fn(
        invocation->slots[entry.inputs.size() + (output - &entry.outputs[0])]);
  });
}

int32_t kvInvocationGetOutput(const KvInvocation *invocation, const char *name,
                              KvTensorView *view) {
  return withOutput("kvInvocationGetOutput", invocation, name, view,
                    [&](const KvInvocation::BoundSlot &slot) {
                      *view = slot.view;
                      return int32_t(KV_STATUS_OK);
                    });
}

int32_t kvInvocationGetOutputDLPack(const KvInvocation *invocation,
                                    const char *name,
                                    DLManagedTensor **tensor) {
  return withOutput(
      "kvInvocationGetOutputDLPack", invocation, name, tensor,
      [&](const KvInvocation::BoundSlot &slot) {
        if (slot.given)
          return invalid("entry ", invocation->invocation.entry().name, ": ",
                         name, " lies in the memory that it is bound to");
        return give(exportTensor(slot.view, invocation->model.device(),
                                 /*onHost=*/false, slot.owner),
                    tensor);
      });
}
