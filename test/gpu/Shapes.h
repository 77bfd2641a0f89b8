//===- Shapes.h - Which steps are checked and timed -------------*- C++ -*-===//

#ifndef KV_TEST_GPU_SHAPES_H
#define KV_TEST_GPU_SHAPES_H

#include "Step.h"
#include "test/kernels/Backend.h"

#include <algorithm>

namespace kv::cuda::test {

/// A shape, changed.
template <class Change> StepShape with(StepShape shape, Change change) {
  change(shape);
  return shape;
}

/// Prompts, chunks of prompts and decoding requests in one step.
inline StepShape mixedShape(int decoding, int cached) {
  StepShape shape{"mixed " + std::to_string(decoding) + "x" +
                      std::to_string(cached) + "+1 1x0+2048 1x4096+512",
                  std::vector<Lengths>(decoding, {cached, 1})};
  shape.sequences.insert(shape.sequences.begin(), {0, 2048});
  shape.sequences.push_back({4096, 512});
  return shape;
}

/// Those that this device has kernels for; without tile copies only where there
/// are some.
inline std::vector<StepShape> ofThisDevice(std::vector<StepShape> shapes) {
  std::erase_if(shapes, [](const StepShape &shape) {
    bool anyTiles = false;
    for (const AttentionKernel *kernel : shape.kernels())
      anyTiles |= tileKernelOf(*kernel) != nullptr;
    return shape.kernels().empty() || (!shape.tiles && !anyTiles);
  });
  return shapes;
}

/// And a step for each kernel of this device that none of them runs.
inline std::vector<StepShape> forEveryKernel(std::vector<StepShape> shapes,
                                             const StepShape &decode,
                                             const StepShape &prefill) {
  shapes = ofThisDevice(std::move(shapes));
  auto isRun = [&](const AttentionKernel &kernel) {
    for (const StepShape &shape : shapes)
      for (const AttentionKernel *other : shape.kernels())
        if (other->name == kernel.name)
          return true;
    return false;
  };
  auto addStep = [&](const AttentionKernel &kernel, const StepShape &step,
                     bool tiles = true, int group = 0) {
    if (isRun(kernel))
      return;
    shapes.push_back(with(step, [&](StepShape &s) {
      s.type = kernel.type;
      s.dim = kernel.headDim;
      s.tiles = tiles;
      if (group)
        s.group = group;
      if ((s.vDim = kernel.vDim))
        s.heads = 1;
    }));
  };
  auto add = [&](const AttentionKernel &kernel, bool tiles,
                 bool beside = false) {
    addStep(kernel, kernel.prefill && !beside ? prefill : decode, tiles,
            kernel.vDim ? (beside ? 32 : 16) : 0);
  };
  // Where a model checks a few drafts of each sequence: more rows than half of
  // a tile.
  auto addDrafted = [&](const AttentionKernel &kernel) {
    StepShape drafted =
        uniform(int(decode.sequences.size()), decode.sequences[0].cached,
                kernel.rows / 2 / decode.group + 1);
    drafted.heads = decode.heads;
    addStep(kernel, drafted);
  };
  for (const AttentionKernel &kernel : AttentionKernels) {
    const AttentionKernel *tiles = tileKernelOf(kernel);
    const AttentionKernel *pairs = tileKernelOf(kernel, 2);
    if (pairs)
      add(*pairs, true);
    // Where there are pairs, it has steps of a few rows.
    if (tiles)
      add(*tiles, true, /*beside=*/pairs != nullptr);
    for (bool copied : {false, true})
      if (const AttentionKernel *drafts = draftKernelOf(kernel, copied))
        addDrafted(*drafts);
    add(kernel, !tiles);
  }
  for (const AttentionKernel &kernel : TileKernels)
    if (kernel.eightBitProducts && canRun(kernel.name))
      add(kernel, true);
  return shapes;
}

inline auto one(auto change) {
  return [change](StepShape shape) { return with(shape, change); };
}
inline auto type(const char *name) {
  return one([name](StepShape &s) { s.type = name; });
}
inline auto dim(int dim) {
  return one([dim](StepShape &s) { s.dim = dim; });
}
inline auto page(int page) {
  return one([page](StepShape &s) { s.page = page; });
}
/// DeepSeek's rows for this many query heads.
inline auto latent(int heads) {
  return one([heads](StepShape &s) {
    s.heads = 1;
    s.group = heads;
    s.dim = 576;
    s.vDim = 512;
  });
}
inline const auto group8 = one([](StepShape &s) { s.group = 8; });
inline const auto noTiles = one([](StepShape &s) { s.tiles = false; });
inline const auto hnd = one([](StepShape &s) { s.headsFirst = true; });

inline std::vector<StepShape> smallShapes(bool everyKernel) {
  auto heads = one([](StepShape &s) { s.heads = 1; });
  auto tiny = [&](int count, int cached, int added) {
    return heads(uniform(count, cached, added));
  };
  StepShape mixed{"mixed 2x130+1 1x0+40 1x70+20",
                  {{0, 40}, {130, 1}, {130, 1}, {70, 20}}};
  std::vector<StepShape> shapes{
      tiny(1, 3000, 1), type("f8")(tiny(2, 300, 1)),
      type("f8p")(group8(tiny(2, 300, 1))),
      type("f16")(dim(64)(hnd(tiny(1, 200, 1)))),
      page(64)(group8(tiny(2, 130, 1))), heads(mixed),
      // Merged by a kernel of its own.
      with(latent(16)(tiny(1, 600, 1)), [](StepShape &s) {
        s.dim = 192;
        s.vDim = 128;
      })};
  return everyKernel ? forEveryKernel(std::move(shapes), tiny(1, 150, 1),
                                      tiny(1, 20, 30))
                     : ofThisDevice(std::move(shapes));
}

/// Longest first where a kernel has several, so that what is likely wrong is
/// seen early. On the fake driver every key takes a microsecond of a CPU.
/// Unless `everyKernel` is to run, small shapes are a few. `predicted`: also
/// what measurements/cuda.md predicts; shorter steps check the same kernels.
inline std::vector<StepShape> stepShapes(bool small, bool everyKernel = true,
                                         bool predicted = false) {
  if (small)
    return smallShapes(everyKernel);
  StepShape b64 = uniform(64, 8191, 1), long1 = uniform(1, 32767, 1),
            mid = uniform(16, 4095, 1), prompt = uniform(1, 0, 8192);
  // Of 64 rows a sequence: the second warpgroup of tiles has none, or there is
  // none.
  StepShape few = uniform(64, 8128, 16);
  std::vector<StepShape> shapes{long1,
                                group8(long1),
                                b64,
                                group8(b64),
                                type("f8")(b64),
                                type("f8")(group8(b64)),
                                type("f8p")(group8(b64)),
                                type("f16")(mid),
                                uniform(1, 1023, 1),
                                uniform(1, 8191, 1),
                                group8(uniform(1, 8191, 1)),
                                mid,
                                uniform(64, 4095, 1),
                                hnd(b64),
                                page(64)(b64),
                                page(128)(b64),
                                page(64)(hnd(mid)),
                                prompt,
                                uniform(1, 0, 2048),
                                uniform(4, 8192, 2048),
                                type("f8")(prompt),
                                dim(64)(b64),
                                dim(64)(prompt),
                                page(128)(hnd(uniform(4, 8192, 2048))),
                                mixedShape(32, 8191),
                                type("f8")(mixedShape(32, 4095)),
                                group8(mixedShape(64, 2047)),
                                type("f8p")(mixedShape(32, 4095)),
                                few,
                                type("f8")(few),
                                type("f8")(dim(256)(few)),
                                type("f8s")(b64),
                                type("i8s")(b64),
                                type("f8g")(b64),
                                page(64)(latent(16)(b64)),
                                page(64)(latent(128)(uniform(64, 4095, 1))),
                                latent(16)(long1),
                                latent(16)(uniform(1, 8191, 1)),
                                page(64)(latent(128)(uniform(128, 4095, 1))),
                                page(64)(latent(128)(uniform(64, 32767, 1))),
                                page(64)(latent(128)(uniform(1, 8192, 1024))),
                                group8(uniform(1, 0, 16384)),
                                type("f8")(mid),
                                group8(mid),
                                uniform(1, 131071, 1)};
  if (predicted)
    for (const StepShape &shape :
         {group8(prompt), noTiles(group8(prompt)), group8(uniform(1, 0, 4096)),
          dim(64)(group8(prompt)), dim(192)(group8(prompt)),
          dim(256)(group8(prompt)), type("f8")(dim(64)(group8(prompt))),
          type("f8")(group8(prompt)), type("f8")(dim(192)(group8(prompt))),
          type("f8")(dim(256)(group8(prompt))), type("f8s")(group8(prompt)),
          type("f8g")(group8(prompt)), type("f8p")(dim(64)(group8(prompt))),
          type("f8p")(group8(prompt)), type("f8p")(group8(uniform(1, 0, 4096))),
          type("f8p")(group8(uniform(1, 0, 16384)))})
      shapes.push_back(shape);
  return forEveryKernel(std::move(shapes), mid, uniform(1, 0, 2048));
}

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_SHAPES_H
