//===- AttentionRowsTest.cpp - Store, plan and attention on a device ------===//
//
// Against the reference kernels of the CPU, on the same numbers.
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"
#include "kv/ABI/CacheGeometry.h"
#include "kv/Kernels/Reference.h"

using namespace kv;
using namespace kv::test;
using kv::cuda::widen;

namespace {

struct Lengths {
  int32_t cached, added;
};

struct Case {
  std::vector<Lengths> sequences;
  int heads = 1, group = 2, page = 16;
  int mask = KV_MASK_CAUSAL;
  int64_t window = 0;
  bool knownLengths = true;
  bool sinks = false;
  CacheLayout layout = CacheLayout::NHD;
  bool continuous = false; // slots of `page` tokens
  DType type = DType::BF16;
  int dim = 64, vDim = 0;        // 0: not latent
  int scaleGroup = 0;            // elements that share a scale; 0: none
  bool eightBitProducts = false; // on the device
  DType scaleType = DType::F32;
};

/// One layer of a batch: what a CPU says, and what a device does.
class Batch {
public:
  static constexpr int Layers = 2, Layer = 1;

  explicit Batch(const Case &c)
      : c(c), Dim(c.dim), ValueDim(c.vDim ? c.vDim : c.dim) {
    int32_t pages = 1;
    for (Lengths s : c.sequences) {
      offsets.push_back(tokens);
      cached.push_back(s.cached);
      tokens += s.added;
      longest = std::max(longest, s.added);
      if (!c.continuous)
        columns = std::max(columns, (s.cached + s.added) / c.page + 1);
    }
    offsets.push_back(tokens);
    if (c.continuous) {
      // The last slot first: the first is one like the others.
      pages = int32_t(c.sequences.size());
      for (int32_t slot = pages; slot-- > 0;)
        table.push_back(slot);
    }
    for (size_t b = 0; !c.continuous && b < c.sequences.size(); ++b)
      for (int i = 0; i < columns; ++i) {
        bool used = i * c.page < c.sequences[b].cached + c.sequences[b].added;
        table.push_back(used ? pages++ : 0);
      }
    int64_t elements = shapePool(blocksView, c.type, pages, Dim);
    if (c.type == DType::BF16) {
      auto values = randomValues<Bf16>(elements, 1);
      blocks.resize(elements * 2);
      std::memcpy(blocks.data(), values.data(), blocks.size());
    } else {
      // Of magnitudes that the scale, if any, makes ordinary, and no NaN.
      blocks = randomBytes(elements, c.type == DType::F8E5M2 ? 0xbf
                                     : c.scaleGroup          ? 0xf7
                                                             : 0xb7);
    }
    if (c.scaleGroup) {
      elements = shapePool(scalesView, c.scaleType, pages, Dim / c.scaleGroup);
      if (c.scaleType == DType::F32) {
        auto values = randomValues<float>(elements, 6);
        for (float &x : values)
          x = (2 + x) / (c.type == DType::F8E5M2 ? 4 : 200);
        scales.resize(elements * 4);
        std::memcpy(scales.data(), values.data(), scales.size());
      } else {
        scales = randomBytes(elements, 3);
        for (char &x : scales)
          x = char(x + (c.type == DType::F8E5M2 ? 124 : 119));
      }
    }
    q = randomValues<Bf16>(int64_t(tokens) * queryHeads() * Dim, 2);
    k = randomValues<Bf16>(int64_t(tokens) * c.heads * Dim, 3);
    v = randomValues<Bf16>(k.size(), 4);
    if (c.sinks)
      sinks = randomValues<float>(queryHeads(), 5);
  }

  int64_t queryHeads() const { return c.heads * c.group; }
  int64_t batch() const { return int64_t(cached.size()); }
  std::vector<int64_t> tableShape() const {
    return c.continuous ? std::vector<int64_t>{batch()}
                        : std::vector<int64_t>{batch(), columns};
  }

  /// Fills a view of a pool's shape with the strides of the case's layout.
  /// Returns the number of elements.
  int64_t shapePool(KvTensorView &view, DType type, int64_t pages,
                    int64_t last) const {
    int64_t sizes[] = {pages, c.vDim ? 1 : 2, Layers, c.page, c.heads, last},
            stride = 1;
    view.rank = 6;
    view.dtype = int32_t(type);
    auto order = blockOrder(c.layout);
    for (int place = 5; place >= 0; --place) {
      view.sizes[order[place]] = sizes[order[place]];
      view.strides[order[place]] = stride;
      stride *= sizes[order[place]];
    }
    return stride;
  }
  static std::vector<char> randomBytes(int64_t count, int mask) {
    std::mt19937 random(7);
    std::vector<char> bytes(count);
    for (char &byte : bytes)
      byte = char(random() >> 8 & mask);
    return bytes;
  }

