//===- MachineWarps.cpp - What the lanes of a warp do together ------------===//

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

void Machine::executeStore(int warp) {
  WarpRequest *lanes = warps[warp].requests;
  uint16_t rows[WarpLanes][8];
  for (int l = 0; l < WarpLanes; ++l)
    for (int i = 0; i < 4; ++i)
      for (int half = 0; half < 2; ++half) {
        Place place = matrixElement(l, half, /*transposed=*/false);
        rows[i * 8 + place.row][place.column] =
            uint16_t(lanes[l].words[i] >> 16 * half);
      }
  for (int l = 0; l < WarpLanes; ++l)
    sharedWrite(warp * WarpLanes + l, lanes[l].argument, ChunkBytes, rows[l]);
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
  multiplyAdd(tile, MatrixElement(lanes[0].argument), MatrixInstruction::Mma);
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
  case WarpOperation::StoreMatrix:
    executeStore(number);
    break;
  case WarpOperation::MultiplyAdd:
    executeMultiplyAdd(warp.requests);
    break;
  }
  warp.waiting = 0;
  for (int t = number * WarpLanes; t < (number + 1) * WarpLanes; ++t)
    if (t != thread)
      runnable.push(t);
}
