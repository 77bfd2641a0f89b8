//===- Arguments.cpp - What a kernel is given -----------------------------===//

#include "Arguments.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

using namespace kv::ptx;

namespace {

bool readFile(const std::string &file, std::vector<char> &bytes) {
  std::ifstream stream(file, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(stream), {});
  return bool(stream);
}

template <class T> bool readNumber(const std::string &text, std::string &out) {
  T value{};
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  out.assign(reinterpret_cast<const char *>(&value), sizeof(value));
  return error == std::errc() && stop == end;
}

using Reader = bool (*)(const std::string &, std::string &);
const std::unordered_map<std::string, Reader> Numbers = {
    {"s8", readNumber<int8_t>},    {"s16", readNumber<int16_t>},
    {"s32", readNumber<int32_t>},  {"s64", readNumber<int64_t>},
    {"u8", readNumber<uint8_t>},   {"u16", readNumber<uint16_t>},
    {"u32", readNumber<uint32_t>}, {"u64", readNumber<uint64_t>},
    {"f32", readNumber<float>},    {"f64", readNumber<double>}};

/// "64x256" as numbers, the first of which is of what lies together.
std::vector<uint64_t> readSizes(const std::string &text) {
  std::vector<uint64_t> sizes;
  std::istringstream stream(text);
  for (std::string each, word; std::getline(stream, each, 'x');) {
    if (!readNumber<uint64_t>(each, word))
      return {};
    std::memcpy(&sizes.emplace_back(), word.data(), sizeof(uint64_t));
  }
  return sizes;
}

} // namespace

std::string Arguments::addTiles(std::string rest, std::string &value) {
  size_t first = rest.find(':'), second = rest.find(':', first + 1),
         third = rest.find(':', second + 1);
  std::vector<uint64_t> sizes = readSizes(rest.substr(0, first)), box;
  if (third != rest.npos)
    box = readSizes(rest.substr(first + 1, second - first - 1));
  if (box.size() != sizes.size() || box.empty() || box.size() > cuda::TileDims)
    return "is given tiles:" + rest + ", allowed: " + Allowed;
  std::string kind = rest.substr(second + 1, third - second - 1);
  if (std::string wrong = addMemory(kind, rest.substr(third + 1), value);
      !wrong.empty())
    return wrong;
  const std::vector<char> &bytes = memories.back().bytes;
  cuda::TensorDescription tensor{bytes.data(), {}, {}, {}};
  uint64_t elements = 1;
  for (int d = 0; d < cuda::TileDims; ++d) {
    tensor.sizes[d] = d < int(sizes.size()) ? sizes[d] : 1;
    // More than a box may have stays more.
    tensor.box[d] = d < int(box.size())
                        ? uint32_t(std::min<uint64_t>(box[d], UINT32_MAX))
                        : 1;
    elements *= tensor.sizes[d];
  }
  tensor.elementBytes = elements ? uint8_t(bytes.size() / elements) : 0;
  for (uint64_t d = 1, stride = tensor.elementBytes; d < cuda::TileDims; ++d)
    tensor.strides[d - 1] = stride *= tensor.sizes[d - 1];
  if (tensor.elementBytes * elements != bytes.size() ||
      (tensor.elementBytes != 1 && tensor.elementBytes != 2))
    return "has " + std::to_string(bytes.size()) + " bytes for " +
           std::to_string(elements) + " elements, allowed: 1 or 2 for each";
  if (const char *problem = cuda::problemOf(tensor))
    return std::string("is a tensor map that no driver takes: ") + problem;
  cuda::TensorMap map = cuda::describedMap(tensor);
  value.assign(reinterpret_cast<const char *>(&map), sizeof(map));
  return "";
}

std::string Arguments::addMemory(const std::string &kind, std::string rest,
                                 std::string &value) {
  Memory &memory = memories.emplace_back();
  if (kind != "in" && kind != "inout" && kind != "out")
    return "is given " + kind + ":" + rest + ", allowed: " + Allowed;
  if (kind == "out") {
    size_t colon = rest.find(':'), size = 0;
    std::string word;
    if (colon == rest.npos ||
        !readNumber<uint64_t>(rest.substr(0, colon), word))
      return "is given " + kind + ":" + rest + ", allowed: " + Allowed;
    std::memcpy(&size, word.data(), sizeof(size));
    if (size == 0 || size > uint64_t(1) << 32)
      return "is of " + std::to_string(size) + " bytes, allowed: 1 to 2^32";
    memory.bytes.assign(size, char(0xff));
    memory.file = rest.substr(colon + 1);
  } else {
    if (!readFile(rest, memory.bytes))
      return "names the file " + rest + ", which cannot be read";
    memory.file = kind == "inout" ? rest : "";
  }
  const char *address = memory.bytes.data();
  value.assign(reinterpret_cast<const char *>(&address), sizeof(address));
  return "";
}

std::string Arguments::add(const std::string &text, const Kernel &kernel) {
  std::string who = "argument " + std::to_string(count + 1) + " ";
  if (count == kernel.parameters.size())
    return who + "is one too many: " + kernel.name + " has " +
           std::to_string(count) + " parameters";
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon),
              rest = colon == text.npos ? "" : text.substr(colon + 1), value;
  if (auto number = Numbers.find(kind); number != Numbers.end()) {
    if (!number->second(rest, value))
      return who + "is given " + text + ": '" + rest + "' is no " + kind;
  } else if (kind == "bytes") {
    std::vector<char> read;
    if (!readFile(rest, read))
      return who + "names the file " + rest + ", which cannot be read";
    value.assign(read.begin(), read.end());
  } else if (kind == "tiles") {
    if (std::string wrong = addTiles(rest, value); !wrong.empty())
      return who + wrong;
  } else if (kind == "in" || kind == "inout" || kind == "out") {
    if (std::string wrong = addMemory(kind, rest, value); !wrong.empty())
      return who + wrong;
  } else {
    return who + "is given " + text + ", allowed: " + Allowed;
  }
  const Variable &parameter = kernel.parameters[count++];
  if (value.size() != parameter.bytes)
    return who + "has " + std::to_string(value.size()) +
           " bytes; the parameter '" + parameter.name + "' has " +
           std::to_string(parameter.bytes);
  bytes.resize(kernel.parameterBytes);
  std::copy(value.begin(), value.end(), bytes.begin() + parameter.offset);
  return "";
}

void Arguments::allow(cuda::GlobalMemory &memory) const {
  for (const Memory &each : memories)
    memory.allow(each.bytes.data(), each.bytes.size(),
                 each.file.empty() ? cuda::Access::Read : cuda::Access::Write);
}

std::string Arguments::save() const {
  for (const Memory &each : memories)
    if (!each.file.empty()) {
      std::ofstream stream(each.file, std::ios::binary);
      stream.write(each.bytes.data(), std::streamsize(each.bytes.size()));
      if (!stream.flush())
        return each.file;
    }
  return "";
}
