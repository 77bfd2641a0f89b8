//===- ResolveBands.cpp - Layers of a band as layers of a collection ------===//

#include "kv/Passes/Passes.h"

#include "Bands.h"
#include "kv/ABI/Context.h"

namespace kv {
#define GEN_PASS_DEF_KVRESOLVEBANDS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

Value kv::sliceBand(Emitter &b, Value table, const CacheGeometry &geometry,
                    Value band) {
  if (geometry.bands() == 1)
    return table;
  Value sequences = b.dim(table, 0);
  Value pitch = b.dim(table, 1);
  Value entries = b.div(pitch, b.index(geometry.bands()));
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(
      b, table, ArrayRef<OpFoldResult>{zero, b.mul(band, entries)},
      ArrayRef<OpFoldResult>{sequences, entries},
      ArrayRef<OpFoldResult>{one, one});
}

namespace {
/// A layer as the band that it lies in and its place there.
struct BandLayer {
  Value band, layer;
};

struct ResolveBands : kv::impl::KVResolveBandsBase<ResolveBands> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](CacheOpInterface op) {
      if (op.getCollectionType().getGeometry().bands() == 1)
        return WalkResult::advance();
      if (!op.isResolved()) {
        op.emitOpError("has a handle: run kv-resolve-collections before");
        return WalkResult::interrupt();
      }
      if (!isa<TensorType>(op.getLookupTable().getType())) {
        op.emitOpError("is on buffers: run kv-resolve-bands before "
                       "bufferization");
        return WalkResult::interrupt();
      }
      resolve(op);
      ++numResolved;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static void resolve(CacheOpInterface op) {
    CacheGeometry geometry = op.getCollectionType().getGeometry();
    Emitter b(op);
    OpOperand *layer = op.getLayerOperand();
    // Without a layer only the number of entries of a row counts: that of the
    // first band is that of all.
    BandLayer at = layer ? locate(b, layer->get(), geometry)
                         : BandLayer{b.index(0), Value()};
    op.setLookupTable(sliceBand(b, op.getLookupTable(), geometry, at.band));
    if (layer)
      layer->set(at.layer);
    geometry.layers = geometry.layersPerPage();
    geometry.pageLayers = 0;
    op.setCollectionType(CollectionType::get(op.getContext(), geometry));
  }

  static BandLayer locate(Emitter &b, Value layer,
                          const CacheGeometry &geometry) {
    int64_t size = geometry.layersPerPage();
    // The verifier has looked at a constant.
    if (std::optional<int64_t> constant = getConstantIntValue(layer))
      return {b.index(*constant / size), b.index(*constant % size)};
    Value layers = b.index(geometry.layers), width = b.index(size);
    AssertOp::create(b, b.less(layer, layers), KV_STATUS_OUT_OF_RANGE,
                     ("the layer is outside the collection's " +
                      Twine(geometry.layers) + " layers")
                         .str());
    Value inside = b.minimum(layer, b.index(geometry.layers - 1));
    return {b.div(inside, width), b.rem(inside, width)};
  }
};
} // namespace
