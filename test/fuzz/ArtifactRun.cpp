//===- ArtifactRun.cpp - An artifact on random data -----------------------===//

#include "ArtifactRun.h"

#include "Batch.h"
#include "Random.h"

#include "kv/Runtime/Device/Buffer.h"
#include "kv/Runtime/Session/InferenceSession.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>
#include <cstring>

using namespace kv;
using namespace kv::fuzz;

/// The host's side of an entry: memory for every argument.
struct ArtifactRun::Arguments {
  std::vector<Buffer> buffers;
  std::vector<std::string> names;
  std::vector<ArgumentKind> kinds;
};

namespace {

// Every sequence has pages for what all advances together may add.
constexpr int64_t kCached[kSequences] = {0, 5, 9};
constexpr int64_t kNew[kSequences] = {3, 1, 3};
constexpr int64_t kCapacity = 9 + (kMostAdvances + 1) * kTokens;

/// An element type with fewer bits than f32, but i8.
const llvm::fltSemantics &semanticsOf(DType dtype) {
  switch (dtype) {
  case DType::BF16:
    return llvm::APFloat::BFloat();
  case DType::F16:
    return llvm::APFloat::IEEEhalf();
  case DType::F8E4M3FN:
    return llvm::APFloat::Float8E4M3FN();
  case DType::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  case DType::F8E8M0FNU:
    return llvm::APFloat::Float8E8M0FNU();
  default:
    llvm::report_fatal_error("kv-fuzz: an element type without a float");
  }
}

float toFloat(const void *data, DType dtype, int64_t i) {
  switch (dtype) {
  case DType::F32:
    return static_cast<const float *>(data)[i];
  case DType::I32:
    return static_cast<const int32_t *>(data)[i];
  case DType::I64:
    return static_cast<float>(static_cast<const int64_t *>(data)[i]);
  case DType::I8:
    return static_cast<const int8_t *>(data)[i];
  default:
    break;
  }
  uint64_t bits = dtypeBytes(dtype) == 1
                      ? static_cast<const uint8_t *>(data)[i]
                      : static_cast<const uint16_t *>(data)[i];
  llvm::APInt stored(dtypeBytes(dtype) * 8, bits);
  return llvm::APFloat(semanticsOf(dtype), stored).convertToFloat();
}

void setFloat(void *data, DType dtype, int64_t i, float value) {
  if (dtype == DType::F32) {
    static_cast<float *>(data)[i] = value;
    return;
  }
  if (dtype == DType::I8) {
    // Has no NaN: its scale has.
    static_cast<int8_t *>(data)[i] = std::isnan(value) ? 77 : value * 30;
    return;
  }
  llvm::APFloat rounded(value);
  bool lost;
  rounded.convert(semanticsOf(dtype), llvm::APFloat::rmNearestTiesToEven,
                  &lost);
  uint64_t bits = rounded.bitcastToAPInt().getZExtValue();
  if (dtypeBytes(dtype) == 1)
    static_cast<uint8_t *>(data)[i] = bits;
  else
    static_cast<uint16_t *>(data)[i] = bits;
}

/// How far results may be apart, as a share of the largest: differences of
/// rounding grow where a cache rounds to fewer bits.
double toleranceOf(DType dtype) {
  switch (dtype) {
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::F8E8M0FNU:
    return 0.3;
  case DType::BF16:
  case DType::F16:
  case DType::I8:
    return 0.08;
  default:
    return 2e-3;
  }
}

} // namespace

/// Data for the arguments of the entry, the same for the same seed.
class ArtifactRun::Host {
public:
  Host(const Manifest &manifest, const Entry &entry, uint64_t seed)
      : manifest(manifest), random(seed) {
    for (const Argument &input : entry.inputs)
      fill(input);
    for (const Argument &output : entry.outputs)
      fill(output);
  }

  Arguments arguments;

private:
  /// Of an argument that is a component of a collection.
  const CacheGeometry &geometryOf(const Argument &argument) {
    return manifest.findCollection(argument.collection)->geometry;
  }

  /// Pages of a sequence in one band, or its slot. The first page of all is the
  /// null page, or nobody's slot; then come those of the sequences, of each its
  /// bands, one after the other, then some of nobody.
  static int64_t pagesEach(const CacheGeometry &geometry) {
    if (!geometry.isPaged())
      return 1;
    return (kCapacity + geometry.page - 1) / geometry.page;
  }
  static int64_t pagesOfAll(const CacheGeometry &geometry) {
    return kSequences * geometry.bands() * pagesEach(geometry);
  }

