//===- ImageParameters.cpp - Where a kernel's image has its arguments -----===//

#include "ImageParameters.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>

using namespace kv::cuda;

namespace {

/// Attributes of .nv.info: a format, a number, and in most formats a value of
/// 16 bits, or its size.
struct Attribute {
  uint8_t format, number;
  uint16_t value;
};
constexpr uint8_t SizedFormat = 4;
enum : uint8_t { ParameterBank = 0x0a, ParameterInfo = 0x17 };

/// The value of ParameterInfo.
struct ParameterRecord {
  uint32_t index;
  uint16_t ordinal, offset;
  uint32_t flagsAndBytes; // bytes from bit 18 on
};
/// The value of ParameterBank.
struct BankRecord {
  uint32_t symbol;
  uint16_t offset, bytes;
};

template <class T> bool read(std::span<const char> bytes, size_t at, T &value) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T))
    return false;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return true;
}

std::span<const char> within(std::span<const char> bytes, size_t offset,
                             size_t count) {
  if (offset > bytes.size() || bytes.size() - offset < count)
    return {};
  return bytes.subspan(offset, count);
}

void readAttributes(std::span<const char> info, ImageKernel &kernel) {
  Attribute attribute;
  for (size_t at = 0; read(info, at, attribute);) {
    at += sizeof(Attribute);
    if (attribute.format != SizedFormat)
      continue;
    ParameterRecord parameter;
    BankRecord bank;
    if (attribute.number == ParameterInfo && read(info, at, parameter))
      kernel.parameters.push_back(
          {parameter.offset, parameter.flagsAndBytes >> 18});
    if (attribute.number == ParameterBank && read(info, at, bank))
      kernel.spaceOffset = bank.offset;
    at += attribute.value;
  }
}

constexpr std::string_view InfoSection = ".nv.info.";

} // namespace

std::vector<ImageKernel> kv::cuda::readImage(std::span<const char> cubin) {
  std::vector<ImageKernel> kernels;
  Elf64_Ehdr header;
  Elf64_Shdr section, names;
  if (!read(cubin, 0, header) ||
      !read(cubin, header.e_shoff + header.e_shstrndx * sizeof(section), names))
    return kernels;
  std::span<const char> text = within(cubin, names.sh_offset, names.sh_size);
  for (int i = 0; i < header.e_shnum; ++i) {
    if (!read(cubin, header.e_shoff + i * sizeof(section), section) ||
        section.sh_name >= text.size())
      continue;
    std::string_view rest(text.data() + section.sh_name,
                          text.size() - section.sh_name);
    std::string_view name = rest.substr(0, rest.find('\0'));
    if (!name.starts_with(InfoSection))
      continue;
    ImageKernel &kernel = kernels.emplace_back();
    kernel.name = name.substr(InfoSection.size());
    readAttributes(within(cubin, section.sh_offset, section.sh_size), kernel);
  }
  return kernels;
}

std::string kv::cuda::problemOf(const ImageKernel &kernel,
                                ArgumentShape wanted) {
  auto differ = [](const std::string &image, uint64_t host) {
    return "its image has " + image + ", the host " + std::to_string(host);
  };
  size_t count = kernel.parameters.size();
  if (count != 1)
    return differ(std::to_string(count) + " arguments", 1);
  auto [offset, bytes] = kernel.parameters[0];
  if (bytes != wanted.bytes)
    return differ("an argument of " + std::to_string(bytes) + " bytes",
                  wanted.bytes);
  uint32_t mask = uint32_t(wanted.alignment) - 1;
  uint32_t aligned = ((kernel.spaceOffset + mask) & ~mask) - kernel.spaceOffset;
  if (offset != aligned)
    return differ("its argument at offset " + std::to_string(offset), aligned);
  return "";
}

int kv::cuda::checkImages(
    std::span<char *> paths,
    std::optional<ArgumentShape> (*find)(std::string_view)) {
  int status = 0;
  auto complain = [&](const char *path, const std::string &name,
                      const std::string &problem) {
    std::fprintf(stderr, "%s: %s%s%s\n", path, name.c_str(),
                 name.empty() ? "" : ": ", problem.c_str());
    status = 1;
  };
  for (const char *path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<ImageKernel> kernels = readImage(bytes);
    if (kernels.empty())
      complain(path, "", "there is no kernel in it");
    for (const ImageKernel &kernel : kernels) {
      std::optional<ArgumentShape> wanted = find(kernel.name);
      std::string problem =
          wanted ? problemOf(kernel, *wanted) : "the host knows no such kernel";
      if (!problem.empty())
        complain(path, kernel.name, problem);
    }
  }
  return status;
}
