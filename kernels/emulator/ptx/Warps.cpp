//===- Warps.cpp - What the lanes of a warp, and blocks, do together ------===//

#include "Program.h"

using namespace kv::ptx;
using namespace kv::cuda;

namespace {

/// Collectives are of whole warps here.
void checkMask(const Operation *op, ThreadState &t, uint32_t mask) {
  if (mask != ~0u)
    t.report(op, "names lanes of a warp, where all are modelled");
}

uint32_t exchange(const Operation *op, ThreadState &t, uint32_t word,
                  int lane) {
  t.at(op).collective(t.self, WarpOperation::Shuffle, op->line,
                      t.self % WarpLanes ^ lane, &word);
  return word;
}

enum class Shuffle { Up, Down, Butterfly, Index };

template <Shuffle S>
const Operation *shuffle(const Operation *op, ThreadState &t) {
  int first = op->vectors & 1 ? 2 : 1, lane = t.self % WarpLanes;
  uint32_t word = t.operand<uint32_t>(op, first),
           clamp = t.operand<uint32_t>(op, first + 2);
  int by = t.operand<int>(op, first + 1) & 31, segment = clamp >> 8 & 31;
  checkMask(op, t, t.operand<uint32_t>(op, first + 3));
  int last = (lane & segment) | (clamp & 31 & ~segment);
  int from = S == Shuffle::Up          ? lane - by
             : S == Shuffle::Down      ? lane + by
             : S == Shuffle::Butterfly ? lane ^ by
                                       : (lane & segment) | (by & ~segment);
  bool inside = S == Shuffle::Up ? from >= last : from <= last;
  t.put(t.place(op, 0), exchange(op, t, word, inside ? from : lane));
  if (first == 2)
    t.put(t.place(op, 1), inside);
  return op + 1;
}

/// A bit a lane.
uint32_t ballot(const Operation *op, ThreadState &t, bool vote, uint32_t mask) {
  checkMask(op, t, mask);
  int lane = t.self % WarpLanes;
  uint32_t word = uint32_t(vote) << lane;
  for (int by = 1; by < WarpLanes; by *= 2)
    word |= exchange(op, t, word, lane ^ by);
  return word;
}
enum class Vote { Any, All, Uniform, Ballot };
template <Vote V> const Operation *vote(const Operation *op, ThreadState &t) {
  uint32_t bits =
      ballot(op, t, t.operand<bool>(op, 1), t.operand<uint32_t>(op, 2));
  if constexpr (V == Vote::Ballot)
    t.put(op->at[0], bits);
  else
    t.put(op->at[0], V == Vote::Any   ? bits != 0
                     : V == Vote::All ? bits == ~0u
                                      : bits == 0 || bits == ~0u);
  return op + 1;
}

enum class Reduction { Add, Min, Max, And, Or, Xor };
template <class T, Reduction R>
const Operation *reduce(const Operation *op, ThreadState &t) {
  T x = t.operand<T>(op, 1);
  checkMask(op, t, t.operand<uint32_t>(op, 2));
  for (int by = 1; by < WarpLanes; by *= 2) {
    T y = T(exchange(op, t, uint32_t(x), t.self % WarpLanes ^ by));
    x = R == Reduction::Add   ? T(uint32_t(x) + uint32_t(y))
        : R == Reduction::Min ? std::min(x, y)
        : R == Reduction::Max ? std::max(x, y)
        : R == Reduction::And ? T(x & y)
        : R == Reduction::Or  ? T(x | y)
                              : T(x ^ y);
  }
  t.put(op->at[0], x);
  return op + 1;
}

const Operation *elect(const Operation *op, ThreadState &t) {
  checkMask(op, t, t.operand<uint32_t>(op, 2));
  t.put(op->at[0], 0u);
  t.put(op->at[1], t.self % WarpLanes == 0);
  return op + 1;
}

template <WarpOperation W>
const Operation *moveMatrix(const Operation *op, ThreadState &t) {
  constexpr bool Stores = W == WarpOperation::StoreMatrix;
  uint32_t words[4];
  for (int i = 0; Stores && i < 4; ++i)
    words[i] = t.operand<uint32_t>(op, 1 + i);
  int offset = t.sharedAt(t.operand<uint32_t>(op, Stores ? 0 : 4));
  t.at(op).collective(t.self, W, op->line, offset, words);
  for (int i = 0; !Stores && i < 4; ++i)
    t.put(t.place(op, i), words[i]);
  return op + 1;
}

template <MatrixElement E>
const Operation *multiplyAdd(const Operation *op, ThreadState &t) {
  uint32_t words[6];
  float sums[4];
  for (int i = 0; i < 6; ++i)
    words[i] = t.operand<uint32_t>(op, 4 + i);
  for (int i = 0; i < 4; ++i)
    sums[i] = t.operand<float>(op, 10 + i);
  t.at(op).collective(t.self, WarpOperation::MultiplyAdd, op->line, int(E),
                      words, sums);
  for (int i = 0; i < 4; ++i)
    t.put(t.place(op, i), sums[i]);
  return op + 1;
}

bool isWholeBlock(const Operation *op, ThreadState &t) {
  return t.operand<int>(op, 0) == 0 &&
         (op->arity == 1 ||
          t.operand<int>(op, 1) == t.machine->threadsOfBlock());
}
const Operation *syncBlock(const Operation *op, ThreadState &t) {
  t.beforeSync(op);
  if (isWholeBlock(op, t))
    t.at(op).sync(t.self);
  else
    t.async(op).named.sync(t.self, t.operand<int>(op, 0),
                           op->arity > 1 ? t.operand<int>(op, 1)
                                         : t.machine->threadsOfBlock());
  t.afterSync(op);
  return op + 1;
}
const Operation *arriveBlock(const Operation *op, ThreadState &t) {
  t.async(op).named.arrive(t.self, t.operand<int>(op, 0),
                           t.operand<int>(op, 1));
  return op + 1;
}
const Operation *syncWarp(const Operation *op, ThreadState &t) {
  checkMask(op, t, t.operand<uint32_t>(op, 0));
  t.async(op).named.syncWarp(t.self);
  return op + 1;
}
// What a thread does between its arrival and its wait counts as before it.
const Operation *arriveCluster(const Operation *op, ThreadState &t) {
  if (t.arrivedAtCluster)
    t.report(op, "arrives at the barrier of its cluster again before it waits");
  t.arrivedAtCluster = true;
  return op + 1;
}
const Operation *awaitCluster(const Operation *op, ThreadState &t) {
  if (!t.arrivedAtCluster)
    t.report(op,
             "waits at the barrier of its cluster, where it did not arrive");
  t.arrivedAtCluster = false;
  t.at(op).syncAll(t.self);
  return op + 1;
}

} // namespace

