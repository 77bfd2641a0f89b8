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

/// Copies the elements of a tensor of the file, of `bytes` bytes, to `target`,
/// in the order that the argument has.
static void copyReordered(Executor &executor,
                          const SafetensorsFile::Tensor &tensor,
                          const StoredForm &stored, size_t bytes,
                          void *target) {
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
  auto *to = static_cast<char *>(target);
  withSize(bytes, [&](auto size) {
    executor.forRange(rows, 64, [&](int64_t lo, int64_t hi) {
      for (int64_t row = lo; row < hi; ++row) {
        int64_t from = 0, rest = row;
        for (size_t d = rank - 1; d-- > 0; rest /= sizes[d])
          from += rest % sizes[d] * by[d];
        for (int64_t i = 0; i < inner; ++i)
          std::memcpy(to + (row * inner + i) * size,
                      source + (from + i * step) * size, size);
      }
    });
  });
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

namespace {
/// How the weight of an argument is made from the tensor of a file.
struct Form {
  std::string layout;            // in the file
  std::vector<int64_t> expected; // shape there
  int64_t together;              // rows that the layout keeps together
  bool pack, unpack, reorder, cut;

  Form(const Argument &argument, std::string held)
      : layout(std::move(held)), expected(sizes(argument)),
        together(rowsTogether(layout)),
        pack(layout == "row_major" && argument.layout == "n16k"),
        unpack(layout == "n16k" && argument.layout == "row_major" &&
               expected.size() == 2 && expected[0] % 16 == 0),
        reorder(argument.stored && layout == "row_major"),
        cut(argument.shard.has_value()) {
    if (pack)
      expected = {expected[0] * 16, expected[1]};
    else if (unpack)
      expected = {expected[0] / 16, expected[1], 16};
    if (cut)
      expected[0] = argument.shard->runs * argument.shard->size / together;
    if (reorder)
      expected = argument.stored->shape;
  }

  bool repacks() const { return pack || unpack; }
  bool isAsStored() const { return !repacks() && !reorder && !cut; }
};
} // namespace

/// Loads the weights of one file.
struct Weights::Loader {
  const std::filesystem::path &path;
  const Device &device;
  DeviceBackend &backend;
  int rank;
  Executor &executor;
  Weights &weights;
  struct Tally {
    size_t weights = 0, bytes = 0;
  } packed = {}, unpacked = {};

  Expected<void> bind(const Argument &argument);
  Expected<void> fill(Buffer &copy, const Argument &argument,
                      const SafetensorsFile::Tensor &tensor, const Form &form);
};

Expected<void> Weights::Loader::bind(const Argument &argument) {
  auto invalid = [&](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, path.string(), ": weight ",
                     argument.name, ": ", parts...);
  };
  std::string wanted = concat(describe(argument.dtype, sizes(argument)), " (",
                              argument.layout, ")");
  auto key = std::pair(argument.name, argument.layout);
  if (auto it = weights.views.find(key); it != weights.views.end()) {
    KvTensorView same = makeView(nullptr, argument.dtype, sizes(argument));
    if (describe(same) == describe(it->second))
      return {};
    return invalid("one entry wants ", describe(it->second), ", another ",
                   describe(same));
  }
  const SafetensorsFile::Tensor *tensor = weights.file->find(argument.name);
  if (!tensor)
    return invalid("not in the file; the artifact wants ", wanted);
  Form form(argument, layoutOf(*weights.file, argument.name));
  if (form.cut && argument.shard->shard % form.together != 0)
    return invalid("the file holds ", describeFile(*tensor, form.layout),
                   ", a rank's shard has ", argument.shard->shard,
                   " rows: no multiple of 16");
  if (tensor->dtype != argument.dtype || tensor->shape != form.expected ||
      (form.layout != argument.layout && !form.repacks()))
    return invalid("the file holds ", describeFile(*tensor, form.layout),
                   ", the artifact wants ", wanted,
                   form.pack || form.reorder
                       ? concat(" or ", describe(argument.dtype, form.expected),
                                " (row_major)")
                       : "");
  size_t elementBytes = dtypeBytes(argument.dtype);
  bool aligned = reinterpret_cast<uintptr_t>(tensor->data) % elementBytes == 0;
  if (aligned && backend.isHost() && form.isAsStored()) {
    // The file's memory may be read-only; entries only read weights.
    weights.views[key] = makeView(const_cast<void *>(tensor->data),
                                  argument.dtype, sizes(argument));
    weights.total += tensor->bytes;
    return {};
  }
  Expected<Buffer> copy =
      Buffer::create(device, argument.dtype, sizes(argument));
  if (!copy)
    return makeError(copy.error().code, path.string(), ": weight ",
                     argument.name, ": ", copy.error().message);
  weights.views[key] = copy->view();
  weights.copies.push_back(std::move(*copy));
  return fill(weights.copies.back(), argument, *tensor, form);
}