  struct Result {
    std::vector<char> blocks, scales;
    std::vector<Bf16> out;
    std::vector<float> lse;
  };

  Result onCpu() {
    Result result{blocks, scales,
                  std::vector<Bf16>(tokens * queryHeads() * ValueDim),
                  std::vector<float>(tokens * queryHeads())};
    KvTensorView pool = blocksView, scalePool = scalesView;
    pool.data = result.blocks.data();
    scalePool.data = result.scales.data();
    const KvTensorView *some = c.scaleGroup ? &scalePool : nullptr;
    auto lengths = makeView(cached.data(), DType::I32, {batch()});
    auto pages = makeView(table.data(), DType::I32, tableShape());
    auto rows = makeView(offsets.data(), DType::I32, {batch() + 1});
    auto dk = makeView(k.data(), DType::BF16, {tokens, c.heads, Dim});
    auto dv = makeView(v.data(), DType::BF16, {tokens, c.heads, Dim});
    auto dq = makeView(q.data(), DType::BF16, {tokens, queryHeads(), Dim});
    auto out = makeView(result.out.data(), DType::BF16,
                        {tokens, queryHeads(), ValueDim});
    auto lse = makeView(result.lse.data(), DType::F32, {tokens, queryHeads()});
    auto sink = makeView(sinks.data(), DType::F32, {queryHeads()});
    reference::StoreArguments store{
        &pool, some,  &lengths, &pages,
        &rows, Layer, &dk,      c.vDim ? nullptr : &dv};
    EXPECT_FALSE(reference::validate(store));
    reference::store(store, 0, reference::storeItems(store));
    reference::AttentionArguments attention{
        &pool, some, &lengths, &pages, &rows,  Layer,   &dq,
        &out,  &lse, Scale,    0,      c.mask, c.window};
    attention.sinks = c.sinks ? &sink : nullptr;
    EXPECT_FALSE(reference::validate(attention));
    reference::attention(attention, 0, reference::attentionItems(attention));
    return result;
  }

  Result on(Gpu &gpu) {
    const Device &device = gpu.device;
    Tensor<char> pool(device, DType::I8, {int64_t(blocks.size())}, blocks);
    Tensor<char> scalePool(device, DType::I8, {int64_t(scales.size())}, scales);
    KvTensorView view = blocksView, scaleView = scalesView;
    view.data = pool.data();
    scaleView.data = scalePool.data();
    const KvTensorView *some = c.scaleGroup ? &scaleView : nullptr;
    Tensor<int32_t> lengths(device, DType::I32, {batch()}, cached);
    Tensor<int32_t> pages(device, DType::I32, tableShape(), table);
    Tensor<int32_t> rows(device, DType::I32, {batch() + 1}, offsets);
    Tensor<Bf16> dk(device, DType::BF16, {tokens, c.heads, Dim}, k);
    Tensor<Bf16> dv(device, DType::BF16, {tokens, c.heads, Dim}, v);
    Tensor<Bf16> dq(device, DType::BF16, {tokens, queryHeads(), Dim}, q);
    Tensor<Bf16> out(device, DType::BF16, {tokens, queryHeads(), ValueDim});
    Tensor<float> lse(device, DType::F32, {tokens, queryHeads()});
    Tensor<float> sink(device, DType::F32, {int64_t(sinks.size())}, sinks);
    int32_t longestOf[] = {longest, 0};
    KvTensorView most = makeView(longestOf, DType::I32, {1, 2});
    const KvTensorView *known = c.knownLengths ? &most : nullptr;
    EXPECT_TRUE(gpu.backend.synchronize());
    gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
      int64_t bytes = f.planBytes(ctx, &view, queryHeads(), batch(), tokens);
      KvTensorView plan =
          makeView(f.arenaAlloc(ctx, bytes), DType::I8, {bytes});
      int mask = c.mask | (c.eightBitProducts ? KV_MASK_EIGHT_BIT_PRODUCTS : 0);
      f.plan(ctx, &view, lengths.view(), pages.view(), rows.view(), known,
             queryHeads(), tokens, mask, c.window, &plan);
      f.store(ctx, &view, some, lengths.view(), pages.view(), rows.view(),
              Layer, dk.view(), c.vDim ? nullptr : dv.view());
      f.plannedAttention(ctx, &view, some, lengths.view(), pages.view(),
                         rows.view(), known, &plan, Layer, dq.view(),
                         out.view(), lse.view(), Scale, 0, mask, c.window,
                         c.sinks ? sink.view() : nullptr);
    });
    return {pool.read(), scalePool.read(), out.read(), lse.read()};
  }

  static constexpr float Scale = 0.125f;

