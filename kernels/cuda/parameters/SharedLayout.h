//===- SharedLayout.h - What lies where in shared memory --------*- C++ -*-===//
//
// A kernel's configuration lists the arrays of its shared memory, each with a
// name, a type and a count; SharedLayout computes the offsets:
//
//   using Shared = SharedLayout<Slot<slot::Ring, Chunk, 512>,
//                               Slot<slot::Bounds, IntPair, 64>,
//                               Over<slot::Paths, IntPair, 64, slot::Bounds>>;
//
// A body reads OffsetOf<C, slot::Ring>, or asks for
// view<C, slot::Bounds, IntPair>(b).
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_SHAREDLAYOUT_H
#define KV_KERNELS_CUDA_PARAMETERS_SHAREDLAYOUT_H

#include "kernels/block/Block.h"
#include "kernels/block/Body.h"

namespace kv::cuda {

/// The names of the arrays. A configuration has those that its kernel uses.
namespace slot {
// Tiles of the cache, where they are multiplied and where they are copied to;
// queries and weights as operands.
struct Ring;
struct Copies;
struct Queries;
struct Weights;
// Addresses of keys; per row: largest scores of each warp, how the leaf and the
// group fold, how the result ends, which keys are seen, where the result goes.
struct RowPlaces;
struct Maxima;
struct GroupWeights;
struct TotalWeights;
struct Finishes;
struct Bounds;
struct Paths;
struct OutPlaces;
// Scales of queries; of keys and values, of their groups; per row the largest
// scale of a value and the sum of weights, of each warp.
struct QueryScales;
struct RowScales;
struct ScaleShares;
struct LargestScales;
struct RowSums;
// What waits until leaves are done: totals, a part of a group, a unit, states
// of rows, works, what a row sees.
struct Totals;
struct WaitingPart;
struct KeptUnit;
struct TotalStates;
struct LeafStates;
struct KeptWorks;
struct KeptWork;
struct KeptSights;
// Of a merge: whether this part was the last, the pieces' places, the largest
// scores of rows, the weights of pieces; of the kernel `merge` units and
// values.
struct Ticket;
struct PieceSlots;
struct PieceMaxima;
struct PieceWeights;
struct MergedUnits;
struct MergedValues;
// An operand of ones; the address of tensor memory.
struct Ones;
struct TensorPlace;
// Barriers (the configurations say what completes their phases).
struct Full;
struct Empty;
struct Landed;
struct Widened;
struct Transposed;
struct Scored;
struct Weighed;
struct Multiplied;
struct Folded;
struct Asked;
struct Drained;
} // namespace slot

/// `Count` elements behind all slots before it in the list.
template <class NameT, class T, int Count> struct Slot {
  using Name = NameT;
  static constexpr int Bytes = Count * int(sizeof(T)), Alignment = alignof(T);
};
/// `Count` elements where slot `Begin` begins, whose content nobody needs then.
template <class NameT, class T, int Count, class BeginT> struct Over {
  using Name = NameT;
  using Begin = BeginT;
  static constexpr int Bytes = Count * int(sizeof(T));
};
/// All from slot `Begin` to slot `End`.
template <class NameT, class BeginT, class EndT> struct Between {
  using Name = NameT;
  using Begin = BeginT;
  using End = EndT;
};
/// The place where slot `Name` ends.
template <class Name> struct After;

template <class... Slots> class SharedLayout {
public:
  /// The same list and more behind it.
  template <class... More> using With = SharedLayout<Slots..., More...>;

  template <class Name> static constexpr int offset() {
    int at = 0, found = -1;
    (place<Name, Slots>(at, found), ...);
    return found;
  }
  template <class Name> static constexpr int bytes() {
    int all = 0;
    ((all += std::is_same_v<Name, typename Slots::Name> ? size<Slots>() : 0),
     ...);
    return all;
  }
  /// Of all slots.
  static constexpr int bytes() {
    int at = 0, found = -1;
    (place<void, Slots>(at, found), ...);
    return at;
  }

private:
  template <class Name> static constexpr int begin(After<Name> *) {
    return offset<Name>() + bytes<Name>();
  }
  template <class Name> static constexpr int begin(Name *) {
    return offset<Name>();
  }
  template <class S> static constexpr int size() {
    if constexpr (requires { typename S::End; })
      return offset<typename S::End>() - begin((typename S::Begin *)nullptr);
    else
      return S::Bytes;
  }
  template <class Name, class S>
  static constexpr void place(int &at, int &found) {
    constexpr bool IsIt = std::is_same_v<Name, typename S::Name>;
    if constexpr (requires { S::Alignment; }) {
      if (S::Bytes > 0)
        at = (at + S::Alignment - 1) / S::Alignment * S::Alignment;
      found = IsIt ? at : found;
      at += S::Bytes;
    } else if constexpr (IsIt) {
      found = begin((typename S::Begin *)nullptr);
    }
  }
};

/// Where a slot of configuration C begins, and how many bytes it has.
template <class C, class Name>
inline constexpr int OffsetOf = C::Shared::template offset<Name>();
template <class C, class Name>
inline constexpr int BytesOf = C::Shared::template bytes<Name>();

/// A slot's elements as T.
template <class C, class Name, class T, class B> KV_BODY auto view(B &b) {
  return b.template shared<T>(OffsetOf<C, Name>,
                              BytesOf<C, Name> / int(sizeof(T)));
}

/// Barrier i of a slot of barriers, in bytes from the begin of shared memory.
template <class C, class Name> KV_HD constexpr int barrierOf(int i) {
  return OffsetOf<C, Name> + i * 8;
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_SHAREDLAYOUT_H