  /// The table's entry in a row, 0 where a window has passed the page or the
  /// entry is nobody's: the last of each band.
  static int64_t tableEntry(const CacheGeometry &geometry, int64_t sequence,
                            int64_t column) {
    int64_t each = pagesEach(geometry), band = column / (each + 1);
    int64_t i = column % (each + 1);
    bool isPassed =
        geometry.window &&
        (i + 1) * geometry.page <= kCached[sequence] + 1 - geometry.window;
    if (i == each || isPassed)
      return 0;
    return 1 + (sequence * geometry.bands() + band) * each + i;
  }

  int64_t sizeOf(const Argument &argument, const Dimension &dim) {
    if (dim.isStatic())
      return dim.size;
    llvm::StringRef symbol(dim.symbol);
    if (symbol == "tokens")
      return kTokens;
    if (symbol == "offsets")
      return kSequences + 1;
    if (symbol == "sequences" || symbol.ends_with(".batch"))
      return kSequences;
    if (symbol.ends_with(".pages") || symbol.ends_with(".slots"))
      return 1 + pagesOfAll(geometryOf(argument)) + 2;
    if (symbol.ends_with(".pitch")) {
      const CacheGeometry &geometry = geometryOf(argument);
      return geometry.bands() * (pagesEach(geometry) + 1);
    }
    if (symbol.ends_with(".steps"))
      return kMostAdvances + 1;
    if (symbol == "ids")
      return 4;
    llvm::report_fatal_error("kv-fuzz: no size for dimension " +
                             llvm::Twine(dim.symbol) + " of " + argument.name);
  }

  void fill(const Argument &argument) {
    std::vector<int64_t> shape;
    for (const Dimension &dim : argument.shape)
      shape.push_back(sizeOf(argument, dim));
    Expected<Buffer> made = Buffer::create(Device(), argument.dtype, shape);
    if (!made)
      llvm::report_fatal_error(llvm::Twine("kv-fuzz: ") + made.error().message);
    Buffer &buffer = arguments.buffers.emplace_back(std::move(*made));
    arguments.names.push_back(argument.name);
    arguments.kinds.push_back(argument.kind);
    switch (argument.kind) {
    case ArgumentKind::Blocks:
    case ArgumentKind::Scales:
      return fillPages(argument, buffer, buffer.elements() / shape[0]);
    case ArgumentKind::CacheLengths:
      return assign(buffer, [](int64_t i) { return kCached[i]; });
    case ArgumentKind::LookupTable: {
      const CacheGeometry &geometry = geometryOf(argument);
      return assign(buffer, [&](int64_t i) {
        return geometry.isPaged()
                   ? tableEntry(geometry, i / shape[1], i % shape[1])
                   : i + 1;
      });
    }
    case ArgumentKind::MaxLengths:
      // Each row after as many steps, and the last for all that follow.
      return assign(buffer, [&](int64_t i) {
        int64_t step = i / 2 + 1, most = 0;
        for (int64_t s = 0; s < kSequences; ++s)
          most = std::max(most, kCached[s] + step * kNew[s]);
        return i % 2 ? most : *llvm::max_element(kNew);
      });
    case ArgumentKind::Output:
      if (argument.dtype == DType::I32 || argument.dtype == DType::I64)
        return assign(buffer, [](int64_t) { return -77; });
      return assign(buffer, [](int64_t) { return NAN; });
    default:
      return fillInput(argument.name, buffer);
    }
  }

  /// Sets each element to what `value` says of its index.
  template <class Value> static void assign(Buffer &buffer, Value value) {
    for (int64_t i = 0; i < buffer.elements(); ++i)
      if (buffer.dtype() == DType::I32)
        buffer.as<int32_t>()[i] = static_cast<int32_t>(value(i));
      else if (buffer.dtype() == DType::I64)
        buffer.as<int64_t>()[i] = static_cast<int64_t>(value(i));
      else
        setFloat(buffer.data(), buffer.dtype(), i, value(i));
  }

