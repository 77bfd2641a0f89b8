//===- RopeStoreTest.cpp - Norm, rope and store beside one launch ---------===//

#include "MoverCase.h"
#include "test/kernels/SameBits.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

constexpr int Tokens = 6, Heads = 3, Stored = 2, Page = 4, Pages = 4;

struct Shape {
  int dim, width;
  bool interleaved, normed;
  int groups = 0; // of scales of a row; 0: none
};

/// One batch, by several launches and by one.
template <class X, class Cache> class RopeStoreCase {
public:
  explicit RopeStoreCase(const Shape &s) : s(s) {}

  void expectSameBits() {
    std::vector<float> turned = turn(q, Heads, qWeight),
                       turnedK = turn(k, Stored, kWeight), wide;
    for (X x : v)
      wide.push_back(widen(x));
    KernelRun apart, one;
    Written stored(s), storedAtOnce(s);
    StoreScaledParams store =
        storeOf(apart, apart.in(turnedK), apart.in(wide), stored);
    if (s.groups)
      apart("kv_store_scaled", 2, store);
    else
      apart("kv_store", 2, store.store);

    auto out = nothing<float>(turned.size());
    auto pointer = [&](auto &weight) {
      return s.normed ? one.in(weight) : nullptr;
    };
    RopeStoreParams p{
        .q = ropeOf(one, one.in(q), one.out(out), Heads, TypeOf<X>),
        .store = storeOf(one, one.in(k), one.in(v), storedAtOnce),
        .scaled = s.groups > 0,
        .kType = TypeOf<X>,
        .vType = TypeOf<X>,
        .qWeight = pointer(qWeight),
        .kWeight = pointer(kWeight),
        .epsilon = Epsilon,
        .offset = Offset,
        .qWeightType = TypeOf<float>,
        .kWeightType = TypeOf<float>};
    one("kv_rope_store", 2, p);
    EXPECT_TRUE(sameBits(out, turned));
    EXPECT_TRUE(sameBits(storedAtOnce.cache, stored.cache));
    EXPECT_EQ(storedAtOnce.scales, stored.scales);
    EXPECT_FALSE(sameBits(stored.cache, Written(s).cache));
  }

private:
  static constexpr float Epsilon = 1e-5f, Offset = 0.5f;

  struct Written {
    explicit Written(const Shape &s)
        : cache(nothing<Cache>(Pages * 2 * Page * Stored * s.dim)),
          scales(Pages * 2 * Page * Stored * std::max(s.groups, 1)) {}
    std::vector<Cache> cache;
    std::vector<float> scales;
  };

  /// Rows of heads that lie one after the other.
  RopeParams ropeOf(KernelRun &run, const void *x, float *out, int heads,
                    int32_t type) {
    int64_t pitch = int64_t(heads) * s.dim;
    return {x,
            out,
            pitch,
            s.dim,
            pitch,
            s.dim,
            Tokens,
            heads,
            s.dim,
            s.width,
            run.in(positions),
            run.in(freqs),
            Tokens,
            s.interleaved,
            type,
            TypeOf<float>,
            nullptr};
  }

  std::vector<float> turn(const std::vector<X> &x, int heads,
                          const std::vector<float> &weight) {
    std::vector<float> rows = nothing<float>(x.size()), out = rows;
    if (s.normed) {
      KernelRun run;
      NormParams p{run.in(x),      run.out(rows),  s.dim,
                   s.dim,          Tokens * heads, s.dim,
                   run.in(weight), Epsilon,        Offset,
                   TypeOf<X>,      TypeOf<float>,  TypeOf<float>};
      run("kv_norm", 2, p);
    }
    KernelRun run;
    const void *from = s.normed ? static_cast<const void *>(run.in(rows))
                                : static_cast<const void *>(run.in(x));
    run("kv_rope", 2,
        ropeOf(run, from, run.out(out), heads,
               s.normed ? TypeOf<float> : TypeOf<X>));
    return out;
  }

  /// Two sequences, of which the second leaves its row of the table.
  template <class From>
  StoreScaledParams storeOf(KernelRun &run, From *k, From *v,
                            Written &written) {
    int64_t row = s.dim, token = Stored * row, plane = Page * token;
    StoreScaledParams p{};
    p.store = {
        {run.out(written.cache), 2 * plane, plane, 0, token, row, Pages, Page},
        0,
        run.in(table),
        1,
        1,
        {run.in(cached), run.in(offsets), 2, Tokens, 0},
        Stored,
        s.dim,
        k,
        v,
        token,
        row,
        token,
        row,
        TypeOf<std::remove_const_t<From>>,
        TypeOf<Cache>};
    if (s.groups) {
      row = s.groups, token = Stored * row, plane = Page * token;
      p.scales = {run.out(written.scales),
                  2 * plane,
                  plane,
                  0,
                  token,
                  row,
                  0,
                  s.groups,
                  0};
      p.groupChunks = s.dim / s.groups / 8;
    }
    return p;
  }

  const Shape s;
  std::vector<X> q = draw<X>(Tokens * Heads * s.dim),
                 k = draw<X>(Tokens * Stored * s.dim), v = draw<X>(k.size());
  std::vector<float> qWeight = draw<float>(s.dim), kWeight = draw<float>(s.dim),
                     freqs = draw<float>(Tokens * s.width);
  std::vector<int32_t> positions = {1, 2, 3, 2, 3, 4}, cached = {1, 2},
                       offsets = {0, 3, Tokens}, table = {2, 3};
};

} // namespace

TEST(Mover, RopeStore) {
  for (bool normed : {false, true})
    for (bool interleaved : {false, true}) {
      RopeStoreCase<float, Bf16>({64, 64, interleaved, normed})
          .expectSameBits();
      RopeStoreCase<Bf16, F16>({128, 32, interleaved, normed}).expectSameBits();
      RopeStoreCase<float, F8E4M3>({64, 64, interleaved, normed, 1})
          .expectSameBits();
      RopeStoreCase<F16, I8>({128, 96, interleaved, normed, 4})
          .expectSameBits();
    }
}
