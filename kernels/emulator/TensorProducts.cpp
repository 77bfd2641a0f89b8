//===- TensorProducts.cpp - tcgen05.mma -----------------------------------===//

#include "TensorProducts.h"
#include "Machine.h"
#include "kernels/emulator/base/OperandWords.h"
#include "kernels/emulator/base/ProductRegisters.h"

#include <cstring>

using namespace kv::cuda;

void TensorProducts::reset() {
  groups.clear();
  groups.resize((clocks.threads() + GroupThreads - 1) / GroupThreads);
}

void TensorProducts::finish() {
  for (const TensorGroup &group : groups) {
    if (!group.commits.empty())
      return machine.report("all have left with a commit of products under "
                            "way");
    if (!group.products.empty())
      return machine.report("all have left with " +
                            atLine(group.products[0].what.line) +
                            " under way, which no commit follows");
  }
}

bool TensorProducts::isIssuer(int thread) {
  int &issuer = groups[thread / GroupThreads].issuer;
  if (issuer < 0)
    issuer = thread;
  if (issuer == thread)
    return true;
  machine.report("thread " + std::to_string(thread) +
                 " issues products, and so does thread " +
                 std::to_string(issuer) +
                 ": of a warpgroup one thread may, here");
  return false;
}

void TensorProducts::multiply(int thread, const TensorRequest &request) {
  if (!isIssuer(thread))
    return;
  int number = thread / GroupThreads;
  TensorGroup &group = groups[number];
  std::string who = atLine(request.line);
  if (!isUnderstood(request.instruction, request.kind))
    return machine.report(
        "the instruction descriptor of " + who +
        " is not of 128 rows and a multiple of 16 columns, or "
        "64 and of 8, up to 256, of bf16 or f16, or where its kind is "
        "f8f6f4 of e4m3, with sums in f32");
  IssuedProduct product{
      request, decode(request.instruction), group.count + 1, {}, {}};
  for (auto [descriptor, isUsed] :
       {std::pair(request.descriptorA, !request.fromTensor),
        std::pair(request.b, true)})
    if (isUsed && !isUnderstood(descriptor))
      return machine.report("a descriptor of " + who +
                            " is not one of tensor memory's products, of rows "
                            "of 128 bytes, swizzled");
  int column = request.d.column(), columns = product.shape.columns;
  if (request.fromTensor && product.shape.rows != TensorLanes)
    return machine.report(who + " of 64 rows takes A from tensor memory, which "
                                "is not modelled");
  if (request.d.lane() != 0 ||
      (request.fromTensor && request.addressA.lane() != 0))
    return machine.report(who + " has operands of 128 lanes that do not begin "
                                "at lane 0");
  if (!memory.areAllocated(who, column, columns) ||
      (request.fromTensor &&
       !memory.areAllocated(who, request.addressA.column(), 8)))
    return;
  sums.resize(size_t(TensorLanes) * TensorColumns);
  ++group.count;
  readOperands(thread, product, /*issued=*/true, product.a, product.b);
  if (request.fromTensor)
    memory.readByProduct(thread, product.number, request.addressA.column(), 8);
  auto isOwn = [&](const TensorMemory::Access &writer) {
    return writer.kind == TensorMemory::Kind::Product && writer.actor == number;
  };
  auto underWay = [&](const TensorMemory::Access &writer) {
    return isOwn(writer) && !group.products.empty() &&
           writer.moment >= group.products.front().number;
  };
  bool unwritten = false;
  for (int c = column; c < column + columns; ++c) {
    const TensorMemory::Access *writer = memory.writer(c);
    unwritten |= !writer;
    if (writer && !underWay(*writer))
      for (int lane = 0; lane < TensorLanes; ++lane)
        sum(lane, c) = bitsAs<float>(memory.word(lane, c));
  }
  if (unwritten && request.accumulates)
    machine.report(who + " adds to what nobody wrote in tensor memory");
  // Products with the same sums and of the same shape run one after the other.
  group.sums.emplace_back(request.d.bits, columns);
  memory.writeByProduct(thread, product.number, column, columns,
                        [&](const TensorMemory::Access &writer) {
                          return isOwn(writer) &&
                                 group.sums[writer.moment - 1] ==
                                     group.sums.back();
                        });
  compute(product);
  for (int row = 0; row < product.shape.rows; ++row)
    for (int c = column; c < column + columns; ++c)
      memory.word(laneOfRow(product.shape.rows, row), c) = UnfinishedSum;
  group.products.push_back(std::move(product));
}