private:
  Case c;
  int64_t Dim, ValueDim;
  int32_t tokens = 0, longest = 0, columns = 1;
  std::vector<int32_t> cached, offsets, table;
  KvTensorView blocksView = {}, scalesView = {};
  std::vector<char> blocks, scales;
  std::vector<Bf16> q, k, v;
  std::vector<float> sinks;
};

bool sameBits(const Batch::Result &a, const Batch::Result &b) {
  return std::memcmp(a.out.data(), b.out.data(), a.out.size() * 2) == 0 &&
         std::memcmp(a.lse.data(), b.lse.data(), a.lse.size() * 4) == 0;
}

void expectClose(const Batch::Result &got, const Batch::Result &expected) {
  ASSERT_TRUE(got.blocks == expected.blocks) << "store writes the same";
  ASSERT_TRUE(got.scales == expected.scales) << "and scales";
  for (size_t i = 0; i < got.out.size(); ++i)
    ASSERT_NEAR(widen(got.out[i]), widen(expected.out[i]), 2e-2) << i;
  for (size_t i = 0; i < got.lse.size(); ++i)
    ASSERT_NEAR(got.lse[i], expected.lse[i], 1e-2) << i;
}

class AttentionRows : public RowsTest {
protected:
  /// The launches of one batch, checked against the CPU's numbers.
  int64_t check(const Case &c) {
    Batch batch(c);
    int64_t before = fake::counters().launches;
    Batch::Result got = batch.on(gpu);
    int64_t launches = fake::counters().launches - before;
    expectClose(got, batch.onCpu());
    return launches;
  }
};

} // namespace

// Launches: the plan and attention by each kernel, and store.
TEST_F(AttentionRows, WhichKernels) {
  EXPECT_EQ(check({.sequences = {{300, 1}, {17, 1}}}), 3) << "decode";
  EXPECT_EQ(check({.sequences = {{300, 1}, {17, 40}, {0, 8}}}), 5) << "both";
  EXPECT_EQ(check({.sequences = {{3, 8}}}), 3) << "16 rows are a tile";
  EXPECT_EQ(check({.sequences = {{3, 9}}}), 5);
  // Nobody knows: two tokens can be no prompt for the prefill kernel.
  EXPECT_EQ(check({.sequences = {{300, 1}, {17, 1}}, .knownLengths = false}),
            3);
  EXPECT_EQ(check({.sequences = {{300, 4}, {17, 5}}, .knownLengths = false}),
            5);
}

/// How many tensor maps a step encodes on each GPU; both give the same bits.
static std::pair<int64_t, int64_t> tensorMaps(const Case &c, Gpu &gpu,
                                              Gpu &other) {
  Batch batch(c);
  int64_t before = fake::counters().tensorMaps;
  Batch::Result got = batch.on(gpu);
  int64_t maps = fake::counters().tensorMaps - before;
  expectClose(got, batch.onCpu());
  EXPECT_TRUE(sameBits(got, batch.on(other)));
  return {maps, fake::counters().tensorMaps - before - maps};
}

// A prompt takes the kernel that copies tiles where the GPU has it and the
// pages are such that it can; no bit depends on that. `more`: tensor maps of a
// step with a wide head or a cache of 8 bits, for which not every chip has one.
static void expectPromptsByTiles(int device, int64_t more) {
  std::vector<KernelImage> images = allImages();
  std::erase_if(images, [](const KernelImage &image) {
    return kernels::isOptional(image.name);
  });
  Gpu gpu(device), other(device, false, nullptr, images);
  auto maps = [&](const Case &c) {
    auto [maps, others] = tensorMaps(c, gpu, other);
    EXPECT_EQ(others, 0) << "by the others";
    return maps;
  };
  EXPECT_EQ(maps({.sequences = {{300, 20}, {17, 1}}}), 2);
  EXPECT_EQ(maps({.sequences = {{300, 20}, {0, 70}},
                  .heads = 2,
                  .layout = CacheLayout::HND}),
            2);
  EXPECT_EQ(maps({.sequences = {{30, 20}}, .page = 24}), 2);
  EXPECT_EQ(maps({.sequences = {{30, 20}}, .page = 4}), 0);
  EXPECT_EQ(maps({.sequences = {{30, 20}}, .page = 12}), 0);
  EXPECT_EQ(maps({.sequences = {{300, 1}}}), 0) << "no prompt";
  EXPECT_EQ(maps({.sequences = {{300, 20}}, .dim = 256}), more);
  EXPECT_EQ(maps({.sequences = {{30, 20}}, .dim = 96}), 0);
  // Of 8 bits, whatever the scales: the plan does not know them.
  Case eight{.sequences = {{300, 20}, {0, 70}}, .type = DType::F8E4M3FN};
  for (int group : {0, 64, 16}) {
    eight.scaleGroup = group;
    EXPECT_EQ(maps(eight), more) << group;
  }
  eight.dim = 192;
  for (int group : {0, 192}) {
    eight.scaleGroup = group;
    EXPECT_EQ(maps(eight), more) << "192, " << group;
  }
  eight.dim = 256;
  for (int group : {0, 256, 128}) {
    eight.scaleGroup = group;
    EXPECT_EQ(maps(eight), more) << "256, " << group;
  }
  for (int dim : {64, 256})
    EXPECT_EQ(
        maps({.sequences = {{300, 20}}, .type = DType::F8E5M2, .dim = dim}),
        more)
        << dim;
  EXPECT_EQ(
      maps({.sequences = {{300, 20}}, .type = DType::I8, .scaleGroup = 64}), 0);
}
TEST_F(AttentionRows, PromptsByTiles) { expectPromptsByTiles(0, 2); }
// By tensor memory, on 10.0.
TEST_F(AttentionRows, PromptsByTensorMemory) { expectPromptsByTiles(5, 0); }