  /// Blocks or scales: the null page is zeros or ones, and nobody's pages are
  /// NaN.
  void fillPages(const Argument &argument, Buffer &buffer, int64_t perPage) {
    const CacheGeometry &geometry = geometryOf(argument);
    bool isScale = argument.kind == ArgumentKind::Scales;
    assign(buffer, [&](int64_t i) -> float {
      int64_t id = i / perPage;
      float value = gauss();
      if (isScale)
        value = 0.02f + std::abs(value) / 50;
      if (id == 0 && geometry.isPaged())
        return isScale ? 1 : 0;
      return id == 0 || id > pagesOfAll(geometry) ? NAN : value;
    });
  }

  /// An input of no collection, whose name says what it may hold.
  void fillInput(llvm::StringRef name, Buffer &buffer) {
    if (name.starts_with("offsets"))
      return assign(buffer, [sum = int64_t(0)](int64_t i) mutable {
        int64_t now = sum;
        if (i < kSequences)
          sum += kNew[i];
        return now;
      });
    if (name.starts_with("positions"))
      return assign(buffer, [&](int64_t) { return random.below(60); });
    if (name.starts_with("pages"))
      // Pages of sequences, the null page, and ids of no page.
      return assign(buffer, [&](int64_t) {
        return random.percent(80) ? random.between(0, kSequences)
                                  : random.oneOf({-1, 1 << 20});
      });
    if (buffer.dtype() == DType::I32)
      return assign(buffer, [&](int64_t) { return random.below(4); });
    if (buffer.dtype() == DType::I64) // any tree, and words that are none
      return assign(buffer, [&](int64_t) -> int64_t {
        return random.below(1 << 30) << random.below(34);
      });
    return assign(buffer, [&](int64_t) { return gauss(); });
  }

  float gauss() {
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += random.uniform();
    return static_cast<float>((sum - 2) * 1.7);
  }

  const Manifest &manifest;
  Random random;
};

ArtifactRun::ArtifactRun() : arguments(std::make_unique<Arguments>()) {}
ArtifactRun::~ArtifactRun() = default;

std::optional<std::string> ArtifactRun::execute(const std::string &artifact,
                                                uint64_t seed) {
  static Expected<InferenceSession> session =
      InferenceSession::create({.threads = 2});
  if (!session)
    return session.error().message;
  Expected<Model> model = session->load(artifact);
  if (!model)
    return model.error().message;
  Host host(model->manifest(), model->manifest().entries.front(), seed);
  std::vector<NamedTensor> tensors;
  for (auto [name, buffer] :
       llvm::zip(host.arguments.names, host.arguments.buffers))
    tensors.push_back({name, buffer.view()});
  Expected<void> done =
      model->execute(model->manifest().entries.front().name, tensors);
  if (!done)
    return done.error().message;
  *arguments = std::move(host.arguments);
  return std::nullopt;
}

std::optional<std::string>
ArtifactRun::differenceFrom(const ArtifactRun &reference) const {
  double tolerance = 0;
  for (const Buffer &buffer : arguments->buffers)
    tolerance = std::max(tolerance, toleranceOf(buffer.dtype()));
  for (size_t i = 0; i < arguments->buffers.size(); ++i) {
    const Buffer &a = arguments->buffers[i],
                 &b = reference.arguments->buffers[i];
    double largest = 1;
    for (int64_t e = 0; e < b.elements(); ++e) {
      double value = std::abs(toFloat(b.data(), b.dtype(), e));
      if (std::isfinite(value))
        largest = std::max(largest, value);
    }
    for (int64_t e = 0; e < a.elements(); ++e) {
      float x = toFloat(a.data(), a.dtype(), e);
      float y = toFloat(b.data(), b.dtype(), e);
      bool same = (std::isnan(x) && std::isnan(y)) || x == y ||
                  std::abs(double(x) - y) <= tolerance * largest;
      // Poison stays where it was: in blocks, never in a result.
      bool isOutput = arguments->kinds[i] == ArgumentKind::Output;
      if (same && !(isOutput && std::isnan(x)))
        continue;
      return "argument '" + arguments->names[i] + "', element " +
             std::to_string(e) + " of " + describe(a.view()) + ": " +
             std::to_string(x) + " by kv-cpu, " + std::to_string(y) +
             " by kv-reference";
    }
  }
  return std::nullopt;
}
