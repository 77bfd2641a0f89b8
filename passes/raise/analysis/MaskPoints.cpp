//===- MaskPoints.cpp - The points that decide for all --------------------===//

#include "MaskPoints.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace kv;

std::set<Point> kv::chains(const std::set<int64_t> &constants,
                           int64_t maxLength) {
  std::set<Point> points;
  std::array<int, 3> order = {0, 1, 2};
  do {
    std::set<int64_t> first;
    for (int64_t a : constants)
      if (a >= 0)
        first.insert(a);
    for (int64_t a : first)
      for (int64_t b : constants)
        for (int64_t fromB : {int64_t(0), a})
          for (int64_t c : constants)
            for (int64_t fromC : {int64_t(0), a, fromB + b}) {
              Point point;
              point[order[0]] = a;
              point[order[1]] = fromB + b;
              point[order[2]] = fromC + c;
              auto [q, k, t] = point;
              if (q >= 0 && k >= 0 && q < t && k < t && t <= maxLength)
                points.insert(point);
            }
  } while (std::next_permutation(order.begin(), order.end()));
  return points;
}

std::optional<std::set<Point>>
kv::chunkPoints(const std::set<int64_t> &constants, int64_t chunk,
                int64_t maxLength) {
  int64_t most = 2 * llvm::divideCeil(3 * *constants.rbegin(), chunk);
  if (most > 24)
    return std::nullopt;
  std::set<Point> points;
  auto add = [&](int64_t q, int64_t k, int64_t a, int64_t b) {
    if (a <= q && q < a + chunk && b <= k && k < b + chunk && q < maxLength &&
        k < maxLength)
      points.insert({q, k, std::max(q, k) + 1});
  };
  for (int64_t a = 0; a <= most * chunk && a < maxLength; a += chunk)
    for (int64_t b = 0; b <= most * chunk && b < maxLength; b += chunk)
      for (int64_t from : {int64_t(0), a, b})
        for (int64_t c : constants)
          for (int64_t d : constants) {
            for (int64_t second : {int64_t(0), a, b})
              add(from + c, second + d, a, b);
            add(from + c, from + c + d, a, b);
            add(from + c + d, from + c, a, b);
          }
  return points;
}
