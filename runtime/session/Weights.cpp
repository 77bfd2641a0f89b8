//===- Weights.cpp - Weights as the entries want them ---------------------===//

#include "Weights.h"

#include <cstring>
#include <type_traits>

using namespace kv;

/// Visits every element of an [n, k] weight: calls element(row, block) with the
/// offsets of the element, counted in elements, in the row-major and in the
/// n16k layout. Packing copies each element from the first offset to the
/// second, unpacking the other way.
template <class Fn>
static void forEachElement(Executor &executor, int64_t n, int64_t k,
                           Fn element) {
  executor.forRange(n / 16, 1, [&](int64_t lo, int64_t hi) {
    for (int64_t block = lo; block < hi; ++block)
      for (int64_t lane = 0; lane < 16; ++lane)
        for (int64_t i = 0; i < k; ++i)
          element((block * 16 + lane) * k + i, (block * k + i) * 16 + lane);
  });
}

/// Calls fn with the size of an element as a compile-time constant.
template <class Fn> static void withSize(size_t bytes, Fn fn) {
  switch (bytes) {
  case 1:
    return fn(std::integral_constant<size_t, 1>());
  case 2:
    return fn(std::integral_constant<size_t, 2>());
  case 4:
    return fn(std::integral_constant<size_t, 4>());
  default:
    return fn(std::integral_constant<size_t, 8>());
  }
}

void kv::packN16K(Executor &executor, const void *weight, void *packed,
                  int64_t n, int64_t k, size_t bytes) {
  const auto *source = static_cast<const char *>(weight);
  auto *target = static_cast<char *>(packed);
  withSize(bytes, [&](auto size) {
    forEachElement(executor, n, k, [=](int64_t row, int64_t block) {
      std::memcpy(target + block * size, source + row * size, size);
    });
  });
}

void kv::unpackN16K(Executor &executor, const void *packed, void *weight,
                    int64_t n, int64_t k, size_t bytes) {
  const auto *source = static_cast<const char *>(packed);
  auto *target = static_cast<char *>(weight);
  withSize(bytes, [&](auto size) {
    forEachElement(executor, n, k, [=](int64_t row, int64_t block) {
      std::memcpy(target + row * size, source + block * size, size);
    });
  });
}

static std::vector<int64_t> sizes(const Argument &argument) {
  std::vector<int64_t> result;
  for (const Dimension &dimension : argument.shape)
    result.push_back(dimension.size);
  return result;
}

/// A tensor of the file for a message, its type, shape and layout: "BF16[576,
/// 576] (n16k)".
static std::string describeFile(const SafetensorsFile::Tensor &tensor,
                                const std::string &layout) {
  std::string shape = describe(DType::F32, tensor.shape);
  return concat(tensor.fileDType, shape.substr(shape.find('[')), " (", layout,
                ")");
}

/// The layout in which the file holds a weight.
static std::string layoutOf(const SafetensorsFile &file,
                            const std::string &name) {
  const std::string *stored = file.metadata("layout." + name);
  return stored ? *stored : "row_major";
}

/// Rows that a layout keeps together in the first dimension.
static int64_t rowsTogether(const std::string &layout) {
  return layout == "row_major" ? 1 : 16;
}

/// Copies the rows of rank `rank` to `target`, in the file's layout, which
/// keeps `together` rows together.
static void copyShard(const SafetensorsFile::Tensor &tensor,
                      const WeightShard &shard, int rank, int64_t together,
                      void *target) {
  const auto *source = static_cast<const char *>(tensor.data);
  auto *to = static_cast<char *>(target);
  int64_t size = shard.size / together, held = shard.shard / together;
  size_t bytes = tensor.bytes / static_cast<size_t>(tensor.shape[0]);
  int64_t first = std::min(rank / shard.copies * held, size);
  size_t known = std::min(held, size - first) * bytes;
  for (int64_t run = 0; run < shard.runs; ++run, to += held * bytes) {
    std::memcpy(to, source + (run * size + first) * bytes, known);
    std::memset(to + known, 0, held * bytes - known);
  }
}

