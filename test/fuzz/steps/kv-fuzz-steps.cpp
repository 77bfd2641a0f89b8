//===- kv-fuzz-steps.cpp - Bad integers for every operation ---------------===//
//
//   kv-fuzz-steps [--count=N] [--seed=N] ARTIFACT...
//
// Artifacts of steps.mlir. Every entry gets N bad row offsets: of a wrong
// number, that begin elsewhere than at 0, fall, go beyond the tokens or below
// them. Each must be an error that speaks of row_offsets (or of the buffer that
// they do not fit), and leave every byte of every argument as it was; between
// them good steps must give the bits of the first one. Arguments lie in guarded
// memory: what no sanitizer has instrumented faults where it leaves them.
//
// An entry without row offsets has `indices`, the numbers of rows of a table of
// 7 rows, and gets bad ones instead: each must be an error that names the
// element. Or it has `numbers`, from which it computes rows: any are good, and
// none leads out of the table.
//
//===----------------------------------------------------------------------===//

#include "GuardedMemory.h"
#include "kv/Runtime/Device/Buffer.h"
#include "kv/Runtime/Session/InferenceSession.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace kv;

namespace {

/// Three sequences with 2, 1 and 3 new tokens after these cached ones, in pages
/// of 4 (slots of 16).
constexpr int32_t Good[] = {0, 2, 3, 6};
constexpr int32_t Cached[] = {3, 0, 5};
constexpr int64_t Sequences = 3, Tokens = 6, Pitch = 4, Blocks = 13;
constexpr int64_t Steps = 2;

constexpr int32_t TableRows = 7;

/// How many elements a dimension has that the manifest names.
int64_t sizeOf(const std::string &symbol) {
  static const std::map<std::string, int64_t> sizes = {
      {"T", Tokens}, {"Q", Tokens}, {"rows", TableRows}};
  if (auto known = sizes.find(symbol); known != sizes.end())
    return known->second;
  std::string_view name = symbol;
  std::string_view last = name.substr(name.rfind('.') + 1);
  if (last == "batch")
    return Sequences;
  if (name.starts_with("row_offsets") || name.starts_with("query_offsets") ||
      name.starts_with("indices") || name.starts_with("numbers") ||
      name.starts_with("result"))
    return Sequences + 1;
  if (last == "pitch")
    return Pitch;
  if (last == "steps")
    return Steps;
  return Blocks;
}

/// One argument: its view, and what it holds at the beginning of each step.
struct Bound {
  Bound(const Argument &argument, std::vector<int64_t> shape)
      : name(argument.name), memory(bytesOf(argument.dtype, shape)),
        view(makeView(memory.as<void>(), argument.dtype, shape)) {}

  static size_t bytesOf(DType dtype, const std::vector<int64_t> &shape) {
    size_t bytes = dtypeBytes(dtype);
    for (int64_t size : shape)
      bytes *= size;
    return bytes;
  }

  std::string name;
  GuardedMemory memory;
  KvTensorView view;
  std::vector<uint8_t> before;
};

/// An entry with its arguments, except the row offsets.
class Target {
public:
  Target(Model &model, const Entry &entry, std::mt19937_64 &random)
      : invocation(std::move(*model.prepare(entry.name))), name(entry.name) {
    for (const Argument &argument : entry.inputs)
      if (argument.name == "indices" || argument.name == "numbers")
        varied = argument.name;
    for (const Argument &argument : entry.inputs)
      if (argument.name != varied)
        add(argument, random);
    for (const Argument &argument : entry.outputs)
      add(argument, random);
    offsetsSlot = *invocation.slot(varied);
  }

  /// Runs a step. Returns its error, empty if there is none.
  std::string run(const std::vector<int32_t> &offsets) {
    GuardedMemory memory(offsets.size() * sizeof(int32_t));
    std::memcpy(memory.as<void>(), offsets.data(), memory.bytes().size());
    invocation.bind(offsetsSlot, makeView(memory.as<void>(), DType::I32,
                                          {int64_t(offsets.size())}));
    for (Bound &each : arguments)
      std::memcpy(each.memory.as<void>(), each.before.data(),
                  each.before.size());
    Expected<void> done = invocation.execute();
    return done ? "" : done.error().message;
  }

  /// The argument that a step has changed or written beside; null if none.
  const Bound *changed() const {
    for (const Bound &each : arguments)
      if (!each.memory.isIntact() ||
          std::memcmp(each.memory.as<void>(), each.before.data(),
                      each.before.size()) != 0)
        return &each;
    return nullptr;
  }