namespace {

/// Eight bits without scales, of short and long sequences. The CPU's numbers
/// are those of products of 16 bits, which those of 8 are near.
Case eightBits(std::vector<Lengths> sequences) {
  return {.sequences = std::move(sequences),
          .heads = 2,
          .group = 4,
          .type = DType::F8E4M3FN,
          .eightBitProducts = true};
}

/// The longest latent rows find no room on 12.0.
std::vector<KernelImage> imagesWithRoom() {
  std::vector<KernelImage> images = allImages();
  std::erase_if(images, [](const KernelImage &image) {
    return image.name.ends_with("_576");
  });
  return images;
}

void expectNear(const Batch::Result &got, const Batch::Result &expected) {
  ASSERT_EQ(got.blocks, expected.blocks);
  for (size_t i = 0; i < got.out.size(); ++i)
    ASSERT_NEAR(widen(got.out[i]), widen(expected.out[i]), 0.1) << i;
  for (size_t i = 0; i < got.lse.size(); ++i)
    ASSERT_NEAR(got.lse[i], expected.lse[i], 0.1) << i;
}

} // namespace

// By kernels of their own: on 12.0 for decode and for prompts, on 9.0 and 10.0
// one that copies tiles for all. A row has the same bits whatever rows are
// beside it, and other bits than by products of 16 bits.
TEST_F(AttentionRows, ProductsOfEightBits) {
  for (int device : {0, 5, 3}) {
    SCOPED_TRACE(device == 0 ? "9.0" : device == 5 ? "10.0" : "12.0");
    const bool apart = device == 3;
    Gpu gpu(device, false, nullptr, imagesWithRoom());
    // Launches, and maps of keys and values.
    auto run = [&](Case c, int64_t launches, int64_t maps) {
      Batch batch(c);
      fake::Counters before = fake::counters();
      Batch::Result got = batch.on(gpu);
      EXPECT_EQ(fake::counters().launches - before.launches, launches);
      EXPECT_EQ(fake::counters().tensorMaps - before.tensorMaps, maps);
      expectNear(got, batch.onCpu());
      return got;
    };
    for (int dim : {64, 128}) {
      Case c = eightBits({{150, 1}, {17, 1}});
      c.heads = 1;
      c.dim = dim;
      c.layout = dim == 64 ? CacheLayout::NHD : CacheLayout::HND;
      run(c, 3, apart ? 0 : 2);
      c.sequences = {{150, 1}, {17, 20}};
      run(c, apart ? 5 : 3, apart ? 0 : 2);
    }
    Case c = eightBits({{150, 1}});
    Batch::Result bytes = Batch(c).on(gpu);
    c.eightBitProducts = false;
    EXPECT_FALSE(sameBits(bytes, Batch(c).on(gpu)));
  }
}

