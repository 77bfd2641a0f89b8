//===- Program.cpp - Translates a kernel ----------------------------------===//

#include "Program.h"

#include <algorithm>
#include <map>

using namespace kv::ptx;

namespace {

constexpr uint32_t Word = sizeof(uint32_t);

/// Whether an operation touches memory or other threads, or chooses the next
/// one. A guard has no form.
bool acts(const std::string &form) {
  constexpr std::string_view Opcodes[] = {
      "atom", "bar",   "bra",   "cp.",   "elect", "fence",
      "ld",   "mbarr", "mma",   "redux", "red.",  "setma",
      "shfl", "st",    "tcgen", "vote",  "wgmma"};
  return form.empty() ||
         std::ranges::any_of(Opcodes, [&](std::string_view opcode) {
           return form.starts_with(opcode);
         });
}

class Translator {
public:
  Translator(const Module &module, const Kernel &kernel, Program &program)
      : module(module), kernel(kernel), program(program) {}
  void translate();

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw Error(module.file, line, what);
  }
  uint32_t room(int bytes);
  uint32_t constant(uint64_t value);
  uint32_t placeOf(const Operand &operand);
  uint32_t symbol(const Operand &operand);
  void place(const Operand &operand);
  void translate(const Instruction &instruction);
  std::string formOf(const Instruction &instruction) const;
  const Form &find(const std::string &form);
  void checkOperands(const Instruction &instruction, const Form &form) const;
  void addAddresses(const Instruction &instruction);
  void emit(const std::string &form, Operation operation,
            const std::vector<uint32_t> &places);
  void findUnfinished();
  void countUses(const Operand &operand);
  /// Whether an operand is the only one that names its register.
  bool isUnused(const Operand &operand) const {
    return operand.kind == Operand::Kind::Register && uses[operand.number] == 1;
  }

  const Module &module;
  const Kernel &kernel;
  Program &program;
  unsigned line = 0;
  std::map<uint64_t, uint32_t> constants;
  std::map<std::string, uint32_t> specials;
  std::map<uint64_t, uint32_t> parameters; // by what is behind the first byte
  std::vector<uint32_t> registers;
  std::vector<unsigned> uses;   // of each register, in the text
  std::vector<uint32_t> places; // of the instruction under way
  std::vector<int> bytes;       // of its registers; -1: something else
  uint32_t sink = 0;
};

/// Registers lie behind what a frame begins with, which grows until all
/// instructions are seen: so constants lie in the same row as they.
uint32_t Translator::room(int bytes) {
  if (bytes == 8 && program.frameWords % 2)
    ++program.frameWords;
  uint32_t at = uint32_t(program.frameWords) * Word;
  program.frameWords += bytes == 8 ? 2 : 1;
  return at;
}

uint32_t Translator::constant(uint64_t value) {
  auto [known, isNew] = constants.try_emplace(value, 0);
  if (isNew)
    known->second = room(8);
  return known->second;
}

uint32_t Translator::symbol(const Operand &operand) {
  for (const Variable &each : kernel.shared)
    if (each.name == operand.name)
      return constant(kv::cuda::SharedBase + each.offset + operand.value);
  for (const Variable &each : kernel.parameters)
    if (each.name == operand.name) {
      auto [known, isNew] =
          parameters.try_emplace(each.offset + operand.value, 0);
      if (isNew) {
        known->second = room(8);
        program.parameters.emplace_back(known->second, uint32_t(known->first));
      }
      return known->second;
    }
  fail("there is no variable '" + operand.name + "'");
}

uint32_t Translator::placeOf(const Operand &operand) {
  switch (operand.kind) {
  case Operand::Kind::Register:
    return registers[operand.number];
  case Operand::Kind::Constant:
    return constant(operand.value);
  case Operand::Kind::Symbol:
    return symbol(operand);
  case Operand::Kind::Sink:
    return sink;
  case Operand::Kind::Special: {
    auto [known, isNew] = specials.try_emplace(operand.name, 0);
    if (isNew) {
      known->second = room(8);
      program.specials.emplace_back(operand.name, known->second);
    }
    return known->second;
  }
  default:
    fail("an operand is not one that is modelled");
  }
}

/// Appends an operand's registers, in the order of the text.
void Translator::place(const Operand &operand) {
  if (operand.kind == Operand::Kind::Vector ||
      operand.kind == Operand::Kind::Memory) {
    for (const Operand &part : operand.parts)
      place(part);
    return;
  }
  if (operand.kind == Operand::Kind::Label)
    return;
  bytes.push_back(operand.kind == Operand::Kind::Register
                      ? kernel.registers[operand.number].bytes
                      : -1);
  places.push_back(placeOf(operand));
}