  std::vector<uint8_t> everything() const {
    std::vector<uint8_t> all;
    for (const Bound &each : arguments) {
      auto bytes = each.memory.bytes();
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }

  const std::string &entry() const { return name; }
  /// The argument of which steps differ.
  const std::string &argument() const { return varied; }

private:
  void add(const Argument &argument, std::mt19937_64 &random) {
    std::vector<int64_t> shape;
    for (const Dimension &dimension : argument.shape)
      shape.push_back(dimension.isStatic() ? dimension.size
                                           : sizeOf(dimension.symbol));
    Bound &bound = arguments.emplace_back(argument, shape);
    fill(bound, argument, random);
    auto bytes = bound.memory.bytes();
    bound.before.assign(bytes.begin(), bytes.end());
    invocation.bind(*invocation.slot(argument.name), bound.view);
  }

  static void fill(Bound &bound, const Argument &argument,
                   std::mt19937_64 &random) {
    auto *integers = bound.memory.as<int32_t>();
    auto bytes = bound.memory.bytes();
    switch (argument.kind) {
    case ArgumentKind::CacheLengths:
      std::copy(std::begin(Cached), std::end(Cached), integers);
      return;
    case ArgumentKind::LookupTable:
      // Pages from 1; slots from 0.
      for (size_t i = 0; i < bytes.size() / sizeof(int32_t); ++i)
        integers[i] = static_cast<int32_t>(
            argument.shape.size() == 1 ? i : i % (Blocks - 1) + 1);
      return;
    case ArgumentKind::MaxLengths:
      for (int64_t step = 0; step < Steps; ++step) {
        integers[2 * step] = 3;
        integers[2 * step + 1] = static_cast<int32_t>(8 + 3 * step);
      }
      return;
    default:
      break;
    }
    if (argument.name == "query_offsets") {
      std::copy(std::begin(Good), std::end(Good), integers);
      return;
    }
    if (argument.dtype == DType::F32) {
      std::normal_distribution<float> normal;
      for (size_t i = 0; i < bytes.size() / sizeof(float); ++i)
        bound.memory.as<float>()[i] = normal(random);
      return;
    }
    for (uint8_t &byte : bytes)
      byte = 0x3c;
  }

  Invocation invocation;
  std::string name, varied = "row_offsets";
  std::vector<Bound> arguments;
  int offsetsSlot;
};

/// Offsets that no step may have; how they are bad is drawn first.
std::vector<int32_t> makeBad(std::mt19937_64 &random) {
  std::vector<int32_t> offsets(std::begin(Good), std::end(Good));
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  auto anything = [&] {
    int32_t edges[] = {INT32_MIN, INT32_MIN + 1, -7,        -1,
                       7,         4096,          INT32_MAX, INT32_MAX - 1};
    return draw(0, 1) ? edges[draw(0, 7)]
                      : static_cast<int32_t>(draw(INT32_MIN, INT32_MAX));
  };
  while (true) {
    switch (draw(0, 6)) {
    case 0: // too few
      offsets.resize(draw(0, Sequences));
      break;
    case 1: // too many
      for (int64_t more = draw(1, 40); more > 0; --more)
        offsets.push_back(draw(0, 1) ? offsets.back() : anything());
      break;
    case 2: // begin elsewhere
      offsets[0] = anything();
      break;
    case 3: // fall, somewhere
      offsets[draw(1, Sequences)] = static_cast<int32_t>(draw(-3, 1));
      break;
    case 4: // end elsewhere
      offsets.back() = static_cast<int32_t>(draw(0, 1) ? Tokens + draw(1, 100)
                                                       : draw(3, Tokens - 1));
      break;
    case 5: // one is anything
      offsets[draw(0, Sequences)] = anything();
      break;
    default: // all are
      for (int32_t &offset : offsets)
        offset = anything();
    }
    bool isGood = int64_t(offsets.size()) == Sequences + 1 && !offsets[0] &&
                  std::is_sorted(offsets.begin(), offsets.end()) &&
                  offsets.back() == Tokens;
    if (!isGood)
      return offsets;
    offsets.assign(std::begin(Good), std::end(Good));
  }
}

/// Numbers of rows of which one at least is outside of the table.
std::vector<int32_t> makeBadIndices(std::mt19937_64 &random) {
  std::vector<int32_t> indices(std::begin(Good), std::end(Good));
  for (uint64_t left = 1 + random() % 4; left > 0; --left) {
    int32_t bad[] = {-1,        TableRows, INT32_MIN,
                     INT32_MAX, 4096,      static_cast<int32_t>(random())};
    indices[random() % indices.size()] = bad[random() % 6];
  }
  if (std::ranges::all_of(indices,
                          [](int32_t i) { return i >= 0 && i < TableRows; }))
    indices[0] = TableRows;
  return indices;
}

std::string spell(const std::vector<int32_t> &offsets) {
  std::string text = "[";
  for (int32_t offset : offsets)
    text += (text.size() > 1 ? ", " : "") + std::to_string(offset);
  return text + "]";
}

/// Whether an operation can see that offsets are bad which only end elsewhere:
/// it has no rows of its own to compare with.
bool endsFreely(const std::string &entry, const std::vector<int32_t> &offsets) {
  static const char *const free[] = {"row_offsets", "row_offsets_of_three",
                                     "keys",        "load",
                                     "advance",     "print"};
  return std::find(std::begin(free), std::end(free), entry) != std::end(free) &&
         int64_t(offsets.size()) == Sequences + 1 && !offsets[0] &&
         std::is_sorted(offsets.begin(), offsets.end());
}

/// Whether an error speaks of the offsets or of what they do not fit: the
/// tables, the lengths, the caller's buffer. The positions alone may be as many
/// as offsets say: more than there is memory for, too.
bool saysWhy(const Target &target, const std::string &error) {
  const std::string &entry = target.entry();
  if (target.argument() == "indices")
    return error.find("indices: element ") != std::string::npos;
  for (const char *words : {"row_offsets", ": sequence ", "the result "})
    if (error.find(words) != std::string::npos)
      return true;
  return entry == "positions" && error.find("the arena: ") != std::string::npos;
}

/// How many steps went wrong.
int64_t check(Target &target, const char *artifact, int64_t count,
              std::mt19937_64 &random) {
  const std::vector<int32_t> good(std::begin(Good), std::end(Good));
  int64_t wrong = 0;
  auto fail = [&](const std::vector<int32_t> &offsets,
                  const std::string &message) {
    std::fprintf(stderr, "%s: @%s with %s %s: %s\n", artifact,
                 target.entry().c_str(), target.argument().c_str(),
                 spell(offsets).c_str(), message.c_str());
    ++wrong;
  };
  if (std::string error = target.run(good); !error.empty()) {
    fail(good, "a good step is an error: " + error);
    return wrong;
  }
  const std::vector<uint8_t> expected = target.everything();
  for (int64_t i = 0; i < count && wrong < 10; ++i) {
    bool hasOffsets = target.argument() == "row_offsets";
    std::vector<int32_t> offsets =
        hasOffsets ? makeBad(random) : makeBadIndices(random);
    while (hasOffsets && endsFreely(target.entry(), offsets))
      offsets = makeBad(random);
    std::string error = target.run(offsets);
    if (target.argument() == "numbers") {
      if (!error.empty())
        fail(offsets, "an error: " + error);
    } else if (error.empty())
      fail(offsets, "no error");
    else if (!saysWhy(target, error))
      fail(offsets, "an error that does not say what is wrong: " + error);
    else if (const Bound *bound = target.changed())
      fail(offsets, "has changed " + bound->name + " (" + error + ")");
    // What kv.print prints says nothing here.
    if (i % (target.entry() == "print" ? count : 16) != 0)
      continue;
    error = target.run(good);
    if (!error.empty())
      fail(good, "a good step after a bad one is an error: " + error);
    else if (target.everything() != expected)
      fail(good, "a good step after a bad one has other bits");
  }
  return wrong;
}

} // namespace

int main(int argc, char **argv) {
  int64_t count = 20000;
  uint64_t seed = 1;
  std::vector<const char *> artifacts;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument.starts_with("--count="))
      count = std::atoll(argv[i] + 8);
    else if (argument.starts_with("--seed="))
      seed = std::atoll(argv[i] + 7);
    else
      artifacts.push_back(argv[i]);
  }
  if (artifacts.empty() || count < 1) {
    std::fprintf(stderr, "kv-fuzz-steps [--count=N] [--seed=N] ARTIFACT...\n");
    return 2;
  }
  int64_t wrong = 0, targets = 0;
  for (const char *path : artifacts) {
    auto session =
        InferenceSession::create({.threads = 2, .arenaBytes = 16 << 20});
    if (!session) {
      std::fprintf(stderr, "%s\n", session.error().message.c_str());
      return 2;
    }
    Expected<Model> model = session->load(path);
    if (!model) {
      std::fprintf(stderr, "%s\n", model.error().message.c_str());
      return 2;
    }
    for (const Entry &entry : model->manifest().entries) {
      std::mt19937_64 random(seed);
      Target target(*model, entry, random);
      wrong += check(target, path, count, random);
      ++targets;
    }
  }
  std::printf("%lld entries, %lld bad steps each: %lld wrong\n",
              (long long)targets, (long long)count, (long long)wrong);
  return wrong != 0 || targets == 0;
}