void kv::ptx::addWarpForms(Forms &forms) {
  forms["shfl.sync.up.b32"] = {shuffle<Shuffle::Up>, ""};
  forms["shfl.sync.down.b32"] = {shuffle<Shuffle::Down>, ""};
  forms["shfl.sync.bfly.b32"] = {shuffle<Shuffle::Butterfly>, ""};
  forms["shfl.sync.idx.b32"] = {shuffle<Shuffle::Index>, ""};
  forms["vote.sync.any.pred"] = {vote<Vote::Any>, "pp4"};
  forms["vote.sync.all.pred"] = {vote<Vote::All>, "pp4"};
  forms["vote.sync.uni.pred"] = {vote<Vote::Uniform>, "pp4"};
  forms["vote.sync.ballot.b32"] = {vote<Vote::Ballot>, "4p4"};
#define KV_REDUCE(name, reduction)                                             \
  forms["redux.sync." name ".u32"] = {reduce<uint32_t, reduction>, "444"};     \
  forms["redux.sync." name ".s32"] = {reduce<int32_t, reduction>, "444"};      \
  forms["redux.sync." name ".b32"] = {reduce<uint32_t, reduction>, "444"};
  KV_REDUCE("add", Reduction::Add)
  KV_REDUCE("min", Reduction::Min)
  KV_REDUCE("max", Reduction::Max)
  KV_REDUCE("and", Reduction::And)
  KV_REDUCE("or", Reduction::Or)
  KV_REDUCE("xor", Reduction::Xor)
#undef KV_REDUCE
  forms["elect.sync"] = {elect, "4p4"};
  for (const char *space : {".shared.b16", ".shared::cta.b16"}) {
    std::string x4 = "matrix.sync.aligned.m8n8.x4";
    forms["ld" + x4 + space] = {moveMatrix<WarpOperation::LoadMatrix>, "44444"};
    forms["ld" + x4 + ".trans" + space] = {
        moveMatrix<WarpOperation::LoadTransposed>, "44444"};
    forms["st" + x4 + space] = {moveMatrix<WarpOperation::StoreMatrix>,
                                "44444"};
  }
  const char *fourteen = "44444444444444";
  std::string k16 = "mma.sync.aligned.m16n8k16.row.col.f32",
              k32 = "mma.sync.aligned.m16n8k32.row.col.f32";
  forms[k16 + ".bf16.bf16.f32"] = {multiplyAdd<MatrixElement::Bf16>, fourteen};
  forms[k16 + ".f16.f16.f32"] = {multiplyAdd<MatrixElement::F16>, fourteen};
  forms[k32 + ".e4m3.e4m3.f32"] = {multiplyAdd<MatrixElement::F8E4M3>,
                                   fourteen};
  for (const char *barrier : {"bar.", "barrier.", "bar.cta.", "barrier.cta."}) {
    forms[std::string(barrier) + "sync"] = {syncBlock, ""};
    forms[std::string(barrier) + "sync.aligned"] = {syncBlock, ""};
    forms[std::string(barrier) + "arrive"] = {arriveBlock, "44", true};
  }
  forms["bar.warp.sync"] = {syncWarp, "4", true};
  for (const char *order : {"", ".release", ".relaxed"})
    for (const char *aligned : {"", ".aligned"})
      forms[std::string("barrier.cluster.arrive") + order + aligned] = {
          arriveCluster, ""};
  for (const char *order : {"", ".acquire"})
    for (const char *aligned : {"", ".aligned"})
      forms[std::string("barrier.cluster.wait") + order + aligned] = {
          awaitCluster, ""};
}
