//===- CheckSteps.cpp - A step is checked once ----------------------------===//
//
// Every operation on a cache trusts the row offsets of its step: their number,
// their order, and that they agree with rows and lengths. This pass inserts the
// check where the values come into being, and only there. The callers of a
// private function check its arguments, so a model of any depth checks the
// arguments of its entry once.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "passes/common/HostSizes.h"

namespace kv {
#define GEN_PASS_DEF_KVCHECKSTEPS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {

/// One kv.rt.check_step, before it stands anywhere.
struct Requirement {
  Value rowOffsets, cacheLengths, lookupTable;
  Value maxLengths = {};             // null: they say nothing of these rows
  std::optional<HostSize> rows = {}; // of the tensors with one row per token
  int64_t sequences = ShapedType::kDynamic;
  int64_t page = 0; // 0: the rows have no keys
  int64_t bands = 1;
  Location loc;

  template <typename Callback> void forEachValue(Callback callback) {
    for (Value *value : {&rowOffsets, &cacheLengths, &lookupTable, &maxLengths})
      if (*value)
        callback(*value);
    if (rows && rows->value)
      callback(rows->value);
  }

  /// Takes what another one asks for, if it is of the same step and does not
  /// ask for something else.
  bool join(const Requirement &other) {
    if (rowOffsets != other.rowOffsets || cacheLengths != other.cacheLengths ||
        lookupTable != other.lookupTable ||
        (maxLengths && other.maxLengths && maxLengths != other.maxLengths) ||
        (page && other.page && (page != other.page || bands != other.bands)) ||
        (!ShapedType::isDynamic(sequences) &&
         !ShapedType::isDynamic(other.sequences) &&
         sequences != other.sequences) ||
        (rows && other.rows &&
         (rows->value != other.rows->value ||
          rows->number != other.rows->number)))
      return false;
    if (other.maxLengths)
      maxLengths = other.maxLengths;
    if (other.page) {
      page = other.page;
      bands = other.bands;
    }
    if (!ShapedType::isDynamic(other.sequences))
      sequences = other.sequences;
    if (other.rows)
      rows = other.rows;
    return true;
  }
};

/// Adds a requirement to those of one place.
void addTo(SmallVectorImpl<Requirement> &all, const Requirement &requirement) {
  for (Requirement &other : all)
    if (other.join(requirement))
      return;
  all.push_back(requirement);
}

/// The rows of a tensor, from where their number comes.
HostSize rowsOf(Value tensor) { return traceSize(tensor, 0); }

class StepChecker {
public:
  explicit StepChecker(ModuleOp module) : module(module) {}

  void run() {
    for (auto function : module.getOps<func::FuncOp>())
      (void)visit(function);
  }

private:
  enum class State { Unseen, Open, Done };
  struct Function {
    State state = State::Unseen;
    SmallVector<Requirement> ofCallers;
  };

  /// Whether every caller is a call that can check in the function's place.
  bool isCalledOnly(func::FuncOp function) {
    if (!function.isPrivate() ||
        function->hasAttr(KVDialect::getEntryAttrName()))
      return false;
    auto uses = SymbolTable::getSymbolUses(function, module);
    return uses && !uses->empty() &&
           llvm::all_of(*uses, [](SymbolTable::SymbolUse use) {
             return isa<func::CallOp>(use.getUser());
           });
  }

  /// Makes the checks of a function; what is left is for its callers. A
  /// function that calls itself checks for itself.
  ArrayRef<Requirement> visit(func::FuncOp function) {
    Function &known = functions[function];
    if (known.state == State::Done)
      return known.ofCallers;
    if (known.state == State::Open || function.isExternal()) {
      recursive.insert(function);
      return {};
    }
    known.state = State::Open;

    SmallVector<std::pair<Operation *, Requirement>> found;
    SmallVector<Operation *> replaced;
    function.walk([&](Operation *op) {
      SmallVector<Requirement> here;
      if (auto cache = dyn_cast<CacheOpInterface>(op))
        collect(cache, here);
      else if (auto check = dyn_cast<CheckStepOp>(op))
        collect(check, here);
      else if (auto call = dyn_cast<func::CallOp>(op))
        collect(call, here);
      if (isa<CheckStepOp>(op))
        replaced.push_back(op);
      for (const Requirement &requirement : here)
        found.push_back({op, requirement});
    });

    bool calledOnly = isCalledOnly(function) && !recursive.contains(function);
    SmallVector<Requirement> ofCallers;
    llvm::MapVector<Operation *, SmallVector<Requirement>> places;
    for (auto &[op, requirement] : found) {
      Operation *place = earliest(op, requirement, function);
      bool isArguments = calledOnly && !conditional(op, function);
      requirement.forEachValue([&](Value value) {
        auto argument = dyn_cast<BlockArgument>(value);
        isArguments &=
            argument && argument.getOwner() == &function.getBody().front();
      });
      addTo(isArguments ? ofCallers : places[place], requirement);
    }
    for (auto &[place, requirements] : places)
      for (const Requirement &requirement : requirements)
        create(place, requirement);
    for (Operation *op : replaced)
      op->erase();

    // The map may have grown.
    Function &done = functions[function];
    done.ofCallers = std::move(ofCallers);
    done.state = State::Done;
    return done.ofCallers;
  }