/// The elements of a tensor of the file in the order that the argument has.
static std::vector<char> reordered(Executor &executor,
                                   const SafetensorsFile::Tensor &tensor,
                                   const StoredForm &stored, size_t bytes) {
  std::vector<char> result(tensor.bytes);
  size_t rank = stored.shape.size();
  // Of each dimension of the result: its size, and the step in the file.
  std::vector<int64_t> steps(rank, 1), sizes(rank, 1), by(rank, 1);
  for (size_t d = rank; d-- > 1;)
    steps[d - 1] = steps[d] * stored.shape[d];
  for (size_t d = 0; d < rank; ++d) {
    sizes[d] = stored.shape[stored.order[d]];
    by[d] = steps[stored.order[d]];
  }
  int64_t inner = rank ? sizes[rank - 1] : 1, step = rank ? by[rank - 1] : 1;
  int64_t rows = static_cast<int64_t>(tensor.bytes / bytes) / inner;
  const auto *source = static_cast<const char *>(tensor.data);
  withSize(bytes, [&](auto size) {
    executor.forRange(rows, 64, [&](int64_t lo, int64_t hi) {
      for (int64_t row = lo; row < hi; ++row) {
        int64_t from = 0, rest = row;
        for (size_t d = rank - 1; d-- > 0; rest /= sizes[d])
          from += rest % sizes[d] * by[d];
        for (int64_t i = 0; i < inner; ++i)
          std::memcpy(result.data() + (row * inner + i) * size,
                      source + (from + i * step) * size, size);
      }
    });
  });
  return result;
}

/// Whether the file holds all weights in the layouts that the entries take.
static bool isAsStored(const Manifest &manifest, const SafetensorsFile &file) {
  for (const Entry &entry : manifest.entries)
    for (const Argument &argument : entry.inputs)
      if (argument.kind == ArgumentKind::Weight &&
          (argument.shard || argument.layout != layoutOf(file, argument.name)))
        return false;
  return true;
}

