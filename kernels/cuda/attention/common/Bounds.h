//===- Bounds.h - What the rows of a unit see -------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_BOUNDS_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_BOUNDS_H

#include "Rows.h"
#include "ThreadMaps.h"

namespace kv::cuda {

/// The keys that each row sees, in shared memory, and those that all see.
template <Block B, class C> class Bounds {
public:
  KV_BODY Bounds(B &b, const AttentionParams &p) : b(b), p(p) {}

  /// Writes which keys each row sees and, where the configuration has a slot
  /// for it, where its result goes. Rows past the last one see nothing.
  KV_BODY void store(const Rows<B, C> &rows,
                     const kv::plan::Sequence &sequence) {
    for (int row = threadNow<C>(b); row < C::Rows; row += C::Threads) {
      bool live = row < rows.liveRows;
      seen().store(row, live ? rows.visible(sequence, row) : IntPair{0, 0});
      if constexpr (BytesOf<C, slot::OutPlaces> > 0)
        view<C, slot::OutPlaces, int64_t>(b).store(
            row, live ? rows.outPlace(row) : -1);
    }
  }
  /// Keys that all rows see need no mask. Of trees of drafts, the paths are
  /// stored as well.
  KV_BODY void seeAll(const Rows<B, C> &rows,
                      const kv::plan::Sequence &sequence) {
    allSeeFrom = rows.visible(sequence, rows.liveRows - 1).x;
    allSeeTo = rows.visible(sequence, 0).y;
    if (p.ancestors)
      storePaths(rows, sequence);
  }

  /// Whether a row may not see a key of the leaf that begins with key `first`.
  KV_BODY bool isMasked(int first) const {
    return first < allSeeFrom || first > allSeeTo - C::Leaf;
  }
  KV_BODY auto seen() const { return view<C, slot::Bounds, IntPair>(b); }
  /// Each row's path as two words, the upper first.
  KV_BODY auto paths() const { return view<C, slot::Paths, IntPair>(b); }

  B &b;
  const AttentionParams &p;
  int32_t allSeeFrom, allSeeTo;

private:
  KV_BODY void storePaths(const Rows<B, C> &rows,
                          const kv::plan::Sequence &sequence) {
    for (int row = b.thread(); row < C::Rows; row += C::Threads) {
      if (row >= rows.liveRows) {
        paths().store(row, {-1, -1});
        continue;
      }
      IntPair its = seen().load(row);
      uint64_t path = rows.pathOf(sequence, row, its);
      seen().store(row, its);
      paths().store(row, {int32_t(path >> 32), int32_t(path)});
    }
    // Before the tree all is as it was.
    allSeeTo = int32_t(kv::plan::lesser<int64_t>(
        allSeeTo,
        sequence.cached + kv::plan::tokensBeforeTree(sequence.added)));
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_BOUNDS_H