  void collect(CacheOpInterface op, SmallVectorImpl<Requirement> &here) {
    if (!op.isResolved() || isOnTensors(op) != true)
      return;
    for (const StepRows &step : op.getStepRows()) {
      Requirement base{.rowOffsets = step.rowOffsets,
                       .cacheLengths = op.getCacheLengths(),
                       .lookupTable = op.getLookupTable(),
                       .sequences = step.sequences,
                       .loc = op.getLoc()};
      if (step.haveKeys) {
        base.maxLengths = op.getMaxLengths();
        base.page = op.getCollectionType().getPage();
        base.bands = op.getCollectionType().getGeometry().bands();
      }
      if (step.rows.empty())
        addTo(here, base);
      for (Value rows : step.rows) {
        Requirement each = base;
        each.rows = rowsOf(rows);
        addTo(here, each);
      }
    }
  }

  /// A check that stands there already takes part like any other operation.
  void collect(CheckStepOp op, SmallVectorImpl<Requirement> &here) {
    Requirement each{.rowOffsets = op.getRowOffsets(),
                     .cacheLengths = op.getCacheLengths(),
                     .lookupTable = op.getLookupTable(),
                     .maxLengths = op.getMaxLengths(),
                     .page = static_cast<int64_t>(op.getPage().value_or(0)),
                     .bands = static_cast<int64_t>(op.getBands().value_or(1)),
                     .loc = op.getLoc()};
    if (op.getSequences())
      each.sequences = *op.getSequences();
    if (Value rows = op.getRows()) {
      auto dim = rows.getDefiningOp<tensor::DimOp>();
      auto number = dim ? dimensionOf(dim) : std::nullopt;
      if (auto constant = getConstantIntValue(rows))
        each.rows = HostSize{Value(), *constant};
      else if (number)
        each.rows = traceSize(dim.getSource(), *number);
      else
        each.rows = HostSize{rows, HostSize::Itself};
    }
    here.push_back(each);
  }

  /// The requirements of a callee, stated for the call's operands.
  void collect(func::CallOp call, SmallVectorImpl<Requirement> &here) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee)
      return;
    for (Requirement each : visit(callee)) {
      each.forEachValue([&](Value &value) {
        value = call.getOperand(cast<BlockArgument>(value).getArgNumber());
      });
      each.loc = call.getLoc();
      if (each.rows && each.rows->value && !each.rows->isItself())
        each.rows = traceSize(each.rows->value, each.rows->number);
      addTo(here, each);
    }
  }

  /// The innermost region around `op` that may not run when the code around it
  /// does; null if there is none. Loops are taken to run.
  static Region *conditional(Operation *op, func::FuncOp function) {
    for (Operation *parent = op->getParentOp(); parent != function;
         op = parent, parent = op->getParentOp())
      if (isa<scf::IfOp, scf::IndexSwitchOp>(parent))
        return op->getParentRegion();
    return nullptr;
  }

  /// The first operation before which all values are there. All of them
  /// dominate `op`, so one of their places comes last. No condition is left.
  Operation *earliest(Operation *op, Requirement requirement,
                      func::FuncOp function) {
    SmallVector<Operation *> candidates;
    if (Region *region = conditional(op, function))
      candidates.push_back(&region->front().front());
    requirement.forEachValue([&](Value value) {
      if (Operation *definition = value.getDefiningOp())
        candidates.push_back(definition->getNextNode());
      else
        candidates.push_back(&value.getParentBlock()->front());
    });
    for (Operation *last : candidates)
      if (llvm::all_of(candidates, [&](Operation *other) {
            return dominance.dominates(other, last);
          }))
        return last;
    return op;
  }

  static void create(Operation *place, const Requirement &requirement) {
    OpBuilder b(place);
    Value rows;
    if (requirement.rows)
      rows = requirement.rows->materialize(b, requirement.loc);
    auto numberOr = [&](int64_t value, int64_t none) {
      return value == none ? IntegerAttr() : b.getI64IntegerAttr(value);
    };
    CheckStepOp::create(
        b, requirement.loc, requirement.rowOffsets, requirement.cacheLengths,
        requirement.lookupTable, requirement.maxLengths, rows,
        numberOr(requirement.sequences, ShapedType::kDynamic),
        numberOr(requirement.page, 0), numberOr(requirement.bands, 1));
  }

  ModuleOp module;
  DominanceInfo dominance;
  llvm::DenseMap<func::FuncOp, Function> functions;
  llvm::DenseSet<func::FuncOp> recursive;
};

struct CheckSteps : kv::impl::KVCheckStepsBase<CheckSteps> {
  void runOnOperation() override { StepChecker(getOperation()).run(); }
};

} // namespace
