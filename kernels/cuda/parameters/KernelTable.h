//===- KernelTable.h - What a host must know to launch ----------*- C++ -*-===//
//
// Made from DeviceKernels.def; needs no CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_KERNELTABLE_H
#define KV_KERNELS_CUDA_PARAMETERS_KERNELTABLE_H

#include "AttentionTensor.h"
#include "ByteTiles.h"
#include "Latent.h"
#include "LatentTensor.h"
#include "States.h"
#include "kv/ABI/DeviceKernels.h"

#include <array>
#include <string_view>

namespace kv::cuda {

/// One attention kernel; it takes an AttentionParams. `sm` is shapesOfChip() of
/// the chip that the code was compiled for: of PTX, 80.
struct AttentionKernel {
  std::string_view name, type; // the row's name of its types
  KvDType query, cache;
  Scales scales;
  int headDim; // of a key
  int vDim;    // of a value of a latent cache; 0: not latent
  bool prefill;
  bool tiles;  // whether it takes a TileParams
  bool drafts; // a prefill kernel for steps whose sequences have one tile
  bool eightBitProducts; // of operations with such `products`, and no other
  int partBlocks;        // of a cluster, that have a part together
  int rows;              // of a tile: Shape::tileRows
  int leaf;              // Shape::leaf
  int threads;
  int sharedBytes80, sharedBytes90, sharedBytes120;
  int blocks80, blocks90; // that an SM has room for
  int64_t slotFloats;     // of a piece
  int64_t totalFloats;    // of a part

