//===- SampleBody.h - Tokens drawn from logits ------------------*- C++ -*-===//
//
// A block has a row, or the blocks of a cluster share one, each taking logits
// at equal distances. Every search is the same: the first token, in some order,
// at which a sum passes a limit. The order is a number, which is found digit by
// digit. For each value of a digit, each thread adds up its own logits in
// shared memory of its own, and the row is read once per digit. Sums are of
// integers, so no order of threads or blocks changes them.
//
// A block stores its sums to all blocks of its cluster, and all add them up in
// the same way. One barrier of the cluster per digit is enough, because a block
// stores to two buffers in turn.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_MOVERS_SAMPLEBODY_H
#define KV_KERNELS_CUDA_MOVERS_SAMPLEBODY_H

#include "MoverBodies.h"
#include "kv/Definition/Sampling.h"

namespace kv::cuda {

template <class B> KV_BODY uint64_t shuffleSum(B &b, uint64_t x) {
  KV_UNROLL for (int mask = 1; mask < WarpLanes; mask *= 2) {
    auto half = [&](uint32_t bits) {
      return uint64_t(
          bitsAs<uint32_t>(b.shuffleXor(bitsAs<float>(bits), mask)));
    };
    uint64_t low = half(uint32_t(x));
    x += half(uint32_t(x >> 32)) << 32 | low;
  }
  return x;
}

template <class B> class RowDraw {
public:
  KV_BODY RowDraw(B &b, const SampleParams &p, int64_t row)
      : b(b), p(p), row(row), logits(p.logits + row * p.stride),
        cluster(b.clusterBlocks()), rank(b.clusterRank()) {}

  /// Draws a token; all threads of all blocks of the row get the same one.
  KV_BODY int32_t run() {
    using namespace kv::sampling;
    Extremes found = findExtremes();
    if (found.bad != INT32_MAX)
      return badToken(found.bad);
    if (found.token == INT32_MAX)
      return NoToken;
    float temperature = b.load(p.temperature + row);
    if (isGreedy(temperature))
      return found.token;
    maximum = found.largest;
    scale = scaleOf(temperature);
    while (p.width >> idBits)
      idBits += DigitBits;
    int32_t topK = b.load(p.topK + row);
    if (topK > 0)
      last = firstBeyond<Stage::TopK>(uint64_t(topK));
    if (b.load(p.topP + row) < 1)
      last = kv::plan::lesser(last, firstBeyond<Stage::TopP>(0));
    least = leastWeightOf(b.load(p.minP + row));
    return int32_t(firstBeyond<Stage::Draw>(drawOf(
        uint64_t(b.load(p.seeds + row)), uint64_t(b.load(p.indices + row)))));
  }

private:
  static constexpr int DigitBits = 4, Digits = 1 << DigitBits;
  static constexpr int CountsAt = Digits * MoverThreads * 8;
  static constexpr int TotalsAt = CountsAt + Digits * MoverThreads;
  static constexpr int AlonesAt = TotalsAt + Digits * 8;
  /// The words that blocks exchange for each value of a digit: two words of its
  /// sum, and whether it is of one token, of none or of more. There are two
  /// buffers, used in turn.
  static constexpr int FoundAt = AlonesAt + Digits * 4, FoundWords = 3;
  static_assert(FoundAt + 2 * MostSampleBlocks * Digits * FoundWords * 4 ==
                SampleSharedBytes);
  static_assert(MostSampleBlocks <= WarpLanes);

  enum class Stage { TopK, TopP, Draw };
  struct Extremes {
    float largest;
    int token; // the first with it; INT32_MAX: none
    int bad;   // the first that is NaN or infinite; INT32_MAX: none
  };

  KV_BODY static void join(Extremes &x, const Extremes &y) {
    keepBetter(x.largest, x.token, y.largest, y.token);
    x.bad = kv::plan::lesser(x.bad, y.bad);
  }

  KV_BODY Extremes findExtremes() {
    Extremes all{kv::plan::NoScore, INT32_MAX, INT32_MAX};
    forEachLogit(0, p.width, [&](float logit, int token) {
      if (!(logit < -kv::plan::NoScore))
        all.bad = kv::plan::lesser(all.bad, token);
      else if (logit > kv::plan::NoScore)
        keepBetter(all.largest, all.token, logit, token);
    });
    KV_UNROLL for (int mask = 1; mask < WarpLanes; mask *= 2) {
      auto other = [&](int x) {
        return bitsAs<int>(b.shuffleXor(bitsAs<float>(x), mask));
      };
      float largest = b.shuffleXor(all.largest, mask);
      int token = other(all.token);
      join(all, {largest, token, other(all.bad)});
    }
    auto largest = b.template shared<float>(0, MoverWarps);
    auto places = b.template shared<int32_t>(MoverWarps * 4, 2 * MoverWarps);
    int warp = b.thread() / WarpLanes;
    if (b.thread() % WarpLanes == 0) {
      largest.store(warp, all.largest);
      places.store(2 * warp, all.token);
      places.store(2 * warp + 1, all.bad);
    }
    b.sync();
    for (int w = 0; w < MoverWarps; ++w)
      join(all, {largest.load(w), places.load(2 * w), places.load(2 * w + 1)});
    if (cluster > 1) {
      if (warp == 0) {
        tell(0, bitsAs<uint32_t>(all.largest));
        tell(1, uint32_t(all.token));
        tell(2, uint32_t(all.bad));
      }
      awaitOthers();
      for (int r = 0; r < cluster; ++r)
        join(all,
             {bitsAs<float>(told(r, 0)), int(told(r, 1)), int(told(r, 2))});
    }
    b.sync();
    return all;
  }

  KV_BODY auto found() {
    return b.template shared<uint32_t>(FoundAt, 2 * MostSampleBlocks * Digits *
                                                    FoundWords);
  }
  KV_BODY int foundPlace(int from, int word) const {
    return (turn * MostSampleBlocks + from) * Digits * FoundWords + word;
  }
  /// By a warp: a word of this block's to all of the cluster.
  KV_BODY void tell(int word, uint32_t x) {
    int to = b.thread() % WarpLanes;
    if (to < cluster)
      b.storeRemote(found(), to, foundPlace(rank, word), x);
  }
  /// Until all have told, and what one has.
  KV_BODY void awaitOthers() {
    b.syncCluster();
    read = turn;
    turn ^= 1;
  }
  KV_BODY uint32_t told(int from, int word) {
    return found().load((read * MostSampleBlocks + from) * Digits * FoundWords +
                        word);
  }

  /// f(logit, token) for this thread's part of the tokens [begin, end); begin
  /// is a multiple of 8.
  template <class Function>
  KV_BODY void forEachLogit(int begin, int end, Function f) {
    for (int i = begin + (rank * MoverThreads + b.thread()) * Eight; i < end;
         i += cluster * MoverThreads * Eight) {
      float x[Eight];
      loadEight(b, logits, i, KV_DTYPE_F32, x);
      KV_UNROLL for (int j = 0; j < Eight; ++j)
        if (i + j < end)
          f(x[j], i + j);
    }
  }

  /// Adds, for this thread's tokens below `prefix`, what counts by the digit
  /// that follows it.
  template <Stage S>
  KV_BODY void sumDigits(uint64_t prefix, int shift, int bits) {
    constexpr bool ById = S == Stage::Draw;
    auto sums = b.template shared<uint64_t>(0, Digits * MoverThreads);
    auto counts = b.template shared<uint8_t>(CountsAt, Digits * MoverThreads);
    for (int d = 0; d < Digits; ++d) {
      sums.store(d * MoverThreads + b.thread(), 0);
      counts.store(b.thread() * Digits + d, 0);
    }
    int begin = 0, end = p.width;
    if (ById && shift + DigitBits < bits) {
      begin = int(prefix << (shift + DigitBits));
      end = kv::plan::lesser(end, begin + (Digits << shift));
    }
    forEachLogit(begin, end, [&](float logit, int token) {
      if (logit == kv::plan::NoScore)
        return;
      uint64_t place =
          uint64_t(kv::sampling::orderOf(logit)) << idBits | uint64_t(token);
      if (place > last)
        return;
      if (ById)
        place = uint64_t(token);
      if (place >> (shift + DigitBits) != prefix)
        return;
      uint64_t weight = 1;
      if (S != Stage::TopK)
        weight = kv::sampling::weightOf(logit, maximum, scale);
      if (weight == 0 || (ById && weight < least))
        return;
      int digit = int(place >> shift & (Digits - 1));
      int sum = digit * MoverThreads + b.thread();
      sums.store(sum, sums.load(sum) + weight);
      int count = b.thread() * Digits + digit; // a thread's own words
      counts.store(count, counts.load(count) ? 2 : 1);
    });
  }

  /// The sums of all threads and blocks, and which digits one token has alone.
  KV_BODY void addThreads() {
    auto sums = b.template shared<uint64_t>(0, Digits * MoverThreads);
    auto counts = b.template shared<uint8_t>(CountsAt, Digits * MoverThreads);
    auto totals = b.template shared<uint64_t>(TotalsAt, Digits);
    auto alone = b.template shared<uint32_t>(AlonesAt, Digits);
    int warp = b.thread() / WarpLanes, lane = b.thread() % WarpLanes;
    for (int d = warp; d < Digits; d += MoverWarps) {
      uint64_t sum = 0, count = 0;
      for (int t = lane; t < MoverThreads; t += WarpLanes) {
        sum += sums.load(d * MoverThreads + t);
        count += counts.load(t * Digits + d);
      }
      sum = shuffleSum(b, sum);
      count = shuffleSum(b, count);
      if (cluster > 1) {
        tell(d * FoundWords, uint32_t(sum));
        tell(d * FoundWords + 1, uint32_t(sum >> 32));
        tell(d * FoundWords + 2, uint32_t(count));
      } else if (lane == 0) {
        totals.store(d, sum);
        alone.store(d, count == 1);
      }
    }
    if (cluster > 1) {
      awaitOthers();
      if (int d = b.thread(); d < Digits) {
        uint64_t sum = 0;
        uint32_t count = 0;
        for (int r = 0; r < cluster; ++r) {
          sum += uint64_t(told(r, d * FoundWords + 1)) << 32 |
                 told(r, d * FoundWords);
          count += told(r, d * FoundWords + 2);
        }
        totals.store(d, sum);
        alone.store(d, count == 1);
      }
    }
  }

  /// The number of the first token at which the sum of what counts passes the
  /// stage's limit: by id, or in order, where ids are the last digits. If no
  /// sum does, more than any.
  template <Stage S> KV_BODY uint64_t firstBeyond(uint64_t given) {
    constexpr bool ById = S == Stage::Draw;
    auto totals = b.template shared<uint64_t>(TotalsAt, Digits);
    auto alone = b.template shared<uint32_t>(AlonesAt, Digits);
    int bits = ById ? idBits : 32 + idBits;
    uint64_t prefix = 0, before = 0, limit = 0;
    for (int shift = bits - DigitBits; shift >= 0; shift -= DigitBits) {
      sumDigits<S>(prefix, shift, bits);
      b.sync();
      addThreads();
      b.sync();
      if (shift + DigitBits == bits) {
        uint64_t all = 0;
        for (int d = 0; d < Digits; ++d)
          all += totals.load(d);
        limit = S == Stage::TopK ? given - 1
                : S == Stage::TopP
                    ? kv::sampling::enoughOf(all, b.load(p.topP + row)) - 1
                    : kv::sampling::shareOf(given, all);
        if (all <= limit)
          return ~uint64_t(0);
      }
      int digit = 0;
      for (uint64_t sum; before + (sum = totals.load(digit)) <= limit; ++digit)
        before += sum;
      prefix = prefix << DigitBits | uint64_t(digit);
      if (!ById && alone.load(digit))
        return ((prefix + 1) << shift) - 1; // no other kept token is there
    }
    return prefix;
  }

  B &b;
  const SampleParams &p;
  int64_t row;
  const float *logits;
  const int cluster, rank;
  int turn = 0, read = 0; // of what blocks tell one another
  float maximum = 0, scale = 0;
  int idBits = DigitBits;
  uint64_t last = ~uint64_t(0); // in order, of those that are kept
  uint64_t least = 0;
};

template <class B> KV_BODY void sampleBody(B &b, const SampleParams &p) {
  const int cluster = b.clusterBlocks();
  // All blocks are there before one is told something.
  if (cluster > 1)
    b.syncCluster();
  for (int row = b.block() / cluster; row < p.rows;
       row += b.blocks() / cluster) {
    int32_t token = RowDraw<B>(b, p, row).run();
    if (b.thread() == 0 && b.clusterRank() == 0)
      b.store(p.out + row, token);
    // The next row's sums may come, and what is told of them.
    if (cluster > 1)
      b.syncCluster();
    else
      b.sync();
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_MOVERS_SAMPLEBODY_H