// An artifact has the kernels that it needs: of these products alone, too.
TEST_F(AttentionRows, ProductsOfEightBitsAlone) {
  std::vector<KernelImage> images = imagesWithRoom(), others = images;
  auto isPlain = [](const KernelImage &image) {
    return image.name.starts_with("kv_attention") &&
           !kernels::eightBitKernel(image.name);
  };
  std::erase_if(images, isPlain);
  std::erase_if(others, [](const KernelImage &image) {
    return kernels::eightBitKernel(image.name);
  });
  Case c = eightBits({{150, 1}, {17, 20}});
  for (int device : {0, 5, 3}) {
    Gpu all(device, false, nullptr, imagesWithRoom()),
        some(device, false, nullptr, images);
    EXPECT_TRUE(sameBits(Batch(c).on(all), Batch(c).on(some)));
  }
  auto error = [&](int device, int page, const std::vector<KernelImage> &of) {
    Gpu gpu(device, false, nullptr, of);
    KvTensorView pool =
                     makeView(nullptr, DType::F8E4M3FN, {4, 2, 1, page, 2, 64}),
                 one = makeView(nullptr, DType::I32, {1}),
                 two = makeView(nullptr, DType::I32, {2}),
                 table = makeView(nullptr, DType::I32, {1, 8}),
                 plan = makeView(nullptr, DType::I8, {64});
    auto done = gpu.run([&](KvContext *ctx, const KvFunctionTable &f) {
      f.plan(ctx, &pool, &one, &table, &two, nullptr, 4, 1,
             int(KV_MASK_CAUSAL) | KV_MASK_EIGHT_BIT_PRODUCTS, 0, &plan);
    });
    return done ? "no error" : done.error().message;
  };
  std::string none = "plan: there is no kernel for this device with products "
                     "of f8E4M3FN and a cache of f8E4M3FN with 2 planes, a "
                     "head dimension of 64 and pages of ";
  EXPECT_EQ(error(0, 16, others), none + "16 tokens");
  EXPECT_EQ(error(3, 16, others), none + "16 tokens");
  EXPECT_EQ(error(5, 16, others), none + "16 tokens");
  EXPECT_EQ(error(0, 12, imagesWithRoom()), none + "12 tokens");
  EXPECT_EQ(error(5, 12, imagesWithRoom()), none + "12 tokens");
  EXPECT_TRUE(
      error(3, 12, imagesWithRoom()).starts_with("plan: plan is i8[64]"));
}

static std::vector<KernelImage> imagesWithout(std::string_view kind) {
  std::vector<KernelImage> images = allImages();
  std::erase_if(images, [&](const KernelImage &image) {
    return image.name.find(kind) != std::string::npos;
  });
  return images;
}

// Steps of a few drafts take a kernel for them: where the prompt's would be the
// one that copies tiles, no tensor map is encoded. No bit depends on that.
TEST_F(AttentionRows, Drafts) {
  Gpu other(0, false, nullptr, imagesWithout("_drafts_"));
  auto isTaken = [&](const Case &c) {
    auto [maps, others] = tensorMaps(c, gpu, other);
    EXPECT_EQ(others, 2);
    return maps == 0;
  };
  Case some{.sequences = {{300, 4}, {17, 3}, {0, 1}}, .heads = 2, .group = 8};
  EXPECT_TRUE(isTaken(some));
  some.layout = CacheLayout::HND;
  some.sinks = true;
  for (int dim : {64, 128})
    for (int group : {0, dim, 32}) {
      some.type = DType::F8E4M3FN;
      some.dim = dim;
      some.scaleGroup = group;
      EXPECT_TRUE(isTaken(some)) << dim << ", " << group;
    }
  EXPECT_FALSE(isTaken({.sequences = {{300, 4}, {17, 5}}, .group = 8}));
  EXPECT_FALSE(isTaken({.sequences = {{300, 4}}, .group = 8, .dim = 128}));
  // By the rows of the step, where nobody knows more.
  EXPECT_TRUE(isTaken(
      {.sequences = {{300, 3}, {17, 1}}, .group = 8, .knownLengths = false}));
  EXPECT_FALSE(isTaken(
      {.sequences = {{300, 3}, {17, 2}}, .group = 8, .knownLengths = false}));
}

// And those of up to 64 rows, of 8 bits, where tile copies bring the pages: the
// one kernel that encodes tensor maps on a GPU without the prompt's.
TEST_F(AttentionRows, DraftTiles) {
  Gpu some(0, false, nullptr, imagesWithout("_attention_tiles_")),
      other(0, false, nullptr, imagesWithout("_draft_tiles_"));
  auto isTaken = [&](const Case &c) {
    auto [maps, others] = tensorMaps(c, some, other);
    EXPECT_EQ(others, 2);
    return maps == 2;
  };
  Case few{.sequences = {{300, 8}, {17, 5}, {0, 1}},
           .heads = 2,
           .group = 8,
           .type = DType::F8E4M3FN};
  for (int dim : {64, 128})
    for (int group : {0, dim, 32}) {
      few.dim = dim;
      few.scaleGroup = group;
      EXPECT_TRUE(isTaken(few)) << dim << ", " << group;
    }
  few.sequences[0].added = 9;
  EXPECT_FALSE(isTaken(few));
  few.sequences = {{300, 1}, {40, 1}}; // of a model with one KV head
  few.heads = 1;
  few.group = 48;
  few.layout = CacheLayout::HND;
  EXPECT_TRUE(isTaken(few));
  // By the rows of the step, where nobody knows more.
  few.knownLengths = false;
  EXPECT_FALSE(isTaken(few));
  few.sequences.pop_back();
  EXPECT_TRUE(isTaken(few));
  EXPECT_TRUE(isTaken(
      {.sequences = {{300, 8}}, .group = 8, .type = DType::F8E5M2, .dim = 64}));
  EXPECT_FALSE(isTaken({.sequences = {{300, 8}}, .group = 8}));
  few.page = 12;
  EXPECT_EQ(tensorMaps(few, some, other), std::pair(int64_t(0), int64_t(0)));
}