/// A mov of a vector is a form of its own, and so are a branch with a guard and
/// a maximum of three.
std::string Translator::formOf(const Instruction &instruction) const {
  const std::string &form = instruction.form;
  const auto &operands = instruction.operands;
  if (form.starts_with("mov.b") && operands.size() == 2) {
    if (operands[0].kind == Operand::Kind::Vector)
      return "split" + form.substr(3);
    if (operands[1].kind == Operand::Kind::Vector)
      return "join" + form.substr(3);
  }
  if (operands.size() == 4 &&
      (form.starts_with("max.") || form.starts_with("min.")))
    return form.substr(0, 3) + "3" + form.substr(3);
  if (instruction.guard >= 0 && (form == "bra" || form == "bra.uni"))
    return instruction.negated ? "unless" : "if";
  return form;
}

const Form &Translator::find(const std::string &form) {
  auto found = allForms().find(form);
  if (found == allForms().end())
    fail("the instruction '" + form + "' is not modelled");
  return found->second;
}

void Translator::checkOperands(const Instruction &instruction,
                               const Form &form) const {
  const std::string &wanted = form.operands;
  if (wanted.empty())
    return;
  if (wanted.size() != places.size())
    fail("'" + instruction.form + "' has " + std::to_string(places.size()) +
         " operands, not " + std::to_string(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    int size = wanted[i] == 'p' ? 0 : wanted[i] - '0';
    // A conversion takes the low bits of what is larger.
    bool source = i > 0 && instruction.form.starts_with("cvt.");
    bool fits = bytes[i] < 0 ||
                (size == 0 || size == 8
                     ? bytes[i] == size
                     : bytes[i] >= size && bytes[i] <= (source ? 8 : 4));
    if (!fits)
      fail("operand " + std::to_string(i + 1) + " of '" + instruction.form +
           "' is " +
           (bytes[i] ? "of " + std::to_string(bytes[i] * 8) + " bits"
                     : "a predicate") +
           ", not " +
           (size ? "of " + std::to_string(size * 8) + " bits" : "a predicate"));
  }
}

void Translator::emit(const std::string &form, Operation operation,
                      const std::vector<uint32_t> &all) {
  operation.all = uint32_t(program.operands.size());
  operation.line = line;
  operation.arity = uint8_t(all.size());
  program.operands.insert(program.operands.end(), all.begin(), all.end());
  for (size_t i = 0; i < std::min(std::size(operation.at), all.size()); ++i)
    operation.at[i] = all[i];
  program.operations.push_back(operation);
  program.forms.push_back(form);
}

/// Where the form does not add what is behind an address itself.
void Translator::addAddresses(const Instruction &instruction) {
  size_t at = 0;
  for (const Operand &operand : instruction.operands) {
    if (operand.kind == Operand::Kind::Memory && operand.value) {
      bool wide = bytes[at] == 8;
      uint32_t sum = room(8);
      Operation add{};
      add.run = find(wide ? "add.s64" : "add.s32").run;
      emit("", add, {sum, places[at], constant(operand.value)});
      places[at] = sum;
    }
    at += operand.kind == Operand::Kind::Label ? 0
          : operand.parts.empty()              ? 1
                                               : operand.parts.size();
  }
}

void Translator::translate(const Instruction &instruction) {
  line = instruction.line;
  places.clear();
  bytes.clear();
  std::string name = formOf(instruction);
  bool branches = name == "if" || name == "unless";
  const Form &form = find(name);
  Operation operation{};
  operation.run = form.run;
  operation.count = 1;
  bool first = true;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    const Operand &operand = instruction.operands[i];
    place(operand);
    if (operand.kind == Operand::Kind::Vector) {
      operation.vectors |= 1 << i;
      operation.count =
          first ? uint16_t(operand.parts.size()) : operation.count;
      for (size_t e = 0; first && form.direct && e < operand.parts.size(); ++e)
        operation.unused |= isUnused(operand.parts[e]) << e;
      first = false;
    } else if (operand.kind == Operand::Kind::Memory) {
      operation.addresses |= 1 << i;
      operation.offset = form.direct ? int32_t(operand.value) : 0;
    } else if (operand.kind == Operand::Kind::Label) {
      operation.target = operand.number; // until all operations are there
    }
  }
  if (branches)
    places = {registers[instruction.guard]};
  else
    checkOperands(instruction, form);
  if (form.direct && size_t(operation.count) + 1 != places.size())
    fail("'" + instruction.form +
         "' has an address and a register, or a "
         "vector of them");
  operation.resultBytes = bytes.empty() ? 0 : uint8_t(bytes[0]);
  operation.endsWithPredicate = !bytes.empty() && bytes.back() == 0;
  program.hasRoles |= form.roles;
  size_t skip = program.operations.size();
  bool guarded = instruction.guard >= 0 && !branches;
  if (guarded) {
    Operation over{};
    over.run = find(instruction.negated ? "if" : "unless").run;
    emit("", over, {registers[instruction.guard]});
  }
  if (!form.direct)
    addAddresses(instruction);
  emit(instruction.form, operation, places);
  if (guarded) // it goes to an operation, as marked by a count of none
    program.operations[skip].target = uint32_t(program.operations.size());
}