  constexpr int valueDim() const { return vDim ? vDim : headDim; }
  constexpr int planes() const { return vDim ? 1 : 2; }
  constexpr int sharedBytes(int sm) const {
    return sm == 90    ? sharedBytes90
           : sm == 120 ? sharedBytes120
                       : sharedBytes80;
  }
  /// None: there is no such kernel for the chip.
  constexpr int blocksPerSM(int sm) const {
    return sm == 90    ? blocks90
           : sm == 120 ? fits(sharedBytes120, 1, 120)
                       : blocks80;
  }
};

/// The threads of a block: a body's, or its and those that copy for it.
template <class C> constexpr int launchThreads() {
  if constexpr (TileRows<C>)
    return C::LaunchThreads;
  else
    return C::Threads;
}

/// A row of the table; `C` is its configuration with sm 90, or the only one.
template <class C, class C80 = C, class C120 = C>
constexpr AttentionKernel rowOf(std::string_view name, std::string_view type,
                                KvDType query, KvDType cache, Scales scales,
                                int vDim, char kind, int blocks80,
                                int blocks90) {
  return {name,
          type,
          query,
          cache,
          scales,
          C::KeyDim,
          vDim,
          kind == 'p',
          TileRows<C>,
          DraftRows<C>,
          ByteProducts<C>,
          PartBlocks<C>,
          PartBlocks<C> * C::Rows,
          C::Leaf,
          launchThreads<C>(),
          C80::SharedBytes,
          C::SharedBytes,
          C120::SharedBytes,
          blocks80,
          blocks90,
          C::SlotFloats,
          PartBlocks<C> * C::TotalFloats};
}

constexpr AttentionKernel AttentionKernels[] = {
#define KV_ATTENTION_KERNEL(kind, type, query, cache, scales, dim, registers,  \
                            blocks80, blocks90)                                \
  rowOf<KV_ATTENTION_CONFIG(kind, query, cache, scales, dim),                  \
        KV_ATTENTION_CONFIG(kind, query, cache, scales, dim, 80),              \
        KV_ATTENTION_CONFIG(kind, query, cache, scales, dim, 120)>(            \
      "kv_attention_" #kind "_" #type "_" #dim, #type, KV_DTYPE_##query,       \
      KV_DTYPE_##cache, Scales::scales, 0, #kind[0], blocks80, blocks90),
#define KV_LATENT_KERNEL(kind, type, query, cache, dim, vDim, registers,       \
                         blocks80, blocks90)                                   \
  rowOf<KV_LATENT_CONFIG(kind, query, cache, dim, vDim),                       \
        KV_LATENT_CONFIG(kind, query, cache, dim, vDim, 80),                   \
        KV_LATENT_CONFIG(kind, query, cache, dim, vDim, 120)>(                 \
      "kv_latent_" #kind "_" #type "_" #dim, #type, KV_DTYPE_##query,          \
      KV_DTYPE_##cache, Scales::None, vDim, #kind[0], blocks80, blocks90),
#include "kv/ABI/DeviceKernels.def"
};

/// The prefill kernels that copy tiles, those of a few drafts, and those with
/// products of 8 bits. Each is of one chip alone (kernels::onlyChipOf).
constexpr AttentionKernel TileKernels[] = {
#define KV_TILE_KERNEL(type, query, cache, scales, dim, registers)             \
  rowOf<KV_TILE_CONFIG(query, cache, scales, dim)>(                            \
      "kv_attention_tiles_" #type "_" #dim, #type, KV_DTYPE_##query,           \
      KV_DTYPE_##cache, Scales::scales, 0, 'p', 1, 1),
#define KV_BYTE_TILE_KERNEL(type, query, cache, dim, registers)                \
  rowOf<KV_BYTE_TILE_CONFIG(query, dim)>(                                      \
      "kv_attention_tiles_" #type "_" #dim, #type, KV_DTYPE_##query,           \
      KV_DTYPE_##cache, Scales::None, 0, 'p', 1, 1),
#define KV_DRAFT_KERNEL(type, query, cache, scales, dim, registers, blocks)    \
  rowOf<KV_DRAFT_CONFIG(query, cache, scales, dim)>(                           \
      "kv_attention_drafts_" #type "_" #dim, #type, KV_DTYPE_##query,          \
      KV_DTYPE_##cache, Scales::scales, 0, 'p', 1, blocks),
#define KV_DRAFT_TILE_KERNEL(type, query, cache, scales, dim, registers,       \
                             blocks)                                           \
  rowOf<KV_DRAFT_TILE_CONFIG(query, cache, scales, dim)>(                      \
      "kv_attention_draft_tiles_" #type "_" #dim, #type, KV_DTYPE_##query,     \
      KV_DTYPE_##cache, Scales::scales, 0, 'p', 1, blocks),
#define KV_TENSOR_KERNEL(type, query, cache, dim, registers)                   \
  rowOf<KV_TENSOR_CONFIG(query, cache, dim)>(                                  \
      "kv_attention_tensor_" #type "_" #dim, #type, KV_DTYPE_##query,          \
      KV_DTYPE_##cache, Scales::None, 0, 'p', 1, 1),
#define KV_BYTE_KERNEL(kind, type, query, cache, dim, registers, blocks)       \
  rowOf<KV_BYTE_CONFIG(kind, query, cache, dim)>(                              \
      "kv_attention_" #kind "_" #type "_" #dim, #type, KV_DTYPE_##query,       \
      KV_DTYPE_##cache, Scales::None, 0, #kind[0], blocks, blocks),
#define KV_LATENT_TILE_KERNEL(type, query, cache, dim, vDim, registers)        \
  rowOf<KV_LATENT_TILE_CONFIG(query, dim, vDim)>(                              \
      "kv_latent_tiles_" #type "_" #dim, #type, KV_DTYPE_##query,              \
      KV_DTYPE_##cache, Scales::None, vDim, 'p', 1, 1),
#define KV_LATENT_PAIR_KERNEL(type, query, cache, dim, vDim, registers)        \
  rowOf<KV_LATENT_PAIR_CONFIG(query, dim, vDim)>(                              \
      "kv_latent_pairs_" #type "_" #dim, #type, KV_DTYPE_##query,              \
      KV_DTYPE_##cache, Scales::None, vDim, 'p', 1, 1),
#define KV_LATENT_TENSOR_KERNEL(type, query, cache, dim, vDim, registers)      \
  rowOf<KV_LATENT_TENSOR_CONFIG(query, dim, vDim)>(                            \
      "kv_latent_tensor_" #type "_" #dim, #type, KV_DTYPE_##query,             \
      KV_DTYPE_##cache, Scales::None, vDim, 'p', 1, 1),
#include "kv/ABI/DeviceKernels.def"
};

/// A kernel's one argument, a structure that is passed by value.
struct ArgumentShape {
  size_t bytes, alignment;
};
template <class Params>
inline constexpr ArgumentShape ArgumentOf = {sizeof(Params), alignof(Params)};

/// One mover, or the plan, which is one block.
struct MoverKernel {
  std::string_view name;
  int sharedBytes;
  ArgumentShape argument; // its <Name>Params
};

constexpr MoverKernel MoverKernels[] = {
#define KV_MOVER_KERNEL(name, parameters, registers, shared, body)             \
  {"kv_" #name, shared, ArgumentOf<parameters>},
#include "kv/ABI/DeviceKernels.def"
};

/// How any kernel is launched.
struct KernelLaunch {
  std::string_view name;
  int threads;
  int sharedBytes80, sharedBytes90, sharedBytes120;
  ArgumentShape argument;
  /// Blocks of each of its clusters; movers of 1 may be launched with more.
  int cluster = 1;

  constexpr int sharedBytes(int sm) const {
    return sm == 90    ? sharedBytes90
           : sm == 120 ? sharedBytes120
                       : sharedBytes80;
  }
};

/// Every kernel: of AttentionKernels, MoverKernels and TileKernels.
constexpr size_t FirstMover = std::size(AttentionKernels),
                 FirstTile = FirstMover + std::size(MoverKernels);
constexpr auto KernelLaunches = [] {
  std::array<KernelLaunch, FirstTile + std::size(TileKernels)> launches{};
  auto *row = launches.data();
  for (const AttentionKernel &kernel : AttentionKernels)
    *row++ = {kernel.name,           kernel.threads,
              kernel.sharedBytes80,  kernel.sharedBytes90,
              kernel.sharedBytes120, ArgumentOf<AttentionParams>};
  for (const MoverKernel &kernel : MoverKernels)
    *row++ = {kernel.name,        MoverThreads,       kernel.sharedBytes,
              kernel.sharedBytes, kernel.sharedBytes, kernel.argument};
  for (const AttentionKernel &kernel : TileKernels)
    *row++ = {kernel.name,
              kernel.threads,
              kernel.sharedBytes80,
              kernel.sharedBytes90,
              kernel.sharedBytes120,
              kernel.tiles ? ArgumentOf<TileParams>
                           : ArgumentOf<AttentionParams>,
              kernel.partBlocks};
  return launches;
}();

/// The kernel of that name, or null.
constexpr const KernelLaunch *findKernel(std::string_view name) {
  for (const KernelLaunch &kernel : KernelLaunches)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

/// Room for pieces in a part, at most: enough that units are cut in all but the
/// longest steps (plan/Plan.h, mayCut). Unconfirmed.
constexpr int64_t DecodeSlots = 64, PrefillSlots = 32;

/// Shape::slots of a launch: as many as the longest step that the table has
/// room for could need, and not more than a GPU should keep for it.
constexpr int32_t slotsOf(const AttentionKernel &kernel,
                          const kv::plan::Shape &shape,
                          const kv::plan::Batch &batch) {
  using namespace kv::plan;
  int64_t longest = ceilDivide(batch.capacity, shape.leaf) + UnitCost;
  int64_t total =
      maxTiles(shape, batch.sequences, batch.tokens) * shape.heads * longest;
  return int32_t(lesser(slotsFor(payloadOf(total, shape.parts)),
                        kernel.prefill && (kernel.tiles || !kernel.drafts)
                            ? PrefillSlots
                            : DecodeSlots));
}

/// Whether a step of `rows` packed rows takes the kernel by pairs of blocks, if
/// there is one, instead of `single`. On average, its sequences must have more
/// rows than a block, because a shorter one would take both blocks of a pair.
/// Sizes alone decide, so that a captured graph stays right.
constexpr bool takesPairs(const AttentionKernel &single, int64_t rows,
                          int64_t sequences) {
  return rows > sequences * single.rows;
}

/// Whether a launch leaves units that parts share to the kernel `merge`. Units
/// of a latent cache are large: with few units, most blocks would end long
/// before the last one has merged its unit. Sizes alone decide, so that a
/// captured graph stays right.
constexpr bool mergesApart(const AttentionKernel &kernel,
                           const kv::plan::Shape &shape,
                           const kv::plan::Batch &batch) {
  int64_t tiles = kv::plan::greater<int64_t>(
      batch.sequences, kv::plan::ceilDivide(batch.tokens * int64_t(shape.group),
                                            shape.tileRows));
  return kernel.vDim > 0 &&
         batch.capacity > shape.leaf * kv::plan::LeavesPerGroup &&
         tiles * shape.heads * 8 <= shape.parts;
}

/// Memory that a launch of `parts` blocks with `slots` pieces each needs, in
/// bytes. Nothing else is ever written but results.
struct AttentionWorkspace {
  int64_t scratch, totals, counters;
  int64_t header, tiles, cuts; // of the plan, shared by all layers
};

constexpr AttentionWorkspace workspace(const AttentionKernel &kernel,
                                       const kv::plan::Shape &shape,
                                       int64_t sequences, int64_t tokens) {
  using namespace kv::plan;
  return {int64_t(shape.parts) * shape.slots * kernel.slotFloats * 4,
          shape.parts * kernel.totalFloats * 4,
          2 * shape.parts * kernel.partBlocks * int64_t(sizeof(uint32_t)),
          int64_t(sizeof(Header)),
          maxTiles(shape, sequences, tokens) * int64_t(sizeof(Tile)),
          (shape.parts + int64_t(1)) * int64_t(sizeof(Cut))};
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_KERNELTABLE_H
