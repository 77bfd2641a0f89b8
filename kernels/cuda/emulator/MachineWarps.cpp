//===- MachineWarps.cpp - What the lanes of a warp do together ------------===//

#include "../Widen.h"
#include "Machine.h"

#include <array>

using namespace kv::cuda;

void Machine::executeShuffle(WarpRequest *lanes) {
  uint32_t values[WarpLanes];
  for (int l = 0; l < WarpLanes; ++l)
    values[l] = *lanes[l].words;
  for (int l = 0; l < WarpLanes; ++l)
    *lanes[l].words = values[l ^ lanes[l].argument];
}

template <bool Transposed> void Machine::executeLoad(int warp) {
  WarpRequest *lanes = warps[warp].requests;
  uint16_t rows[WarpLanes][8];
  for (int l = 0; l < WarpLanes; ++l)
    sharedRead(warp * WarpLanes + l, lanes[l].argument, ChunkBytes, rows[l]);
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i) {
      Place low = matrixElement(l, 0, Transposed);
      Place high = matrixElement(l, 1, Transposed);
      lanes[l].words[i] = rows[i * 8 + low.row][low.column] |
                          uint32_t(rows[i * 8 + high.row][high.column]) << 16;
    }
}

namespace {

/// Where a lane's registers lie in a MatrixTile: pairs of A and B, and sums.
struct FragmentPlaces {
  uint8_t a[4], b[2], sums[4];
};
constexpr auto Fragments = [] {
  std::array<FragmentPlaces, WarpLanes> lanes{};
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i) {
      Place a = fragmentA(l, i, 0), sum = fragmentC(l, i);
      lanes[l].a[i] = a.row * 8 + a.column / 2;
      lanes[l].sums[i] = sum.row * 8 + sum.column;
      if (i < 2) {
        Place b = fragmentB(l, i, 0);
        lanes[l].b[i] = b.row / 2 * 8 + b.column;
      }
    }
  return lanes;
}();

} // namespace

void Machine::executeMultiplyAdd(WarpRequest *lanes) {
  MatrixTile tile;
  for (int l = 0; l < WarpLanes; ++l) {
    const FragmentPlaces &places = Fragments[l];
    for (int i = 0; i < 4; ++i) {
      tile.a[places.a[i]] = lanes[l].words[i];
      tile.sums[places.sums[i]] = lanes[l].sums[i];
    }
    for (int i = 0; i < 2; ++i)
      tile.b[places.b[i]] = lanes[l].words[4 + i];
  }
  matrices.multiplyAdd(tile, lanes[0].argument == int(Multiplied::F16));
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i)
      lanes[l].sums[i] = tile.sums[Fragments[l].sums[i]];
}

// m16n8k32 of e4m3: its products of elements 0 to 15, then those of 16 to 31,
// are added as m16n8k16 of f16 adds, which has all of their bits. On 9.0 ptxas
// makes these two instructions of it; of 12.0, which has one, it is an
// assumption.
void Machine::executeByteProducts(WarpRequest *lanes) {
  MatrixTile tile;
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i)
      tile.sums[Fragments[l].sums[i]] = lanes[l].sums[i];
  for (int step = 0; step < 2; ++step) {
    for (int l = 0; l < WarpLanes; ++l) {
      const uint32_t *words = lanes[l].words;
      for (int side = 0; side < 2; ++side) {
        Place place = byteFragmentA(l, side, 0);
        uint32_t *pairs = &tile.a[place.row * 8 + place.column / 2];
        widenFour<F8E4M3>(words[step * 2 + side], pairs[0], pairs[1]);
      }
      Place place = byteFragmentB(l, 0, 0);
      uint32_t *pairs = &tile.b[place.row / 2 * 8 + place.column];
      widenFour<F8E4M3>(words[4 + step], pairs[0], pairs[8]);
    }
    matrices.multiplyAdd(tile, /*f16=*/true);
  }
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i)
      lanes[l].sums[i] = tile.sums[Fragments[l].sums[i]];
}

void Machine::request(int thread, unsigned what, int argument, uint32_t *words,
                      float *sums) {
  Warp &warp = warps[unsigned(thread) / WarpLanes];
  warp.requests[unsigned(thread) % WarpLanes] = {what, argument, words, sums};
  if (warp.waiting == 0)
    warp.what = what;
  warp.mixed |= warp.what != what;
  if (++warp.waiting < WarpLanes || warp.mixed)
    return yield();
  executeWarp(thread / WarpLanes, thread);
}

void Machine::executeWarp(int number, int thread) {
  Warp &warp = warps[number];
  switch (warp.requests[0].operation()) {
  case WarpOperation::Shuffle:
    if (hasRoles())
      for (int l = 0; l < WarpLanes; ++l)
        checkFinished(number * WarpLanes + l, warp.requests[l].words,
                      sizeof(uint32_t));
    executeShuffle(warp.requests);
    break;
  case WarpOperation::LoadMatrix:
    executeLoad<false>(number);
    break;
  case WarpOperation::LoadTransposed:
    executeLoad<true>(number);
    break;
  case WarpOperation::MultiplyAdd:
    if (warp.requests[0].argument == int(Multiplied::F8E4M3))
      executeByteProducts(warp.requests);
    else
      executeMultiplyAdd(warp.requests);
    break;
  }
  warp.waiting = 0;
  for (int t = number * WarpLanes; t < (number + 1) * WarpLanes; ++t)
    if (t != thread)
      runnable.push(t);
}