/// Registers that products and loads of tensor memory write, and those that
/// these are moved to.
void Translator::findUnfinished() {
  std::set<uint32_t> found;
  std::vector<std::pair<uint32_t, uint32_t>> moves;
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const Operation &op = program.operations[i];
    const std::string &form = program.forms[i];
    auto first = program.operands.begin() + op.all;
    if (form.starts_with("wgmma.mma") || form.starts_with("tcgen05.ld"))
      found.insert(first, first + op.count);
    else if (form == "mov.f32" || form == "mov.b32" || form == "mov.u32")
      moves.emplace_back(op.at[0], op.at[1]);
  }
  for (size_t before = 0; before != found.size();) {
    before = found.size();
    for (auto [to, from] : moves)
      if (found.contains(from))
        found.insert(to);
  }
  program.unfinished.assign(found.begin(), found.end());
}

void Translator::countUses(const Operand &operand) {
  if (operand.kind == Operand::Kind::Register)
    ++uses[operand.number];
  for (const Operand &part : operand.parts)
    countUses(part);
}

void Translator::translate() {
  uses.resize(kernel.registers.size());
  for (const Instruction &instruction : kernel.instructions) {
    if (instruction.guard >= 0)
      ++uses[instruction.guard];
    for (const Operand &operand : instruction.operands)
      countUses(operand);
  }
  sink = room(8);
  for (const Register &each : kernel.registers) {
    registers.push_back(room(each.bytes));
    program.remembered.resize(program.frameWords);
    program.remembered[registers.back() / Word] =
        each.bytes <= int(Word) && uses[registers.size() - 1] > 1;
  }
  program.frameWords += program.frameWords % 2;
  if (!kernel.parameters.empty()) // the first, for all to be measured from
    symbol({Operand::Kind::Symbol, 0, 0, kernel.parameters[0].name, {}});
  std::vector<uint32_t> begins; // of instructions
  std::vector<bool> toLabel;    // whether an operation goes to one
  for (const Instruction &instruction : kernel.instructions) {
    begins.push_back(uint32_t(program.operations.size()));
    translate(instruction);
    toLabel.resize(program.operations.size());
    toLabel.back() = !instruction.operands.empty() &&
                     instruction.operands[0].kind == Operand::Kind::Label;
  }
  begins.push_back(uint32_t(program.operations.size()));
  // A kernel whose text ends without one returns.
  emit("", {find("ret").run, {}, 0, 0, 0, 0, 0, 0, 0, 0, false, 0}, {});
  for (size_t i = 0; i < toLabel.size(); ++i)
    if (toLabel[i])
      program.operations[i].target =
          begins[kernel.labels[program.operations[i].target]];
  findUnfinished();
  for (const std::string &form : program.forms)
    program.acts.push_back(acts(form));
  program.image.assign(program.frameWords, kv::cuda::ForgottenSum);
  for (auto [value, at] : constants)
    std::memcpy(reinterpret_cast<char *>(program.image.data()) + at, &value,
                sizeof(value));
}

} // namespace

Program::Program(const Module &module, const Kernel &kernel)
    : file(module.file), name(kernel.name),
      parameterBytes(kernel.parameterBytes), sharedBytes(kernel.sharedBytes),
      maxThreads(kernel.maxThreads), blocksPerSM(kernel.blocksPerSM) {
  Translator(module, kernel, *this).translate();
}

void Program::countForms(std::set<std::string> &contained,
                         std::set<std::string> &executedForms) const {
  for (size_t i = 0; i < forms.size(); ++i)
    if (!forms[i].empty()) {
      contained.insert(forms[i]);
      if (i < executed.size() && executed[i])
        executedForms.insert(forms[i]);
    }
}
