//===- Mutation.h - A small mistake in PTX ----------------------*- C++ -*-===//
//
// What a compiler or an author could get wrong in one instruction. A run with
// KV_PTX_MUTANT=<kernel>,<seed> has one of them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_PTX_MUTATION_H
#define KV_TEST_KERNELS_PTX_MUTATION_H

#include "kernels/emulator/ptx/Module.h"

#include <algorithm>
#include <random>

namespace kv::ptx::test {

struct Mutation {
  std::string text; // what was done to which instruction
  unsigned line = 0;
};

/// An operand swapped, a constant off by one, a guard negated, a fence, wait or
/// arrival left out, an operation replaced: as the seed says.
inline Mutation mutate(Kernel &kernel, uint32_t seed) {
  using Kind = Operand::Kind;
  constexpr const char *Ordering[] = {
      "bar.",         "barrier.",       "fence.",        "mbarrier.arrive",
      "wgmma.fence",  "wgmma.wait",     "wgmma.commit",  "tcgen05.fence",
      "tcgen05.wait", "tcgen05.commit", "cp.async.wait", "cp.async.commit"};
  constexpr std::pair<const char *, const char *> Others[] = {
      {"setp.lt.", "setp.le."},
      {"setp.ge.", "setp.gt."},
      {"setp.eq.", "setp.ne."},
      {"min.", "max."},
      {"max.", "min."},
      {"add.s", "sub.s"},
      {"shr.u", "shr.s"},
      {"mul.hi", "mul.lo"},
      {"ld.global.cg", "ld.global"}};
  constexpr const char *Commutative[] = {"add",     "mul",     "and", "or",
                                         "xor",     "min",     "max", "fma",
                                         "setp.eq", "setp.ne", "mad"};
  std::mt19937 random(seed);
  auto begins = [](const std::string &form, const char *with) {
    return form.starts_with(with);
  };
  for (;;) {
    Instruction &each =
        kernel.instructions[random() % kernel.instructions.size()];
    auto &operands = each.operands;
    std::string before = each.form;
    auto done = [&](const std::string &what) {
      return Mutation{what + " " + before, each.line};
    };
    size_t last = operands.size() - 1;
    switch (random() % 5) {
    case 0:
      if (operands.size() < 3 || operands[last].kind != Kind::Register ||
          operands[last - 1].kind != Kind::Register ||
          operands[last].number == operands[last - 1].number ||
          kernel.registers[operands[last].number].bytes !=
              kernel.registers[operands[last - 1].number].bytes ||
          std::ranges::any_of(Commutative, [&](const char *with) {
            return begins(each.form, with);
          }))
        continue;
      std::swap(operands[last], operands[last - 1]);
      return done("swap");
    case 1:
      for (Operand &operand : operands)
        if (operand.kind == Kind::Constant) {
          bool more = random() % 2;
          operand.value += more ? 1 : -1;
          return done(more ? "increment" : "decrement");
        } else if (operand.kind == Kind::Memory && operand.value) {
          operand.value += 4;
          return done("address");
        }
      continue;
    case 2:
      if (each.guard < 0)
        continue;
      each.negated = !each.negated;
      return done("negate");
    case 3:
      if (std::ranges::none_of(Ordering, [&](const char *with) {
            return begins(each.form, with);
          }))
        continue;
      each.form = "griddepcontrol.launch_dependents"; // does nothing
      operands.clear();
      return done("remove");
    default:
      for (auto [from, to] : Others)
        if (begins(each.form, from)) {
          each.form = to + each.form.substr(std::string(from).size());
          return done("replace");
        }
      continue;
    }
  }
}

} // namespace kv::ptx::test

#endif // KV_TEST_KERNELS_PTX_MUTATION_H
