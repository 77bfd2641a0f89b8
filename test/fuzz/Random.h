//===- Random.h - The same numbers everywhere -------------------*- C++ -*-===//

#ifndef KV_TEST_FUZZ_RANDOM_H
#define KV_TEST_FUZZ_RANDOM_H

#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace kv::fuzz {

/// SplitMix64 (Steele, Lea, Flood 2014): a seed is a sequence, on any machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ull + 1) {}

  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

  /// 0 .. count - 1.
  int64_t below(int64_t count) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(count));
  }
  /// low .. high.
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  bool percent(int64_t chance) { return below(100) < chance; }
  template <typename T> T oneOf(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  template <typename Range> auto &&oneOf(Range &&range) {
    return range[below(std::size(range))];
  }
  double uniform() { return (next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace kv::fuzz

#endif // KV_TEST_FUZZ_RANDOM_H