/// Each change writes to memory of its own, the last one to the copy itself
/// where the host can write it.
Expected<void> Weights::Loader::fill(Buffer &copy, const Argument &argument,
                                     const SafetensorsFile::Tensor &tensor,
                                     const Form &form) {
  std::vector<int64_t> shape = sizes(argument);
  size_t elementBytes = dtypeBytes(argument.dtype), bytes = elementBytes;
  for (int64_t size : shape)
    bytes *= static_cast<size_t>(size);
  weights.total += bytes;
  const void *source = tensor.data;
  std::vector<std::vector<char>> staged;
  auto targetOf = [&](bool isLast) -> void * {
    return isLast && backend.isHost() ? copy.data()
                                      : staged.emplace_back(bytes).data();
  };
  if (form.cut || form.reorder) {
    void *target = targetOf(!form.repacks());
    if (form.cut)
      copyShard(tensor, *argument.shard, rank, form.together, target);
    else
      copyReordered(executor, tensor, *argument.stored, elementBytes, target);
    source = target;
  }
  if (form.repacks()) {
    void *target = targetOf(/*isLast=*/true);
    int64_t n = form.pack ? shape[0] * 16 : shape[0];
    (form.pack ? packN16K : unpackN16K)(executor, source, target, n, shape[1],
                                        elementBytes);
    Tally &tally = form.pack ? packed : unpacked;
    ++tally.weights;
    tally.bytes += bytes;
    source = target;
  }
  if (source == copy.data() || bytes == 0)
    return {};
  backend.copyToDevice(copy.data(), source, bytes);
  // The copy may still be queued when its source is gone.
  return staged.empty() ? Expected<void>() : backend.synchronize();
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
  // A copy of what is repacked would only cost memory.
  if ((*backend)->isHost() && memory == FileMemory::Copied &&
      isAsStored(manifest, *opened)) {
    opened = SafetensorsFile::open(path, memory);
    if (!opened)
      return std::unexpected(opened.error());
  }
  Weights weights;
  weights.file = std::move(*opened);
  Loader loader = {path, device, **backend, rank, executor, weights};
  for (const Entry &entry : manifest.entries)
    for (const Argument &argument : entry.inputs)
      if (argument.kind == ArgumentKind::Weight)
        if (Expected<void> bound = loader.bind(argument); !bound)
          return std::unexpected(bound.error());
  auto say = [&](Loader::Tally done, std::string_view from, std::string_view to,
                 std::string_view better) {
    if (done.weights && log)
      log(concat(path.string(), ": ", done.weights, " ", from, " weights (",
                 done.bytes, " bytes) were ", to,
                 " at load; a file that stores them ", better,
                 " loads faster"));
  };
  say(loader.packed, "row-major", "packed to n16k", "packed");
  say(loader.unpacked, "packed", "unpacked to row_major", "row-major");
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
