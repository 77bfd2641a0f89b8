//===- MaskPoints.h - The points that decide for all ------------*- C++ -*-===//
//
// A mask is a function of q, k and T that looks at them by comparisons x - y <=
// c alone, x and y each one of q, k, T and 0. Such comparisons cut the space of
// (q, k, T) into cells on which the mask is constant, and a cell that is not
// empty contains its least point: every variable there is another one, or 0,
// plus one of the constants (shortest paths of difference constraints). So the
// finitely many points that are chains of constants decide for all positions:
// if a mask agrees with `causal` on them it agrees everywhere. The constants
// include those of the mask that is compared with, and of 0 <= q, k < T.
//
// A mask of chunks compares x div W as well, x being q or k. Such a mask also
// depends on the chunks' beginnings, a = W (q div W) and b = W (k div W). q - a
// and k - b are in [0, W), and quotients are compared as a - b <= c W. A cell
// has a least point here as well, because multiples of W have a least one. In
// this point, a and b are chains of at most two constants, each the sum of up
// to three others, rounded up to a multiple of W. q and k are chains from 0, a
// and b.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_RAISE_ANALYSIS_MASKPOINTS_H
#define KV_PASSES_RAISE_ANALYSIS_MASKPOINTS_H

#include <array>
#include <cstdint>
#include <optional>
#include <set>

namespace kv {

using Point = std::array<int64_t, 3>; // q, k, T

/// Every point that is a chain of constants from 0, with 0 <= q, k < T.
std::set<Point> chains(const std::set<int64_t> &constants, int64_t maxLength);

/// The points for a mask of chunks that does not compare the length; nothing
/// where they would be too many.
std::optional<std::set<Point>> chunkPoints(const std::set<int64_t> &constants,
                                           int64_t chunk, int64_t maxLength);

} // namespace kv

#endif // KV_PASSES_RAISE_ANALYSIS_MASKPOINTS_H
