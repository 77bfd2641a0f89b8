//===- TensorMap.h - What a tile copy copies --------------------*- C++ -*-===//
//
// A tensor in global memory and the box of it that one instruction copies. A
// host describes it, the driver encodes that for the GPU; the fake driver keeps
// the description as it is, and the emulator copies by it.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_BLOCK_TENSORMAP_H
#define KV_KERNELS_BLOCK_TENSORMAP_H

#include "Tiles.h"
#include "kv/Definition/HostDevice.h"

#include <cstdint>
#include <cstring>

namespace kv::cuda {

/// A tensor map as cuTensorMapEncodeTiled writes it; a part of a kernel's
/// arguments. CUDA 13's type has this alignment, earlier ones' 64.
struct alignas(128) TensorMap {
  uint64_t words[16];
};

constexpr int TileDims = 4;

/// Coordinates of a box's first element, the nearest dimension first. Elements
/// outside of the tensor read as zeros.
struct TileAt {
  int32_t at[TileDims];
};

/// A tensor whose dimension 0 is contiguous.
struct TensorDescription {
  const void *data;               // a multiple of 16
  uint64_t sizes[TileDims];       // in elements
  uint64_t strides[TileDims - 1]; // of dimensions 1, 2, 3, in bytes
  uint32_t box[TileDims];         // in elements
  bool plain = false;             // not swizzled
  uint8_t elementBytes = 2;       // or 1, which kernels here do not use
};

/// A box lies in shared memory as rows of box[0] elements without gaps,
/// swizzled by 128 bytes unless it is to be plain.
constexpr int boxBytes(const TensorDescription &tensor) {
  int bytes = tensor.elementBytes;
  for (uint32_t size : tensor.box)
    bytes *= int(size);
  return bytes;
}

/// The reason why the driver refuses a description; null if it does not.
constexpr const char *problemOf(const TensorDescription &tensor) {
  for (uint64_t size : tensor.sizes)
    if (size == 0 || size > uint64_t(1) << 32)
      return "a size is not from 1 to 2^32";
  for (uint64_t stride : tensor.strides)
    if (stride % 16 != 0 || stride >= uint64_t(1) << 40)
      return "a stride is not a multiple of 16 bytes below 2^40";
  for (uint32_t size : tensor.box)
    if (size == 0 || size > 256)
      return "a box's size is not from 1 to 256";
  uint32_t row = tensor.box[0] * tensor.elementBytes;
  if (row % 16 != 0 || row > SlabRowBytes)
    return "a box's row is not a multiple of 16 bytes up to 128";
  return nullptr;
}

/// The byte of global memory, from `data` on, of an element of a box that
/// begins at `from`; negative where there is none. Elements of a box are
/// numbered as they lie.
constexpr int64_t boxElement(const TensorDescription &tensor,
                             const TileAt &from, int index) {
  int64_t place = 0;
  bool exists = true;
  for (int d = 0; d < TileDims; ++d) {
    int64_t at = int64_t(from.at[d]) + index % int(tensor.box[d]);
    index /= int(tensor.box[d]);
    exists &= at >= 0 && uint64_t(at) < tensor.sizes[d];
    place += at * int64_t(d ? tensor.strides[d - 1] : tensor.elementBytes);
  }
  return exists ? place : -1;
}

/// How the emulator finds a description where a GPU has what a driver encoded.
constexpr uint64_t DescriptionMark = 0x6b762d74696c6573;
struct alignas(128) DescribedMap {
  uint64_t mark;
  TensorDescription tensor;
};
static_assert(sizeof(DescribedMap) == sizeof(TensorMap));
inline TensorMap describedMap(const TensorDescription &tensor) {
  DescribedMap described{DescriptionMark, tensor};
  TensorMap map;
  std::memcpy(&map, &described, sizeof(map));
  return map;
}

} // namespace kv::cuda

#endif // KV_KERNELS_BLOCK_TENSORMAP_H
