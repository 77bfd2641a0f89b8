//===- FuseLaunches.cpp - Rotations and the store as one launch -----------===//

#include "kv/Passes/Passes.h"

#include "Launches.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

namespace kv {
#define GEN_PASS_DEF_KVFUSELAUNCHES
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// Whether both are one value, or equal constants.
static bool isSame(Value a, Value b) {
  Attribute x, y;
  return a == b || (matchPattern(a, m_Constant(&x)) &&
                    matchPattern(b, m_Constant(&y)) && x == y);
}

namespace {
/// A rotation, with the norm before it if there is one.
struct Rotated {
  LaunchOp rope, norm;
  Value
      heads; // what the norm reads, [T, H, D]; without one what the rope reads
};

/// A launch of `store`, by the names of its parameters.
struct Store {
  LaunchOp launch;
  SmallVector<OpOperand *> parameters = launch.getParameters();

  Value at(unsigned i) const {
    return parameters[i] ? parameters[i]->get() : Value();
  }
  Value blocks() const { return at(0); }
  Value scales() const { return at(1); }
  Value k() const { return at(6); }
  Value v() const { return at(7); }
};

/// The operations that become one launch.
struct Match {
  Store store;
  Rotated q, k;
};

struct FuseLaunches : kv::impl::KVFuseLaunchesBase<FuseLaunches> {
  void runOnOperation() override {
    SmallVector<LaunchOp> stores;
    getOperation().walk([&](LaunchOp op) {
      if (op.getCallee() == RuntimeFunction::store)
        stores.push_back(op);
    });
    for (LaunchOp store : stores) {
      auto opts =
          remark::RemarkOpts::name("NotFused").category("kv-fuse-launches");
      Match match{{store}, {}, {}};
      if (StringRef why = find(match); !why.empty())
        remark::missed(store.getLoc(), opts) << remark::add("{0}", why.str());
      else
        fuse(match);
    }
  }

private:
  /// Fills the match. Why not, or nothing.
  static StringRef find(Match &match) {
    const Store &store = match.store;
    if (!store.v() || !isa<RankedTensorType>(store.v().getType()))
      return "no store of keys and values by a GPU's kernel";
    LaunchOp rope = launchOf(store.k(), RuntimeFunction::rope);
    if (!rope || !rope.getResult().hasOneUse())
      return "the keys are not rotated for it alone";
    if (!getElementTypeOrSelf(rope.getResult()).isF32())
      return "the rotated keys are rounded before they are stored";
    match.k = {rope, {}, rope.getArguments()[0]};
    for (Operation *user : rope.getArguments()[1].getUsers()) {
      auto other = dyn_cast<LaunchOp>(user);
      if (other && other != rope && isOfQueries(other, match))
        match.q = {other, {}, other.getArguments()[0]};
    }
    if (!match.q.rope)
      return "no queries are rotated like the keys, and used behind it alone";
    auto heads = cast<ShapedType>(match.k.heads.getType());
    int64_t width =
        cast<ShapedType>(rope.getArguments()[2].getType()).getDimSize(1);
    int64_t dim = heads.getDimSize(2);
    if (dim % 16 || width % 16 || dim > 256)
      return "heads and angles must be multiples of 16, at most 256 elements";
    if (Value scales = store.scales()) {
      int64_t group =
          dim / cast<ShapedType>(scales.getType()).getShape().back();
      if (group != dim && (group % 8 || !llvm::isPowerOf2_64(group)))
        return "groups of a scale must be powers of two";
    }
    takeNorms(match);
    return "";
  }

  static bool isOfQueries(LaunchOp other, const Match &match) {
    LaunchOp rope = match.k.rope;
    Operation *store = match.store.launch;
    if (other.getCallee() != RuntimeFunction::rope ||
        other->getBlock() != store->getBlock() ||
        !other->isBeforeInBlock(store) ||
        other.getArguments()[2] != rope.getArguments()[2] ||
        !isSame(other.getArguments()[3], rope.getArguments()[3]))
      return false;
    auto q = cast<ShapedType>(other.getResult().getType());
    if (q.getDimSize(2) !=
        cast<ShapedType>(rope.getResult().getType()).getDimSize(2))
      return false;
    return llvm::all_of(other.getResult().getUsers(), [&](Operation *user) {
      Operation *ancestor = store->getBlock()->findAncestorOpInBlock(*user);
      return ancestor && store->isBeforeInBlock(ancestor);
    });
  }

  /// The norm that makes a rope's rows, if it is of each head and for it alone.
  static Rotated withNorm(Rotated rotated) {
    auto expanded = rotated.heads.getDefiningOp<tensor::ExpandShapeOp>();
    if (!expanded || !expanded.getResult().hasOneUse())
      return rotated;
    LaunchOp norm = launchOf(expanded.getSrc(), RuntimeFunction::norm);
    if (!norm || !norm.getResult().hasOneUse() ||
        cast<ShapedType>(norm.getArguments()[1].getType()).getRank() != 1 ||
        !getElementTypeOrSelf(norm.getResult()).isF32())
      return rotated;
    auto collapsed =
        norm.getArguments()[0].getDefiningOp<tensor::CollapseShapeOp>();
    if (!collapsed || collapsed.getSrcType().getShape() !=
                          cast<ShapedType>(rotated.heads.getType()).getShape())
      return rotated;
    return {rotated.rope, norm, collapsed.getSrc()};
  }

  /// Norms of both, with the same numbers, or of none.
  static void takeNorms(Match &match) {
    Rotated q = withNorm(match.q), k = withNorm(match.k);
    if (!q.norm || !k.norm)
      return;
    auto a = q.norm.getArguments(), b = k.norm.getArguments();
    if (!isSame(a[2], b[2]) || !isSame(a[3], b[3]))
      return;
    match.q = q;
    match.k = k;
  }

  void fuse(Match match) {
    const Store &store = match.store;
    Emitter b(store.launch);
    Value freqs = match.q.rope.getArguments()[2], zero;
    bool normed = match.q.norm != nullptr;
    auto number = [&](unsigned i) -> Value {
      if (normed)
        return match.q.norm.getArguments()[i];
      return zero ? zero : zero = b.constant(b.getF32Type(), 0.0);
    };
    Value scales = store.scales();
    int64_t flags = (normed ? 1 : 0) | (scales ? 2 : 0);
    // Lengths, table, offsets and layer are those of the store.
    Value arguments[] = {store.blocks(),
                         scales ? scales : store.blocks(),
                         store.at(2),
                         store.at(3),
                         store.at(4),
                         store.at(5),
                         match.q.heads,
                         match.k.heads,
                         store.v(),
                         match.q.rope.getArguments()[1],
                         freqs,
                         match.q.rope.getArguments()[3],
                         normed ? match.q.norm.getArguments()[1] : freqs,
                         normed ? match.k.norm.getArguments()[1] : freqs,
                         number(2),
                         number(3),
                         b.i32(flags)};
    Value out = match.q.rope.getOut();
    auto made = LaunchOp::create(b, RuntimeFunction::ropeStore, arguments, out);
    remark::passed(b.getLoc(), remark::RemarkOpts::name("Fused").category(
                                   "kv-fuse-launches"))
        << remark::add("{0} launches become one", normed ? 5 : 3);
    match.q.rope.getResult().replaceAllUsesWith(made.getResult());
    match.q.rope.erase();
    store.launch->erase();
    match.k.rope.erase();
    ++numFused;
  }
};
} // namespace