// As kv-select-kernel writes it: rows of queries over keys that others stored,
// counted on the device, of which nobody knows how many there are. The cache of
// a case is what is attended over: its tokens, and `added` rows of queries.
TEST_F(AttentionRows, CrossAttention) {
  // Keys, new keys among them, and queries: more and fewer than keys.
  struct Cross {
    int32_t keys, fresh, queries;
  };
  const std::vector<Cross> sequences = {
      {300, 0, 1}, {5, 5, 40}, {17, 3, 17}, {0, 0, 2}, {9, 9, 0}};
  constexpr int Dim = 64, Page = 16, Columns = 19, Heads = 2;
  std::vector<int32_t> cached, keyOffsets = {0}, rowOffsets = {0}, table;
  for (Cross c : sequences) {
    cached.push_back(c.keys - c.fresh);
    keyOffsets.push_back(keyOffsets.back() + c.fresh);
    rowOffsets.push_back(rowOffsets.back() + c.queries);
    for (int i = 0; i < Columns; ++i)
      table.push_back(i * Page < c.keys ? int32_t(table.size()) + 1 : 0);
  }
  int64_t batch = int64_t(cached.size()), rows = rowOffsets.back();
  std::vector<int64_t> shape = {batch * Columns + 1, 2, 1, Page, 1, Dim};
  auto pool = randomValues<Bf16>(shape[0] * 2 * Page * Dim, 1);
  auto queries = randomValues<Bf16>(rows * Heads * Dim, 2);
  std::vector<Bf16> expected(queries.size());
  auto blocks = makeView(pool.data(), DType::BF16, shape);
  auto lengths = makeView(cached.data(), DType::I32, {batch});
  auto pages = makeView(table.data(), DType::I32, {batch, Columns});
  auto offsets = makeView(rowOffsets.data(), DType::I32, {batch + 1});
  auto keys = makeView(keyOffsets.data(), DType::I32, {batch + 1});
  auto q = makeView(queries.data(), DType::BF16, {rows, Heads, Dim});
  auto out = makeView(expected.data(), DType::BF16, {rows, Heads, Dim});
  reference::AttentionArguments attention{
      &blocks, nullptr, &lengths, &pages, &offsets,     0, &q,
      &out,    nullptr, 0.125f,   0,      KV_MASK_NONE, 0};
  attention.kvRowOffsets = &keys;
  ASSERT_FALSE(reference::validate(attention));
  reference::attention(attention, 0, reference::attentionItems(attention));

  Tensor<Bf16> dpool(device, DType::BF16, shape, pool);
  Tensor<int32_t> dlengths(device, DType::I32, {batch}, cached);
  Tensor<int32_t> counted(device, DType::I32, {batch});
  Tensor<int32_t> dpages(device, DType::I32, {batch, Columns}, table);
  Tensor<int32_t> doffsets(device, DType::I32, {batch + 1}, rowOffsets);
  Tensor<int32_t> dkeys(device, DType::I32, {batch + 1}, keyOffsets);
  Tensor<Bf16> dq(device, DType::BF16, {rows, Heads, Dim}, queries);
  Tensor<Bf16> dout(device, DType::BF16, {rows, Heads, Dim});
  KvTensorView unknown = makeView(nullptr, DType::I32, {0, 2});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.growLengths(ctx, dlengths.view(), dkeys.view(), 1, counted.view());
    f.growLengths(ctx, counted.view(), doffsets.view(), -1, counted.view());
    int64_t bytes = f.planBytes(ctx, dpool.view(), Heads, batch, rows);
    KvTensorView plan = makeView(f.arenaAlloc(ctx, bytes), DType::I8, {bytes});
    f.plan(ctx, dpool.view(), counted.view(), dpages.view(), doffsets.view(),
           &unknown, Heads, rows, KV_MASK_NONE, 0, &plan);
    f.plannedAttention(ctx, dpool.view(), nullptr, counted.view(),
                       dpages.view(), doffsets.view(), &unknown, &plan, 0,
                       dq.view(), dout.view(), nullptr, 0.125f, 0, KV_MASK_NONE,
                       0, nullptr);
  });
  auto got = dout.read();
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(widen(got[i]), widen(expected[i]), 2e-2) << i;
}

