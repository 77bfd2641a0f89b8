//===- Weights.cpp - Weights as the entries want them ---------------------===//

#include "Weights.h"

#include <cstring>

using namespace kv;

template <class T>
static void packBlocks(const unsigned char *weight, T *packed, int64_t k,
                       int64_t lo, int64_t hi) {
  for (int64_t block = lo; block < hi; ++block)
    for (int64_t lane = 0; lane < 16; ++lane) {
      const unsigned char *row =
          weight + size_t((block * 16 + lane) * k) * sizeof(T);
      T *target = packed + block * k * 16 + lane;
      for (int64_t i = 0; i < k; ++i)
        std::memcpy(target + i * 16, row + i * sizeof(T), sizeof(T));
    }
}

void kv::packN16K(Executor &executor, const void *weight, void *packed,
                  int64_t n, int64_t k, size_t bytes) {
  const auto *source = static_cast<const unsigned char *>(weight);
  executor.forRange(n / 16, 1, [&](int64_t lo, int64_t hi) {
    switch (bytes) {
    case 1:
      return packBlocks(source, static_cast<uint8_t *>(packed), k, lo, hi);
    case 2:
      return packBlocks(source, static_cast<uint16_t *>(packed), k, lo, hi);
    case 4:
      return packBlocks(source, static_cast<uint32_t *>(packed), k, lo, hi);
    default:
      return packBlocks(source, static_cast<uint64_t *>(packed), k, lo, hi);
    }
  });
}

static std::vector<int64_t> sizes(const Argument &argument) {
  std::vector<int64_t> result;
  for (const Dimension &dimension : argument.shape)
    result.push_back(dimension.size);
  return result;
}

/// What the file holds, for a message: "BF16[576, 576] (n16k)".
static std::string describeFile(const SafetensorsFile::Tensor &tensor,
                                const std::string &layout) {
  std::string shape = describe(DType::F32, tensor.shape);
  return concat(tensor.fileDType, shape.substr(shape.find('[')), " (", layout,
                ")");
}

Expected<Weights>
Weights::load(const Manifest &manifest, const std::filesystem::path &path,
              const Device &device, Executor &executor,
              const std::function<void(std::string_view)> &log) {
  Expected<SafetensorsFile> opened = SafetensorsFile::open(path);
  if (!opened)
    return std::unexpected(opened.error());
  Weights weights;
  weights.file = std::move(*opened);
  size_t packed = 0, packedBytes = 0;

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
    const std::string *stored =
        weights.file->metadata("layout." + argument.name);
    std::string layout = stored ? *stored : "row_major";
    bool pack = layout == "row_major" && argument.layout == "n16k";
    std::vector<int64_t> expected =
        pack ? std::vector<int64_t>{shape[0] * 16, shape[1]} : shape;
    if (tensor->dtype != argument.dtype || tensor->shape != expected ||
        (layout != argument.layout && !pack))
      return makeError(KV_STATUS_INVALID_ARGUMENT, where(), "the file holds ",
                       describeFile(*tensor, layout), ", the artifact wants ",
                       wanted(),
                       pack ? concat(" or ", describe(argument.dtype, expected),
                                     " (row_major)")
                            : "");

    size_t elementBytes = dtypeBytes(argument.dtype);
    weights.total += tensor->bytes;
    bool aligned =
        reinterpret_cast<uintptr_t>(tensor->data) % elementBytes == 0;
    if (aligned && !pack) {
      // Entries only read weights; the mapping is read-only.
      weights.views[key] =
          makeView(const_cast<void *>(tensor->data), argument.dtype, shape);
      return {};
    }
    Expected<Buffer> copy = Buffer::create(device, argument.dtype, shape);
    if (!copy)
      return makeError(copy.error().code, where(), copy.error().message);
    if (pack) {
      packN16K(executor, tensor->data, copy->data(), expected[0], expected[1],
               elementBytes);
      ++packed;
      packedBytes += tensor->bytes;
    } else if (tensor->bytes) {
      std::memcpy(copy->data(), tensor->data, tensor->bytes);
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
    log(concat("note: ", path.string(), ": ", packed, " row-major weights (",
               packedBytes,
               " bytes) were packed to n16k at load; a file that "
               "stores them packed loads faster"));
  return weights;
}

const KvTensorView *Weights::find(const Argument &weight) const {
  auto it = views.find({weight.name, weight.layout});
  return it == views.end() ? nullptr : &it->second;
}
