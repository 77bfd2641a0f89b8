//===- Safetensors.cpp - Weights files, mapped ----------------------------===//
//
// The format: 8 bytes with the length n of the header, little-endian; n bytes
// of header, a JSON object {name: {dtype, shape, data_offsets: [begin, end]}}
// with an optional object __metadata__ of strings; then the data. Offsets are
// bytes from the beginning of the data.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Session/Safetensors.h"
#include "runtime/base/JsonFields.h"
#include "runtime/base/MappedFile.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace kv;
using nlohmann::json;

struct SafetensorsFile::State {
  std::filesystem::path path;
  MappedFile file;
  std::vector<Tensor> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

namespace {

/// Bytes; the limit of the reference implementation.
constexpr uint64_t MaxHeaderBytes = 100'000'000;

struct FileType {
  std::string_view name;
  unsigned bits;
  std::optional<DType> dtype;
};

constexpr FileType FileTypes[] = {
    {"F64", 64, std::nullopt},
    {"F32", 32, DType::F32},
    {"F16", 16, DType::F16},
    {"BF16", 16, DType::BF16},
    {"F8_E4M3", 8, DType::F8E4M3FN},
    {"F8_E5M2", 8, DType::F8E5M2},
    {"F8_E8M0", 8, DType::F8E8M0FNU},
    {"I64", 64, DType::I64},
    {"I32", 32, DType::I32},
    {"I16", 16, std::nullopt},
    {"I8", 8, DType::I8},
    {"U64", 64, std::nullopt},
    {"U32", 32, std::nullopt},
    {"U16", 16, std::nullopt},
    {"U8", 8, std::nullopt},
    {"BOOL", 8, std::nullopt},
};

void readTensor(JsonFields &fields, const json &object,
                std::span<const std::byte> data,
                SafetensorsFile::Tensor &tensor) {
  std::string where = concat("tensor ", tensor.name, ": ");
  if (!object.is_object())
    return fields.fail(where, "its description is no object");
  tensor.fileDType = fields.text(object, where, "dtype");
  const json *shape = fields.find(object, where, "shape");
  const json *offsets = fields.find(object, where, "data_offsets");
  if (!shape || !offsets)
    return;
  if (!shape->is_array())
    return fields.fail(where, "shape is ", printJson(*shape),
                       ", expected an array");
  uint64_t elements = 1;
  for (const json &element : *shape) {
    std::optional<int64_t> size = asInteger(element);
    if (!size || *size < 0 ||
        __builtin_mul_overflow(elements, uint64_t(*size), &elements))
      return fields.fail(where, "shape is ", printJson(*shape),
                         ", expected sizes");
    tensor.shape.push_back(*size);
  }
  std::optional<int64_t> begin, end;
  if (offsets->is_array() && offsets->size() == 2) {
    begin = asInteger((*offsets)[0]);
    end = asInteger((*offsets)[1]);
  }
  if (!begin || !end || *begin < 0 || *begin > *end ||
      uint64_t(*end) > data.size())
    return fields.fail(where, "data_offsets is ", printJson(*offsets),
                       ", the file holds ", data.size(), " bytes of data");
  tensor.data = data.data() + *begin;
  tensor.bytes = uint64_t(*end) - uint64_t(*begin);

  auto type = std::find_if(
      std::begin(FileTypes), std::end(FileTypes),
      [&](const FileType &t) { return t.name == tensor.fileDType; });
  if (type == std::end(FileTypes))
    return; // a newer type: an error only if an entry wants the tensor
  tensor.dtype = type->dtype;
  uint64_t bytes;
  if (__builtin_mul_overflow(elements, uint64_t(type->bits / 8), &bytes) ||
      bytes != tensor.bytes)
    fields.fail(where, "its type ", tensor.fileDType, " and shape ",
                printJson(*shape), " do not make ", tensor.bytes, " bytes");
}

} // namespace

Expected<SafetensorsFile>
SafetensorsFile::open(const std::filesystem::path &path, FileMemory memory) {
  Expected<MappedFile> file = MappedFile::open(path, memory);
  if (!file)
    return std::unexpected(file.error());
  std::span<const std::byte> bytes = file->bytes();
  JsonFields fields(path.string());

  uint64_t length = 0;
  if (bytes.size() < sizeof(length))
    return makeError(KV_STATUS_INVALID_ARGUMENT, path.string(),
                     ": not a safetensors file: ", bytes.size(), " bytes");
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > MaxHeaderBytes)
    return makeError(KV_STATUS_INVALID_ARGUMENT, path.string(),
                     ": not a safetensors file: it would have a header of ",
                     length, " bytes");
  if (length > bytes.size() - sizeof(length))
    return makeError(KV_STATUS_INVALID_ARGUMENT, path.string(),
                     ": cut off: a header of ", length, " bytes in a file of ",
                     bytes.size());
  Expected<json> header =
      parseObject(file->text().substr(sizeof(length), length));
  if (!header)
    return makeError(KV_STATUS_INVALID_ARGUMENT, path.string(),
                     ": not a safetensors file: the header ",
                     header.error().message);

  auto state = std::make_shared<State>();
  state->path = path;
  std::span<const std::byte> data = bytes.subspan(sizeof(length) + length);
  for (const auto &[name, value] : header->items()) {
    if (name == "__metadata__") {
      if (!value.is_object())
        fields.fail("__metadata__ is no object");
      else
        for (const auto &[key, element] : value.items())
          state->metadata[key] =
              element.is_string() ? element.get<std::string>() : element.dump();
      continue;
    }
    Tensor tensor;
    tensor.name = name;
    readTensor(fields, value, data, tensor);
    state->tensors.push_back(std::move(tensor));
  }
  if (fields.failed())
    return std::unexpected(*fields.firstError());
  std::sort(state->tensors.begin(), state->tensors.end(),
            [](const Tensor &a, const Tensor &b) { return a.name < b.name; });
  state->file = std::move(*file); // does not move the mapping
  SafetensorsFile result;
  result.state = std::move(state);
  return result;
}

std::span<const SafetensorsFile::Tensor> SafetensorsFile::tensors() const {
  return state->tensors;
}

const SafetensorsFile::Tensor *
SafetensorsFile::find(std::string_view name) const {
  auto it = std::lower_bound(
      state->tensors.begin(), state->tensors.end(), name,
      [](const Tensor &a, std::string_view b) { return a.name < b; });
  return it != state->tensors.end() && it->name == name ? &*it : nullptr;
}

const std::string *SafetensorsFile::metadata(std::string_view key) const {
  auto it = state->metadata.find(key);
  return it == state->metadata.end() ? nullptr : &it->second;
}

const std::filesystem::path &SafetensorsFile::path() const {
  return state->path;
}