Expected<Weights>
Weights::load(const Manifest &manifest, const std::filesystem::path &path,
              const Device &device, FileMemory memory, int rank,
              Executor &executor,
              const std::function<void(std::string_view)> &log) {
  Expected<SafetensorsFile> opened = SafetensorsFile::open(path);
  if (!opened)
    return std::unexpected(opened.error());
  Expected<DeviceBackend *> backend = device.backend();
  if (!backend)
    return std::unexpected(backend.error());
  bool onHost = (*backend)->isHost();
  // A copy of what is repacked would only cost memory.
  if (onHost && memory == FileMemory::Copied && isAsStored(manifest, *opened)) {
    opened = SafetensorsFile::open(path, memory);
    if (!opened)
      return std::unexpected(opened.error());
  }
  Weights weights;
  weights.file = std::move(*opened);
  size_t packed = 0, packedBytes = 0, unpacked = 0, unpackedBytes = 0;

  auto bind = [&](const Argument &argument) -> Expected<void> {
    std::vector<int64_t> shape = sizes(argument);
    auto where = [&] {
      return concat(path.string(), ": weight ", argument.name, ": ");
    };
    auto wanted = [&] {
      return concat(describe(argument.dtype, shape), " (", argument.layout,
                    ")");
    };
    auto key = std::pair(argument.name, argument.layout);
    if (auto it = weights.views.find(key); it != weights.views.end()) {
      KvTensorView same = makeView(nullptr, argument.dtype, shape);
      if (describe(same) == describe(it->second))
        return {};
      return makeError(KV_STATUS_INVALID_ARGUMENT, where(), "one entry wants ",
                       describe(it->second), ", another ", describe(same));
    }
    const SafetensorsFile::Tensor *tensor = weights.file->find(argument.name);
    if (!tensor)
      return makeError(KV_STATUS_INVALID_ARGUMENT, where(),
                       "not in the file; the artifact wants ", wanted());
    std::string layout = layoutOf(*weights.file, argument.name);
    bool pack = layout == "row_major" && argument.layout == "n16k";
    bool unpack = layout == "n16k" && argument.layout == "row_major" &&
                  shape.size() == 2 && shape[0] % 16 == 0;
    std::vector<int64_t> expected =
        pack     ? std::vector<int64_t>{shape[0] * 16, shape[1]}
        : unpack ? std::vector<int64_t>{shape[0] / 16, shape[1], 16}
                 : shape;
    int64_t together = rowsTogether(layout);
    if (argument.shard)
      expected[0] = argument.shard->runs * argument.shard->size / together;
    bool reorder = argument.stored && layout == "row_major";
    if (reorder)
      expected = argument.stored->shape;
    if (argument.shard && argument.shard->shard % together != 0)
      return makeError(KV_STATUS_INVALID_ARGUMENT, where(), "the file holds ",
                       describeFile(*tensor, layout), ", a rank's shard has ",
                       argument.shard->shard, " rows: no multiple of 16");
    if (tensor->dtype != argument.dtype || tensor->shape != expected ||
        (layout != argument.layout && !pack && !unpack))
      return makeError(
          KV_STATUS_INVALID_ARGUMENT, where(), "the file holds ",
          describeFile(*tensor, layout), ", the artifact wants ", wanted(),
          pack || reorder ? concat(" or ", describe(argument.dtype, expected),
                                   " (row_major)")
                          : "");

    size_t elementBytes = dtypeBytes(argument.dtype);
    bool repack = pack || unpack;
    size_t bytes = elementBytes;
    for (int64_t size : shape)
      bytes *= static_cast<size_t>(size);
    weights.total += bytes;
    bool aligned =
        reinterpret_cast<uintptr_t>(tensor->data) % elementBytes == 0;
    if (aligned && onHost && !repack && !argument.shard && !reorder) {
      // The file's memory may be read-only; entries only read weights.
      weights.views[key] =
          makeView(const_cast<void *>(tensor->data), argument.dtype, shape);
      return {};
    }
    Expected<Buffer> copy = Buffer::create(device, argument.dtype, shape);
    if (!copy)
      return makeError(copy.error().code, where(), copy.error().message);
    if (onHost && !repack && argument.shard) {
      copyShard(*tensor, *argument.shard, rank, together, copy->data());
      weights.views[key] = copy->view();
      weights.copies.push_back(std::move(*copy));
      return {};
    }
    std::vector<char> own(argument.shard ? bytes : 0);
    if (argument.shard)
      copyShard(*tensor, *argument.shard, rank, together, own.data());
    else if (reorder)
      own = reordered(executor, *tensor, *argument.stored, elementBytes);
    // A weight for a device's memory is packed or unpacked on the host, and
    // then copied.
    const void *source = own.empty() ? tensor->data : own.data();
    std::vector<char> repacked(!onHost && repack ? bytes : 0);
    void *target = repacked.empty() ? copy->data() : repacked.data();
    if (pack) {
      packN16K(executor, source, target, shape[0] * 16, shape[1], elementBytes);
      ++packed;
      packedBytes += bytes;
    } else if (unpack) {
      unpackN16K(executor, source, target, shape[0], shape[1], elementBytes);
      ++unpacked;
      unpackedBytes += bytes;
    }
    if (!repacked.empty())
      source = repacked.data();
    if ((!onHost || !repack) && bytes) {
      (*backend)->copyToDevice(copy->data(), source, bytes);
      // The copy may still be queued when its source is gone.
      if (!own.empty() || !repacked.empty())
        if (Expected<void> done = (*backend)->synchronize(); !done)
          return done;
    }
    weights.views[key] = copy->view();
    weights.copies.push_back(std::move(*copy));
    return {};
  };

  for (const Entry &entry : manifest.entries)
    for (const Argument &argument : entry.inputs)
      if (argument.kind == ArgumentKind::Weight)
        if (Expected<void> bound = bind(argument); !bound)
          return std::unexpected(bound.error());
  if (packed && log)
    log(concat(path.string(), ": ", packed, " row-major weights (", packedBytes,
               " bytes) were packed to n16k at load; a file that "
               "stores them packed loads faster"));
  if (unpacked && log)
    log(concat(path.string(), ": ", unpacked, " packed weights (",
               unpackedBytes,
               " bytes) were unpacked to row_major at load; a file that "
               "stores them row-major loads faster"));
  // Waits for the queued copies, so that the caller may destroy the result,
  // with the file and the buffers, at any time.
  if (Expected<void> done = (*backend)->synchronize(); !done)
    return std::unexpected(done.error());
  return weights;
}

const KvTensorView *Weights::find(const Argument &weight) const {
  auto it = views.find({weight.name, weight.layout});
  return it == views.end() ? nullptr : &it->second;
}
