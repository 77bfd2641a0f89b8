//===- KernelImages.cpp - Device code of an artifact ----------------------===//

#include "KernelImages.h"
#include "kv/ABI/KernelImages.h"
#include "runtime/base/ElfSection.h"

#include <cstring>

using namespace kv;

template <size_t N> static std::string text(const char (&field)[N]) {
  return std::string(field, strnlen(field, N));
}

/// Reads the section's rows. Returns what is wrong with it, or an empty text.
static std::string parse(std::string_view section,
                         std::vector<KernelImage> &images) {
  KvKernelImages header;
  if (section.size() < sizeof header)
    return concat("it has ", section.size(), " bytes, its header takes ",
                  sizeof header);
  std::memcpy(&header, section.data(), sizeof header);
  if (std::memcmp(header.magic, KV_KERNEL_IMAGES_MAGIC, sizeof header.magic))
    return "it does not begin with " KV_KERNEL_IMAGES_MAGIC;
  if (header.version != KV_KERNEL_IMAGES_VERSION)
    return concat("its version is ", header.version, ", expected ",
                  KV_KERNEL_IMAGES_VERSION);
  if (header.count > (section.size() - sizeof header) / sizeof(KvKernelImage))
    return concat("it has no room for ", header.count, " images");
  for (uint32_t i = 0; i < header.count; ++i) {
    KvKernelImage row;
    std::memcpy(&row, section.data() + sizeof header + i * sizeof row,
                sizeof row);
    if (row.offset > section.size() || row.bytes > section.size() - row.offset)
      return concat("image ", i, " (", text(row.name), ", ", text(row.chip),
                    ") lies outside of it");
    images.push_back({text(row.name), text(row.chip),
                      std::string(section.substr(row.offset, row.bytes))});
  }
  return {};
}

Expected<std::vector<KernelImage>>
kv::readKernelImages(const std::filesystem::path &artifact) {
  Expected<MappedFile> file = MappedFile::open(artifact);
  if (!file)
    return std::unexpected(file.error());
  Expected<std::string_view> section =
      findSection(*file, KV_KERNEL_IMAGES_SECTION, artifact.string());
  if (!section)
    return std::unexpected(section.error());
  std::vector<KernelImage> images;
  std::string problem = parse(*section, images);
  if (!problem.empty())
    return makeError(KV_STATUS_INVALID_ARGUMENT, artifact.string(),
                     ": section " KV_KERNEL_IMAGES_SECTION ": ", problem);
  return images;
}
