//===- Elements.cpp - Elementwise programs --------------------------------===//

#include "Movers.h"
#include "kv/Runtime/Device/Buffer.h"

#include <charconv>

using namespace kv;
using namespace kv::cuda;

/// Takes what stands before `separator` from the front of `text`, and it.
static std::string_view take(std::string_view &text,
                             std::string_view separator) {
  size_t at = text.find(separator);
  std::string_view front = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + separator.size());
  return front;
}

static bool parseSource(std::string_view text, ElementStep &step) {
  constexpr std::pair<std::string_view, ElementSource> Names[] = {
      {"a", ElementSource::A},
      {"b", ElementSource::B},
      {"t", ElementSource::T},
      {"u", ElementSource::U}};
  for (auto [name, source] : Names)
    if (text == name) {
      step.source = source;
      return true;
    }
  step.source = ElementSource::Number;
  const char *end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, step.number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

/// "mul 0.5"
static bool parseStep(std::string_view text, ElementStep &step) {
  struct Op {
    std::string_view spelling;
    ElementOp op;
    bool takesSource;
  };
  static constexpr Op Ops[] = {
#define KV_ELEMENT_OP(name, spelling, source, value)                           \
  {spelling, ElementOp::name, source != 0},
#include "kv/ABI/ElementOps.def"
  };
  std::string_view word = take(text, " ");
  for (const Op &op : Ops) {
    if (op.spelling != word)
      continue;
    step = {op.op, ElementSource::None, 0};
    if (op.takesSource != !text.empty() ||
        (op.takesSource && !parseSource(text, step)))
      return false;
    return op.op != ElementOp::Keep || step.source == ElementSource::T ||
           step.source == ElementSource::U;
  }
  return false;
}

void rows::elementwise(KvContext *context, void *program, const KvTensorView *a,
                       const KvTensorView *b, const KvTensorView *out) {
  Call call(context, "elementwise");
  Rows x, y, c;
  if (call.failed() || !pairedRows(call, *a, *b, *out, x, y, c))
    return;
  ElementwiseParams p{x.data,   y.data,   c.data,           x.stride,
                      y.stride, c.stride, int32_t(c.count), int32_t(c.width),
                      x.type,   y.type,   c.type,           0,
                      {}};
  std::string_view left = static_cast<const char *>(program);
  while (!left.empty()) {
    std::string_view text = take(left, "; ");
    if (p.count == MaxElementSteps)
      return call.unsupported("the program is longer than ", MaxElementSteps,
                              " steps");
    if (!parseStep(text, p.steps[p.count++]))
      return call.unsupported("step \"", text, "\" of the program is none");
  }
  move(call, kernelRow("kv_elementwise"), chunksOf(c), p);
}
