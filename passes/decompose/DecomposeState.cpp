//===- DecomposeState.cpp - The plain meaning of state_read, state_write --===//
//
// The table has two columns: the state that a step begins with, and the place
// of the one that it ends with. An id that names no state reads as zeros and is
// not written, whatever the table holds.
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"
#include "passes/common/CacheAccess.h"
#include "passes/common/KernelLoops.h"
#include "passes/common/States.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace kv;

Value kv::isState(Emitter &b, Value id, Value blocks) {
  Value count = memref::DimOp::create(b, blocks, 0);
  return b.both(b.less(b.index(0), id), b.less(id, count));
}

/// result[b, h, d] = is(table[b, 0]) ? blocks[table[b, 0], 0, layer, 0, h, d] :
/// 0
Value kv::readStates(Emitter &b, CacheOpInterface cache, Value layer,
                     RankedTensorType type) {
  layer = checkedLayer(b, layer, cache.getCollectionType());
  Value blocks = cache.getBlocks(), table = cache.getLookupTable();
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(b.dim(table, 0));
  Value empty = tensor::EmptyOp::create(b, type, sizes);
  // Heads are the outer loop: a step of one sequence is for all threads too.
  constexpr unsigned order[] = {1, 0, 2};
  auto states = linalg::GenericOp::create(
      b, type, ValueRange(), empty,
      AffineMap::getPermutationMap(order, b.getContext()),
      SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel),
      [&](OpBuilder &nested, Location loc, ValueRange) {
        Emitter b(loc, nested);
        SmallVector<Value> at;
        for (unsigned i : order)
          at.push_back(linalg::IndexOp::create(b, i));
        Value zero = b.index(0);
        Value id = b.extractIndex(table, ValueRange{at[0], zero});
        Value exists = isState(b, id, blocks);
        // The null state is there to be read.
        Value from = b.select(exists, id, zero);
        Value loaded = memref::LoadOp::create(
            b, blocks, ValueRange{from, zero, layer, zero, at[1], at[2]});
        Value state =
            b.select(exists, b.toF32(loaded), b.constant(b.getF32Type(), 0));
        linalg::YieldOp::create(b, b.fromF32(state, type.getElementType()));
      });
  return states.getResult(0);
}

/// for each head, in parallel: for b: if is(table[b, 1]):
/// blocks[table[b, 1], 0, layer, 0, h] = state[b, h]
void kv::writeStates(Emitter &b, CacheOpInterface cache, Value layer,
                     Value states) {
  CollectionType type = cache.getCollectionType();
  layer = checkedLayer(b, layer, type);
  Value blocks = cache.getBlocks(), table = cache.getLookupTable();
  Value zero = b.index(0);
  // Sequences follow each other: a place that two of them have is the last
  // one's.
  buildForall(
      b, b.getLoc(), b.index(type.getHeads()), grainOf(2 * type.getDim()),
      [&](OpBuilder &nested, Value h) {
        Emitter b(cache.getLoc(), nested);
        forEach(b, zero, b.dim(table, 0), [&](Emitter &b, Value sequence) {
          Value id = b.extractIndex(table, ValueRange{sequence, b.index(1)});
          when(b, isState(b, id, blocks), [&](Emitter &b) {
            forEach(b, zero, b.index(type.getDim()), [&](Emitter &b, Value d) {
              Value number = b.toF32(tensor::ExtractOp::create(
                  b, states, ValueRange{sequence, h, d}));
              memref::StoreOp::create(
                  b, b.fromF32(number, type.getElementType()), blocks,
                  ValueRange{id, zero, layer, zero, h, d});
            });
          });
        });
      });
}

static SmallVector<Value> decompose(Emitter &b, StateReadOp op) {
  return {readStates(b, op, op.getLayer(), op.getResult().getType())};
}

static SmallVector<Value> decompose(Emitter &b, StateWriteOp op) {
  writeStates(b, op, op.getLayer(), op.getState());
  return {};
}

void kv::attachStateDecompositions(MLIRContext *context) {
  StateReadOp::attachInterface<Decomposition<StateReadOp, decompose>>(*context);
  StateWriteOp::attachInterface<Decomposition<StateWriteOp, decompose>>(
      *context);
}