void TensorProducts::readOperands(int thread, IssuedProduct &product,
                                  bool issued, std::vector<uint32_t> &a,
                                  std::vector<uint32_t> &b) {
  const TensorRequest &what = product.what;
  const Knowledge &known = clocks.of(thread);
  int group = thread / GroupThreads;
  bool good = true; // of many words that are wrong one is reported
  auto wordOf = [&](Operand operand, Major major, int other, int k) {
    int64_t offset =
        int64_t(elementAddress(operand, major, other, k)) - SharedBase;
    if (offset < 0 || offset + 4 > machine.sharedBytes()) {
      if (good && issued)
        machine.report("an operand of " + atLine(what.line) +
                       " leaves shared memory: byte " + std::to_string(offset) +
                       " of " + std::to_string(machine.sharedBytes()));
      return good = false, 0xffffffffu;
    }
    if (good && issued && machine.watches())
      good = words.readByProduct(known, clocks.groupActor(group),
                                 product.number, int(offset));
    uint32_t word = 0xffffffff;
    if (good)
      std::memcpy(&word, machine.sharedData() + offset, sizeof(word));
    return word;
  };
  int rows = product.shape.rows;
  a.resize(rows * 8);
  Operand operandA = decode(what.descriptorA);
  for (int row = 0; row < rows; ++row)
    for (int pair = 0; pair < 8; ++pair) {
      TensorAddress at = tensorElementA(what.addressA, row, pair * 2);
      a[row * 8 + pair] = what.fromTensor
                              ? memory.word(at.lane(), at.column())
                              : wordOf(operandA, Major::K, row, pair * 2);
    }
  int columns = product.shape.columns;
  Operand operandB = decode(what.b);
  readColumns(b, columns, product.shape.majorB,
              what.kind == TensorKind::F16 ? 2 : 1,
              [&](Major major, int column, int k) {
                return wordOf(operandB, major, column, k);
              });
}

static MatrixElement elementOf(TensorKind kind, uint32_t format) {
  if (kind == TensorKind::F8F6F4)
    return MatrixElement::F8E4M3;
  return format == TensorFormat<F16> ? MatrixElement::F16 : MatrixElement::Bf16;
}

void TensorProducts::compute(const IssuedProduct &product) {
  int columns = product.shape.columns, first = product.what.d.column();
  int rows = product.shape.rows;
  for (int row = 0; row < rows; row += 16)
    for (int n = 0; n < columns; n += 8) {
      int lane = laneOfRow(rows, row);
      MatrixTile tile;
      std::memcpy(tile.a, product.a.data() + row * 8, sizeof(tile.a));
      for (int pair = 0; pair < 8; ++pair)
        std::memcpy(tile.b + pair * 8, product.b.data() + pair * columns + n,
                    8 * sizeof(uint32_t));
      for (int r = 0; r < 16; ++r)
        for (int c = 0; c < 8; ++c)
          tile.sums[r * 8 + c] =
              product.what.accumulates ? sum(lane + r, first + n + c) : 0;
      machine.multiplyAdd(tile,
                          elementOf(product.what.kind, product.shape.format),
                          MatrixInstruction::Tcgen05);
      for (int r = 0; r < 16; ++r)
        for (int c = 0; c < 8; ++c)
          sum(lane + r, first + n + c) = tile.sums[r * 8 + c];
    }
}

void TensorProducts::commit(int thread, int barrier) {
  if (!isIssuer(thread) || !barriers.beginCommit(thread, barrier))
    return;
  TensorGroup &group = groups[thread / GroupThreads];
  // Actions before the products were issued are before their end. No fence
  // passes on the thread's own actions.
  Knowledge known = clocks.of(thread);
  known.seen[thread] = 0;
  known.others.clear();
  known.tensor.assign(memory.productIndex(thread / GroupThreads) + 1, 0);
  known.tensor.back() = group.count;
  known.seen[clocks.groupActor(thread / GroupThreads)] = group.count;
  group.commits.push_back({group.count, barrier, std::move(known)});
}

bool TensorProducts::canLand() const {
  for (const TensorGroup &group : groups)
    if (!group.commits.empty())
      return true;
  return false;
}

void TensorProducts::complete(int number, IssuedProduct &product) {
  std::vector<uint32_t> a, b;
  readOperands(groups[number].issuer, product, /*issued=*/false, a, b);
  if (a != product.a || b != product.b)
    machine.report("the operands of " + atLine(product.what.line) +
                   " changed before it was complete");
  int first = product.what.d.column();
  for (int c = first; c < first + product.shape.columns; ++c) {
    const TensorMemory::Access *writer = memory.writer(c);
    if (writer && writer->kind == TensorMemory::Kind::Product &&
        writer->actor == number && writer->moment == product.number)
      for (int row = 0; row < product.shape.rows; ++row) {
        int lane = laneOfRow(product.shape.rows, row);
        memory.word(lane, c) = bitsAs<uint32_t>(sum(lane, c));
      }
  }
}

void TensorProducts::land() {
  std::vector<int> able;
  for (int g = 0; g < int(groups.size()); ++g)
    if (!groups[g].commits.empty())
      able.push_back(g);
  int number = able[machine.choose(int(able.size()))];
  TensorGroup &group = groups[number];
  Commit commit = std::move(group.commits.front());
  group.commits.pop_front();
  for (;
       !group.products.empty() && group.products.front().number <= commit.last;
       group.products.pop_front())
    complete(number, group.products.front());
  barriers.landCommit(commit.barrier, commit.known);
}
