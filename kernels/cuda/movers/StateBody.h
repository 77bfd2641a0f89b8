//===- StateBody.h - Recurrent layers ---------------------------*- C++ -*-===//
//
// Convolutions and scans whose states lie in a cache. A step may begin with a
// state and end in its place, so the thread that reads a state of a sequence
// also writes it. Rows go one after the other, by the same operations whatever
// the step: no bit depends on how a prompt is cut, nor on the batch.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_MOVERS_STATEBODY_H
#define KV_KERNELS_CUDA_MOVERS_STATEBODY_H

#include "MoverBodies.h"
#include "kernels/cuda/parameters/States.h"

namespace kv::cuda {

/// Where state `column` (0: read, 1: written) of a sequence begins; NoState:
/// zeros, or nowhere.
constexpr int64_t NoState = -1;
template <class B>
KV_BODY int64_t stateAt(B &b, const StatesView &states, int64_t sequence,
                        int column) {
  int32_t id = b.load(states.table + sequence * states.tablePitch + column);
  if (id <= 0 || id >= states.count)
    return NoState;
  return id * states.stride;
}

template <class B>
KV_BODY void copyStatesBody(B &b, const CopyStatesParams &p) {
  const StatesView &s = p.states;
  int chunks = s.dim / Eight;
  int64_t perSequence = int64_t(s.heads) * chunks;
  for (int64_t i = firstItem(b, MoverThreads); i < p.sequences * perSequence;
       i += itemStep(b, MoverThreads)) {
    int64_t sequence = i / perSequence;
    int rest = int(i - sequence * perSequence);
    int head = rest / chunks, column = rest % chunks * Eight;
    int64_t at = stateAt(b, s, sequence, p.toStates);
    int64_t row = i * Eight, inside = head * s.headStride + column;
    float x[Eight] = {};
    if (!p.toStates) {
      if (at != NoState)
        loadEight(b, s.data, at + inside, s.type, x);
      storeEight(b, p.rows, row, p.rowsType, x);
    } else if (at != NoState) {
      loadEight(b, p.rows, row, p.rowsType, x);
      storeEight(b, s.data, at + inside, s.type, x);
    }
  }
}

/// Eight channels of a convolution: its taps, and the rows before a token, the
/// oldest first.
template <class B> struct Convolution {
  static constexpr int MostRows = kernels::MostTaps - 1;

  B &b;
  const StateConvolutionParams &p;
  int column;
  float before[MostRows][Eight] = {};

  KV_BODY void loadRow(int64_t token, float (&x)[Eight]) {
    loadEight(b, p.x + token * p.xStride + column, x);
  }

  /// Computes token t, x being its row, and moves it to the rows before.
  KV_BODY void take(int64_t token, const float (&x)[Eight]) {
    float sum[Eight];
    for (int tap = 0; tap < p.taps; ++tap) {
      float w[Eight];
      loadEight(b, p.weight + tap * p.weightStride + column, w);
      KV_UNROLL for (int j = 0; j < Eight; ++j) {
        float row = x[j];
        KV_UNROLL for (int i = 0; i < MostRows; ++i)
          row = i == tap && tap + 1 < p.taps ? before[i][j] : row;
        sum[j] = tap == 0 ? kv::plan::multiply(row, w[j])
                          : kv::plan::fusedMultiplyAdd(row, w[j], sum[j]);
      }
    }
    if (p.bias) {
      float bias[Eight];
      loadEight(b, p.bias + column, bias);
      KV_UNROLL for (int j = 0; j < Eight; ++j)
        sum[j] += bias[j];
    }
    KV_UNROLL for (int j = 0; j < Eight; ++j)
      sum[j] = sum[j] / (expf(-sum[j]) + 1.0f);
    storeEight(b, p.out + token * p.outStride + column, sum);
    push(x);
  }

  /// The oldest row goes, x comes.
  KV_BODY void push(const float (&x)[Eight]) {
    KV_UNROLL for (int i = 0; i < MostRows; ++i) KV_UNROLL
      for (int j = 0; j < Eight; ++j)
        before[i][j] = i + 2 < p.taps && i + 1 < MostRows ? before[i + 1][j]
                       : i + 2 == p.taps                  ? x[j]
                                                          : before[i][j];
  }
};

/// An item is a chunk of a sequence, with the state and the first rows, which
/// look at it, or a chunk of a later row.
template <class B>
KV_BODY void stateConvolutionBody(B &b, const StateConvolutionParams &p) {
  int chunks = p.width / Eight, old = p.taps - 1;
  auto *data = static_cast<float *>(p.states.data);
  int64_t sequences = p.batch.sequences;
  int64_t items = sequences ? (sequences + p.batch.tokens) * chunks : 0;
  for (int64_t i = firstItem(b, MoverThreads); i < items;
       i += itemStep(b, MoverThreads)) {
    int64_t item = i / chunks;
    Convolution<B> work{b, p, int(i - item * chunks) * Eight};
    bool whole = item < sequences;
    int64_t token = item - sequences;
    int32_t number = whole ? int32_t(item) : sequenceOf(b, p.batch, token);
    kv::plan::Sequence sequence = kv::plan::sequenceAt(p.batch, number);
    float x[Eight];
    if (!whole) {
      int64_t at = token - sequence.token;
      if (at < old || at >= sequence.added)
        continue; // of the sequence's item, or of no sequence
      for (int64_t t = token - old; t < token; ++t) {
        work.loadRow(t, x);
        work.push(x);
      }
      work.loadRow(token, x);
      work.take(token, x);
      continue;
    }
    int64_t from = stateAt(b, p.states, number, 0);
    int64_t to = stateAt(b, p.states, number, 1);
    for (int row = 0; from != NoState && row < old; ++row) {
      loadEight(b, data + from + row * p.states.headStride + work.column, x);
      work.push(x);
    }
    int64_t end = sequence.token + sequence.added;
    int64_t first = kv::plan::lesser<int64_t>(sequence.added, old);
    for (int64_t t = sequence.token; t < sequence.token + first; ++t) {
      work.loadRow(t, x);
      work.take(t, x);
    }
    for (int64_t t = kv::plan::greater(end - old, sequence.token + first);
         t < end; ++t) {
      work.loadRow(t, x);
      work.push(x);
    }
    KV_UNROLL for (int row = 0; row < Convolution<B>::MostRows; ++row)
      if (to != NoState && row < old)
        storeEight(b, data + to + row * p.states.headStride + work.column,
                   work.before[row]);
  }
}

/// A warp's columns of one head's state: a lane has rows lane, lane + 32, ...
/// of all columns.
template <int Rows, int Columns, class B> struct ScanTile {
  static constexpr int Apart = WarpLanes / Columns; // lanes of a column

  B &b;
  const StateScanParams &p;
  int lane = b.thread() % WarpLanes, own = lane / Apart;
  float state[Rows][Columns] = {};

  struct Token {
    float q[Rows], k[Rows], v, decay, strength;
  };

  /// The sums over lanes: each has that of its own column.
  KV_BODY float sumOwn(const float (&x)[Columns]) {
    float y[Columns];
    KV_UNROLL for (int c = 0; c < Columns; ++c)
      y[c] = x[c];
    KV_UNROLL for (int half = Columns / 2; half > 0; half /= 2) {
      bool upper = own & half;
      KV_UNROLL for (int c = 0; c < half; ++c) {
        float mine = upper ? y[c + half] : y[c];
        float other = upper ? y[c] : y[c + half];
        y[c] = mine + b.shuffleXor(other, half * Apart);
      }
    }
    KV_UNROLL for (int mask = Apart / 2; mask > 0; mask /= 2)
      y[0] += b.shuffleXor(y[0], mask);
    return y[0];
  }

  /// Each lane's own column to all lanes.
  KV_BODY void spread(float x, float (&all)[Columns]) {
    all[0] = x;
    KV_UNROLL for (int have = 1; have < Columns; have *= 2) {
      bool upper = own & have;
      KV_UNROLL for (int c = 0; c < have; ++c) {
        float other = b.shuffleXor(all[c], have * Apart);
        all[c + have] = upper ? all[c] : other;
        all[c] = upper ? other : all[c];
      }
    }
  }

  KV_BODY Token load(int64_t t, int head, int column) {
    Token token;
    int64_t key = int64_t(head / p.perKey) * p.keyDim;
    KV_UNROLL for (int i = 0; i < Rows; ++i) {
      int n = lane + i * WarpLanes;
      bool there = n < p.keyDim;
      token.q[i] = there ? b.load(p.q + t * p.qStride + key + n) : 0.0f;
      token.k[i] = there ? b.load(p.k + t * p.kStride + key + n) : 0.0f;
    }
    token.v =
        b.load(p.v + t * p.vStride + int64_t(head) * p.valueDim + column + own);
    token.decay = b.load(p.decay + t * p.decayStride + head);
    token.strength = b.load(p.strength + t * p.strengthStride + head);
    return token;
  }

  /// The product of q with the state after the token, for the thread's own
  /// column.
  KV_BODY float take(const Token &token) {
    float write = token.v, sums[Columns], all[Columns];
    if (p.delta) {
      KV_UNROLL for (int c = 0; c < Columns; ++c) {
        sums[c] = 0;
        KV_UNROLL for (int i = 0; i < Rows; ++i)
          sums[c] = kv::plan::fusedMultiplyAdd(
              kv::plan::multiply(state[i][c], token.decay), token.k[i],
              sums[c]);
      }
      write -= sumOwn(sums);
    }
    spread(kv::plan::multiply(write, token.strength), all);
    KV_UNROLL for (int c = 0; c < Columns; ++c) {
      sums[c] = 0;
      KV_UNROLL for (int i = 0; i < Rows; ++i) {
        float decayed = kv::plan::multiply(state[i][c], token.decay);
        state[i][c] = kv::plan::fusedMultiplyAdd(token.k[i], all[c], decayed);
        sums[c] = kv::plan::fusedMultiplyAdd(state[i][c], token.q[i], sums[c]);
      }
    }
    return sumOwn(sums);
  }

  /// From or to memory: rows of `Columns` elements.
  template <class Function> KV_BODY void forEachQuad(Function f) {
    KV_UNROLL for (int i = 0; i < Rows; ++i) KV_UNROLL
      for (int c = 0; c < Columns; c += 4)
        if (lane + i * WarpLanes < p.keyDim)
          f(&state[i][c], int64_t(lane + i * WarpLanes) * p.valueDim + c);
  }

  KV_BODY void run() {
    int tiles = p.valueDim / Columns;
    int64_t perSequence = int64_t(p.valueHeads) * tiles;
    auto *data = static_cast<float *>(p.states.data);
    for (int64_t unit =
             int64_t(b.block()) * MoverWarps + b.thread() / WarpLanes;
         unit < p.batch.sequences * perSequence;
         unit += int64_t(b.blocks()) * MoverWarps) {
      int32_t index = int32_t(unit / perSequence);
      int rest = int(unit - index * perSequence);
      int head = rest / tiles, column = rest % tiles * Columns;
      kv::plan::Sequence sequence = kv::plan::sequenceAt(p.batch, index);
      int64_t inside = head * p.states.headStride + column;
      int64_t from = stateAt(b, p.states, index, 0);
      forEachQuad([&](float *x, int64_t at) {
        FloatQuad four{};
        if (from != NoState)
          four = b.load(
              reinterpret_cast<const FloatQuad *>(data + from + inside + at));
        x[0] = four.x;
        x[1] = four.y;
        x[2] = four.z;
        x[3] = four.w;
      });
      float skip = p.skip ? b.load(p.skip + head) : 0.0f;
      int64_t end = sequence.token + sequence.added;
      Token next{};
      if (sequence.added)
        next = load(sequence.token, head, column);
      for (int64_t t = sequence.token; t < end; ++t) {
        Token token = next;
        if (t + 1 < end)
          next = load(t + 1, head, column); // while this one is computed
        float out = take(token);
        if (p.skip)
          out = kv::plan::fusedMultiplyAdd(token.v, skip, out);
        if (lane % Apart == 0)
          b.store(p.out + t * p.outStride + int64_t(head) * p.valueDim +
                      column + own,
                  out);
      }
      int64_t to = stateAt(b, p.states, index, 1);
      forEachQuad([&](const float *x, int64_t at) {
        if (to != NoState)
          b.store(reinterpret_cast<FloatQuad *>(data + to + inside + at),
                  FloatQuad{x[0], x[1], x[2], x[3]});
      });
    }
  }
};

template <class B> KV_BODY void stateScanBody(B &b, const StateScanParams &p) {
  constexpr int Short = ShortScanKeys / WarpLanes;
  constexpr int Long = kernels::MostScanKeys / WarpLanes;
  if (scanColumns(p.keyDim) == ScanColumns)
    ScanTile<Short, ScanColumns, B>{b, p}.run();
  else
    ScanTile<Long, LongScanColumns, B>{b, p}.run();
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_MOVERS_STATEBODY_H
