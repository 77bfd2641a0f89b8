//===- Tiles.h - Tiles of shared memory and warpgroups ----------*- C++ -*-===//
//
// Where elements lie that tile copies write and wgmma reads, and which thread
// of a warpgroup holds which element, as the PTX ISA describes it. One set of
// functions says it for both: a kernel encodes a descriptor by them, and the
// emulator decodes it again.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_BLOCK_TILES_H
#define KV_KERNELS_BLOCK_TILES_H

#include "Layout.h"

namespace kv::cuda {

constexpr int GroupWarps = 4, GroupThreads = 128; // of a warpgroup

/// A slab has rows of 128 bytes without gaps; more columns of a matrix lie in
/// further slabs. Eight rows are an atom, within which chunks of sixteen bytes
/// are exchanged.
constexpr int SlabRowBytes = 128, AtomRows = 8,
              AtomBytes = SlabRowBytes * AtomRows;

/// Where the byte lies that would lie at `address` were nothing exchanged: the
/// chunk's number is exclusive-or'ed with the row's. Its own inverse.
/// Addresses are those of shared memory, so that an atom begins at a multiple
/// of AtomBytes.
KV_HD constexpr uint32_t swizzled(uint32_t address) {
  return address ^ (address >> 3 & 0x70u);
}

/// Which index of an operand of wgmma has neighbours in memory: the one that is
/// summed over, or the other, of A's rows or B's columns.
enum class Major { K, Other };

/// An operand of wgmma in shared memory, swizzled by 128 bytes. `stride` is
/// from an atom to the next along the index without neighbours. `leading` is
/// from a slab to the next along the one with neighbours; where that is K, a
/// product never leaves its slab and does not look at it.
struct Operand {
  uint32_t address; // of shared memory, a multiple of 16
  uint32_t leading;
  uint32_t stride;
};

/// An operand as an instruction takes it. A kernel adds the distance that it
/// moves on.
struct Descriptor {
  uint64_t bits;
  /// The operand `bytes` bytes after this one; a multiple of 16.
  KV_HD constexpr Descriptor behind(int bytes) const {
    // Only the lower half changes: addresses do not leave it.
    return {(bits & ~uint64_t(0xffffffff)) |
            uint32_t(uint32_t(bits) + uint32_t(bytes >> 4))};
  }
};

/// Bits 62 and 63 of a descriptor: swizzled by 128 bytes.
constexpr uint64_t DescriptorSwizzle = 1;

KV_HD constexpr Descriptor encode(Operand operand) {
  auto field = [](uint32_t bytes) { return uint64_t(bytes >> 4 & 0x3fffu); };
  return {field(operand.address) | field(operand.leading) << 16 |
          field(operand.stride) << 32 | DescriptorSwizzle << 62};
}
KV_HD constexpr Operand decode(Descriptor descriptor) {
  auto field = [&](int from) {
    return uint32_t(descriptor.bits >> from & 0x3fffu) << 4;
  };
  return {field(0), field(16), field(32)};
}
/// Whether decode() says all: the swizzle is the one above, and atoms begin at
/// multiples of their size.
KV_HD constexpr bool isUnderstood(Descriptor descriptor) {
  return descriptor.bits >> 62 == DescriptorSwizzle &&
         (descriptor.bits >> 49 & 7) == 0 &&
         descriptor.bits == encode(decode(descriptor)).bits;
}

/// Where an element of 16 bits lies: `k` of the sixteen that are summed over,
/// `other` of A's rows or B's columns. Two elements of 8 bits, of 32 along K,
/// lie in the place of one; also in registers.
KV_HD constexpr uint32_t elementAddress(Operand operand, Major major, int other,
                                        int k) {
  int near = major == Major::K ? k : other, far = major == Major::K ? other : k;
  uint32_t slab = near * 2 / SlabRowBytes;
  return swizzled(operand.address + slab * operand.leading +
                  far / AtomRows * operand.stride +
                  far % AtomRows * SlabRowBytes + near * 2 % SlabRowBytes);
}

/// The element of D of wgmma.m64nNk16 that register i of column tile n of a
/// thread of the warpgroup holds (its register 4 n + i); also that of A, if A
/// comes from registers. A warp has sixteen rows, of which it holds what
/// mma.m16n8k16 lets it hold: an accumulator of the scores is a fragment of the
/// weights.
KV_HD constexpr Place groupFragmentC(int thread, int n, int i) {
  Place place = fragmentC(thread % 32, i);
  return {thread / 32 * 16 + place.row, n * 8 + place.column};
}
KV_HD constexpr Place groupFragmentA(int thread, int index, int half) {
  Place place = fragmentA(thread % 32, index, half);
  return {thread / 32 * 16 + place.row, place.column};
}

} // namespace kv::cuda

#endif // KV_KERNELS_BLOCK_TILES_H