TEST_F(AttentionRows, MasksSinksLayouts) {
  check({.sequences = {{1100, 1}, {90, 3}},
         .heads = 2,
         .group = 4,
         .page = 1,
         .mask = KV_MASK_SLIDING,
         .window = 50});
  check({.sequences = {{200, 20}},
         .group = 3,
         .page = 128,
         .sinks = true,
         .layout = CacheLayout::HND});
  check({.sequences = {{70, 1}, {0, 33}},
         .heads = 2,
         .mask = KV_MASK_CHUNKED,
         .window = 64,
         .layout = CacheLayout::CPU});
  check({.sequences = {{70, 1}, {0, 33}},
         .mask = KV_MASK_CHUNKED_CAUSAL,
         .window = 32});
  check({.sequences = {{10, 2}}, .mask = KV_MASK_NONE, .sinks = true});
}

TEST_F(AttentionRows, HeadsThatAreNoPowerOfTwo) {
  for (int dim : {80, 96, 112, 192})
    for (DType type : {DType::BF16, DType::F8E4M3FN}) {
      SCOPED_TRACE(dim);
      check({.sequences = {{150, 1}, {30, 12}},
             .heads = 2,
             .layout = CacheLayout::HND,
             .type = type,
             .dim = dim});
    }
}

TEST_F(AttentionRows, CachesWithScales) {
  struct Kind {
    DType type;
    int dim, group;
    DType scale;
  };
  const Kind kinds[] = {{DType::F8E4M3FN, 64, 64, DType::F32},
                        {DType::F8E4M3FN, 128, 32, DType::F8E8M0FNU},
                        {DType::F8E4M3FN, 192, 192, DType::F8E8M0FNU},
                        {DType::I8, 128, 128, DType::F8E8M0FNU},
                        {DType::I8, 64, 16, DType::F32},
                        {DType::F8E5M2, 64, 64, DType::F32},
                        {DType::F8E5M2, 64, 0, DType::F32}};
  for (const Kind &kind : kinds)
    for (bool continuous : {false, true}) {
      SCOPED_TRACE(concat(dtypeName(kind.type), " ", kind.dim, " by ",
                          kind.group, ", continuous ", continuous));
      check({.sequences = {{150, 1}, {0, 0}, {30, 12}},
             .heads = 2,
             .page = continuous ? 256 : 16,
             .layout = continuous ? CacheLayout::CPU : CacheLayout::NHD,
             .continuous = continuous,
             .type = kind.type,
             .dim = kind.dim,
             .scaleGroup = kind.group,
             .scaleType = kind.scale});
    }
}

TEST_F(AttentionRows, SlotsOfAContinuousCache) {
  for (CacheLayout layout :
       {CacheLayout::NHD, CacheLayout::HND, CacheLayout::CPU})
    check({.sequences = {{300, 1}, {0, 33}, {500, 12}, {17, 1}},
           .heads = 2,
           .page = 512,
           .layout = layout,
           .continuous = true});
}

TEST_F(AttentionRows, LatentRows) {
  EXPECT_EQ(check({.sequences = {{300, 1}, {17, 1}},
                   .group = 16,
                   .dim = 192,
                   .vDim = 128}),
            3)
      << "decode";
  check({.sequences = {{130, 3}, {0, 40}, {65, 1}},
         .group = 5,
         .page = 64,
         .mask = KV_MASK_SLIDING,
         .window = 70,
         .sinks = true,
         .dim = 192,
         .vDim = 128});
  check({.sequences = {{70, 1}, {3, 2}}, .group = 20, .dim = 576, .vDim = 512});
}

TEST_F(AttentionRows, ALongLatentRequestIsMergedApart) {
  Batch batch({.sequences = {{2100, 1}},
               .group = 16,
               .sinks = true,
               .dim = 192,
               .vDim = 128});
  Gpu wide(1);
  int64_t before = fake::counters().launches;
  Batch::Result apart = batch.on(wide);
  EXPECT_EQ(fake::counters().launches - before, 4)
      << "store, plan, attention, merge";
  before = fake::counters().launches;
  // There the last block merges.
  EXPECT_TRUE(sameBits(apart, batch.on(gpu)));
  EXPECT_EQ(fake::counters().launches - before, 3);
  expectClose(apart, batch.onCpu());
}

TEST_F(AttentionRows, TheSameBitsOnAWiderDevice) {
  Batch batch({.sequences = {{2600, 1}, {40, 30}, {900, 2}}, .heads = 2});
  Gpu wide(1);
  EXPECT_TRUE(sameBits(batch.on(gpu), batch.on(wide)));
  // And whatever the host knows.
  Batch unknown({.sequences = {{2600, 1}, {40, 30}, {900, 2}},
                 .heads = 2,
                 .knownLengths = false});
  EXPECT_TRUE(sameBits(batch.on(gpu), unknown.on(gpu)));
}

