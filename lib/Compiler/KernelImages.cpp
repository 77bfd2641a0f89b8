//===- KernelImages.cpp - Device code of an artifact ----------------------===//

#include "KernelImages.h"

#include "kv/ABI/DeviceKernels.h"
#include "kv/ABI/KernelImages.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace llvm;
namespace kernels = kv::kernels;

/// The PTX that drivers translate for chips without an image.
constexpr StringLiteral kPtxChip = "compute_80";

/// The chips that the folder has files of an image for, such as "sm_80,
/// sm_90a".
static std::string chipsOf(StringRef folder, StringRef image) {
  std::set<std::string> chips;
  std::error_code code;
  for (sys::fs::directory_iterator file(folder, code), end;
       file != end && !code; file.increment(code)) {
    StringRef name = sys::path::filename(file->path());
    if (name.consume_front((image + ".").str()) && name.consume_back(".cubin"))
      chips.insert(name.str());
  }
  return chips.empty() ? "none" : join(chips, ", ");
}

/// Whether a folder has PTX: a build for a few chips alone has none.
static bool hasPtx(StringRef folder) {
  SmallString<256> path(folder);
  sys::path::append(path,
                    StringRef(kernels::MoversImage) + "." + kPtxChip + ".ptx");
  return sys::fs::exists(path);
}

/// Why no kernel of a chip makes products of 8 bits, if one of another does.
static std::string whyNotOn(StringRef chip) {
  for (const kernels::TileKernel &row : kernels::TileKernels)
    if (row.eightBitProducts && row.chip == std::string_view(chip))
      return ", whose kernels take pages of a multiple of " +
             std::to_string(row.pageTokens) + " tokens";
  return chip == "sm_80" ? ", which multiplies no 8 bits" : "";
}

/// An error where an image is of a kernel with products of 8 bits and a chip
/// has none: nothing else computes the same.
static Error checkProducts(ArrayRef<StringRef> images,
                           ArrayRef<StringRef> chips) {
  if (none_of(images, kernels::eightBitKernel))
    return Error::success();
  for (StringRef chip : chips)
    if (none_of(images, [&](StringRef image) {
          const kernels::TileKernel *row = kernels::eightBitKernel(image);
          return row && row->chip == std::string_view(chip);
        }))
      return createStringError("an attention has products of f8E4M3FN, which "
                               "no kernel makes on " +
                               chip + whyNotOn(chip) +
                               ": there are kernels for " +
                               kernels::eightBitChips());
  return Error::success();
}

Expected<std::string> kv::collectKernelImages(StringRef folder,
                                              ArrayRef<StringRef> images,
                                              ArrayRef<StringRef> chips) {
  if (!sys::fs::is_directory(folder))
    return createStringError("no folder " + folder +
                             " with the kernels' device code: the wheel "
                             "kvmlir-cuda brings it, or a build that finds "
                             "nvcc; --kernels names another one");
  if (Error error = checkProducts(images, chips))
    return error;
  struct File {
    std::unique_ptr<MemoryBuffer> data;
    KvKernelImage row;
  };
  SmallVector<File> files;
  auto add = [&](StringRef image, StringRef chip, StringRef suffix) -> Error {
    SmallString<256> path(folder);
    sys::path::append(path, image + "." + chip + suffix);
    auto data = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!data)
      return createStringError("no device code " + path.str() +
                               ": for this kernel there is code for " +
                               chipsOf(folder, image));
    File file{std::move(*data), {}};
    if (image.size() >= sizeof(file.row.name) ||
        chip.size() >= sizeof(file.row.chip))
      return createStringError("the name " + image + " or " + chip +
                               " is too long for an artifact");
    copy(image, file.row.name);
    copy(chip, file.row.chip);
    files.push_back(std::move(file));
    return Error::success();
  };
  bool withPtx = hasPtx(folder);
  for (StringRef image : images) {
    if (kernels::isOptional(image)) {
      StringRef chip = kernels::onlyChipOf(image);
      if (is_contained(chips, chip))
        if (Error error = add(image, chip, ".cubin"))
          return error;
      continue;
    }
    for (StringRef chip : chips)
      if (Error error = add(image, chip, ".cubin"))
        return error;
    if (withPtx)
      if (Error error = add(image, kPtxChip, ".ptx"))
        return error;
  }

  KvKernelImages head = {
      {}, KV_KERNEL_IMAGES_VERSION, static_cast<uint32_t>(files.size())};
  copy(StringRef(KV_KERNEL_IMAGES_MAGIC), head.magic);
  uint64_t end = sizeof(head) + files.size() * sizeof(KvKernelImage);
  for (File &file : files) {
    file.row.offset = alignTo(end, 16);
    file.row.bytes = file.data->getBufferSize();
    end = file.row.offset + file.row.bytes;
  }
  std::string section(end, '\0');
  char *row = section.data() + sizeof(head);
  std::memcpy(section.data(), &head, sizeof(head));
  for (const File &file : files) {
    std::memcpy(row, &file.row, sizeof(file.row));
    row += sizeof(file.row);
    copy(file.data->getBuffer(), section.data() + file.row.offset);
  }
  return section;
}
