//===- Functions.cpp - The table of a CUDA context ------------------------===//

#include "Views.h"

using namespace kv;
using namespace kv::cuda;

namespace {

/// What the lowering for GPUs never calls.
template <class Function> struct OnCpus;
template <class... Parameters>
struct OnCpus<void (*)(KvContext *, Parameters...)> {
  static void call(KvContext *context, Parameters...) {
    ExecutionContext::State::of(context).recordError(
        KV_STATUS_UNSUPPORTED,
        "parallelFor, attention without a plan and print run on a CPU only: "
        "compile the model for cuda");
  }
};

} // namespace

const KvFunctionTable &Context::functions() const {
  static const KvFunctionTable table = [] {
    // What checks, and what keeps the arena's books, is the same everywhere.
    KvFunctionTable own = ExecutionContext::functions();
    own.parallelFor = OnCpus<decltype(own.parallelFor)>::call;
    own.attention = OnCpus<decltype(own.attention)>::call;
    own.print = OnCpus<decltype(own.print)>::call;
    own.store = rows::store;
    own.matmul = rows::matmul;
    own.norm = rows::norm;
    own.pair = rows::pair;
    own.embedding = rows::embedding;
    own.cast = rows::cast;
    own.argmax = rows::argmax;
    own.positions = rows::positions;
    own.rope = rows::rope;
    own.copyPages = rows::copyPages;
    own.planBytes = rows::planBytes;
    own.plan = rows::plan;
    own.plannedAttention = rows::plannedAttention;
    return own;
  }();
  return table;
}