TEST_F(AttentionRows, EmptyBatches) {
  check({.sequences = {}});
  check({.sequences = {{5, 0}, {7, 0}}});
}

TEST_F(AttentionRows, Refusals) {
  auto blocks = [](DType dtype, int64_t planes, int64_t dim) {
    return makeView(nullptr, dtype, {4, planes, 1, 16, 2, dim});
  };
  auto bytes = [&](const KvTensorView &view) {
    return error([&](KvContext *ctx, const KvFunctionTable &f) {
      EXPECT_EQ(f.planBytes(ctx, &view, 4, 2, 8), 0);
    });
  };
  EXPECT_EQ(bytes(blocks(DType::BF16, 2, 88)),
            "planBytes: there is no kernel for a cache of bf16 with 2 planes "
            "and a head dimension of 88");
  EXPECT_EQ(bytes(blocks(DType::F16, 1, 64)),
            "planBytes: there is no kernel for a cache of f16 with 1 planes "
            "and a head dimension of 64");
  EXPECT_EQ(bytes(blocks(DType::F32, 2, 64)),
            "planBytes: blocks is f32[4, 2, 1, 16, 2, 64] with strides [4096, "
            "2048, 2048, 128, 64, 1]: there are kernels for bf16, f16, "
            "f8E4M3FN, f8E5M2 and i8");
  KvTensorView pool = blocks(DType::BF16, 2, 64);
  KvTensorView one = makeView(nullptr, DType::I32, {1}),
               two = makeView(nullptr, DType::I32, {2}),
               table = makeView(nullptr, DType::I32, {1, 8}),
               plan = makeView(nullptr, DType::I8, {64});
  auto planned = [&](const KvTensorView &table, const KvTensorView &offsets,
                     int64_t heads, int64_t rows, int32_t mask,
                     const KvTensorView *lengths = nullptr,
                     int64_t window = 0) {
    return error([&](KvContext *ctx, const KvFunctionTable &f) {
      f.plan(ctx, &pool, &one, &table, &offsets, lengths, heads, rows, mask,
             window, &plan);
    });
  };
  EXPECT_EQ(planned(plan, two, 4, 1, KV_MASK_CAUSAL),
            "plan: lookup_table is i8[64]: CUDA kernels take i32 [B, pitch], "
            "rows of page ids, or i32 [B], slots of a continuous cache");
  EXPECT_EQ(planned(table, two, 3, 1, KV_MASK_CAUSAL),
            "plan: 3 query heads over 2 of the cache");
  EXPECT_EQ(
      planned(table, one, 4, 1, KV_MASK_CAUSAL),
      "plan: cache_lengths is i32[1], row_offsets i32[1] for 1 rows: they "
      "must be i32 [B] and [B + 1], below 2147483648 rows");
  EXPECT_EQ(planned(table, two, 4, 1 << 30, KV_MASK_CAUSAL),
            "plan: 1073741824 rows of 2 query heads a KV head: at most "
            "2147483647 in all");
  EXPECT_EQ(planned(table, two, 4, 1, KV_MASK_SLIDING),
            "plan: mask 2 with the window 0: masks are 0 to 5, a window is at "
            "least 1");
  for (int mask : {KV_MASK_CHUNKED, KV_MASK_CHUNKED_CAUSAL})
    EXPECT_EQ(planned(table, two, 4, 1, mask | KV_MASK_EIGHT_BIT_PRODUCTS,
                      nullptr, 64),
              concat("plan: products of 8 bits with the mask ", mask,
                     ": allowed are masks without chunks"));
  KvTensorView wide = makeView(nullptr, DType::I64, {1, 2});
  for (auto [lengths, given] :
       {std::pair(&wide, "i64[1, 2]"), std::pair(&two, "i32[2]")})
    EXPECT_EQ(planned(table, two, 4, 1, KV_MASK_CAUSAL, lengths),
              concat("plan: max_lengths is ", given,
                     ", needed: i32 [steps, 2] of a step"));
  // Attention reads 16 bytes at a time, of eight-bit elements 16.
  KvTensorView slice = blocks(DType::F8E4M3FN, 2, 64);
  slice.strides[4] = 72;
  EXPECT_EQ(bytes(slice),
            "planBytes: blocks is f8E4M3FN[4, 2, 1, 16, 2, 64] with strides "
            "[4096, 2048, 2048, 128, 72, 1]: its rows must be aligned to 16 "
            "bytes");
  std::string small = planned(table, two, 4, 1, KV_MASK_CAUSAL);
  EXPECT_TRUE(small.starts_with("plan: plan is i8[64], needed: i8 of "))
      << small;
}
