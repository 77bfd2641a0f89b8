//===- ControlFlow.cpp - Random loops, branches and calls -----------------===//

#include "FunctionBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace kv;
using namespace kv::fuzz;

namespace {

/// Moves the builder into a block and back.
struct Inside {
  Inside(FunctionBuilder &f, Block *block) : guard(f.b) {
    f.b.setInsertionPointToEnd(block);
  }
  OpBuilder::InsertionGuard guard;
};

void defineAll(FunctionBuilder &f, ValueRange values, ArrayRef<Role> roles) {
  for (auto [value, role] : llvm::zip_equal(values, roles))
    f.define(value, role);
}

SmallVector<Role> rolesOf(FunctionBuilder &f, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value v) { return f.roleOf(v); });
}

SmallVector<Value> substitutes(FunctionBuilder &f, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value v) { return f.substitute(v); });
}

bool forLoop(FunctionBuilder &f) {
  int64_t trips = f.random.between(1, 3);
  SmallVector<Value> carried = f.pickValues(3);
  SmallVector<Role> roles = rolesOf(f, carried);
  Value low = f.index(0), high = f.index(trips), one = f.index(1);
  auto loop = scf::ForOp::create(f.b, low, high, one, carried);
  // Without carried values the builder has made the terminator.
  if (!loop.getBody()->empty())
    loop.getBody()->getTerminator()->erase();
  {
    Inside inside(f, loop.getBody());
    f.repeats *= trips;
    f.nested(0, [&] {
      defineAll(f, loop.getRegionIterArgs(), roles);
      f.nested(f.random.between(1, 4), [&] {
        scf::YieldOp::create(f.b, substitutes(f, loop.getRegionIterArgs()));
      });
    });
    f.repeats /= trips;
  }
  defineAll(f, loop.getResults(), roles);
  return true;
}

/// A condition that depends on the batch: whether there are few tokens.
Value condition(FunctionBuilder &f) {
  Value size = tensor::DimOp::create(f.b, f.offsets(), 0);
  Value bound = f.index(f.random.between(1, 6));
  return arith::CmpIOp::create(f.b, arith::CmpIPredicate::ult, size, bound);
}

bool branch(FunctionBuilder &f) {
  SmallVector<Value> values = f.pickValues(2);
  SmallVector<Role> roles = rolesOf(f, values);
  bool hasElse = !values.empty() || f.random.percent(50);
  auto op = scf::IfOp::create(f.b, ValueRange(values).getTypes(), condition(f),
                              /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
  for (Region *region : op.getRegions()) {
    if (region->empty())
      continue;
    Inside inside(f, &region->front());
    f.nested(f.random.between(0, 3),
             [&] { scf::YieldOp::create(f.b, substitutes(f, values)); });
  }
  defineAll(f, op.getResults(), roles);
  return true;
}

/// while (i < trips) with a handle and more; both regions forward them.
bool whileLoop(FunctionBuilder &f) {
  int64_t trips = f.random.between(1, 2);
  SmallVector<Value> carried = f.pickValues(2);
  SmallVector<Role> roles = rolesOf(f, carried);
  Value zero = f.index(0);
  SmallVector<Value> inits = {zero};
  llvm::append_range(inits, carried);
  SmallVector<Type> types(ValueRange(inits).getTypes());
  auto loop = scf::WhileOp::create(f.b, types, inits);
  SmallVector<Location> locs(types.size(), f.b.getLoc());
  Block *before = f.b.createBlock(&loop.getBefore(), {}, types, locs);
  Block *after = f.b.createBlock(&loop.getAfter(), {}, types, locs);
  f.b.setInsertionPointAfter(loop);
  {
    Inside inside(f, before);
    Value bound = f.index(trips);
    Value more = arith::CmpIOp::create(f.b, arith::CmpIPredicate::ult,
                                       before->getArgument(0), bound);
    scf::ConditionOp::create(f.b, more, before->getArguments());
  }
  {
    Inside inside(f, after);
    f.repeats *= trips;
    f.nested(0, [&] {
      defineAll(f, after->getArguments().drop_front(), roles);
      f.nested(f.random.between(1, 3), [&] {
        Value next =
            arith::AddIOp::create(f.b, after->getArgument(0), f.index(1));
        SmallVector<Value> yields = {next};
        llvm::append_range(yields,
                           substitutes(f, after->getArguments().drop_front()));
        scf::YieldOp::create(f.b, yields);
      });
    });
    f.repeats /= trips;
  }
  defineAll(f, loop.getResults().drop_front(), roles);
  return true;
}

bool call(FunctionBuilder &f) {
  if (f.module.helpers.empty())
    return false;
  const ModuleState::Helper &helper = f.random.oneOf(f.module.helpers);
  int64_t advances = helper.advances * f.repeats;
  if (f.executable && f.advances + advances > kMostAdvances)
    return false;
  SmallVector<Value> operands;
  func::FuncOp function = helper.function;
  for (auto [role, type] :
       llvm::zip_equal(helper.arguments, function.getArgumentTypes())) {
    Value value = f.find(role, type);
    // An entry takes no caches, indices and conditions.
    if (!value && role == Role::Cache) {
      auto collection = mlir::cast<CacheType>(type).getCollectionType();
      Value handle = f.operand(Role::Handle, collection);
      Value layer = f.index(f.random.below(collection.getLayers()));
      value = f.define(KeyCacheOp::create(f.b, type, handle, layer), role);
    } else if (role == Role::Layer) {
      value = f.index(0);
    } else if (!value) {
      value = f.operand(role, type);
    }
    operands.push_back(value);
  }
  f.advances += advances;
  auto op = func::CallOp::create(f.b, function, operands);
  defineAll(f, op.getResults(), helper.results);
  return true;
}

const Production productions[] = {
    {"scf.for", 7, forLoop},
    {"scf.if", 5, branch},
    {"scf.while", 2, whileLoop},
    {"func.call", 6, call},
};
} // namespace

ArrayRef<Production> kv::fuzz::controlFlowProductions() { return productions; }
