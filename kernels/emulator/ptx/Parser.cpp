//===- Parser.cpp - Parses PTX --------------------------------------------===//

#include "Module.h"

#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <utility>

using namespace kv::ptx;

namespace {

/// A name that stands for many registers: %p<960>.
struct Range {
  unsigned count;
  int bytes;
};

/// What a pair of braces declares.
struct Scope {
  std::unordered_map<std::string, Range> ranges;
  std::unordered_map<std::string, unsigned> registers, labels;
};

class Parser {
public:
  Parser(std::string_view text, Module &module) : text(text), module(module) {}
  void parse();

private:
  static constexpr size_t Undefined = ~size_t(0);

  [[noreturn]] void fail(const std::string &what) const {
    throw Error(module.file, line, what);
  }
  // Of tokens.
  void skipBlanks();
  char peek() {
    skipBlanks();
    return at < text.size() ? text[at] : '\0';
  }
  bool take(char c);
  void expect(char c);
  std::string word();
  uint64_t number();
  void skipTo(char end);

  // Of directives.
  Variable variable(uint32_t &end);
  void parseEntry();
  void parseKernelDirective(const std::string &name);
  void parseBody();
  void parseRegisters();
  void closeScope();
  void parseDirective(const std::string &name);

  // Of instructions.
  void parseInstruction(std::string form, int guard, bool negated);
  Operand parseOperand();
  Operand parseMemory();
  Operand parseName(std::string name);
  int findRegister(const std::string &name);
  unsigned label(const std::string &name);

  std::string_view text;
  Module &module;
  size_t at = 0;
  unsigned line = 1;
  Kernel *kernel = nullptr;
  std::vector<Scope> scopes;
  std::vector<unsigned> sameLabel; // as which each label is the same
  std::vector<Variable> moduleShared;
  uint32_t moduleSharedBytes = 0;
};

void Parser::skipBlanks() {
  for (; at < text.size(); ++at) {
    if (text[at] == '\n')
      ++line;
    else if (text.substr(at, 2) == "//")
      at = std::min(text.find('\n', at), text.size()) - 1;
    else if (text.substr(at, 2) == "/*") {
      size_t end = std::min(text.find("*/", at), text.size() - 2);
      for (; at < end + 1; ++at)
        line += text[at] == '\n';
    } else if (!std::isspace(uint8_t(text[at])))
      return;
  }
}

bool Parser::take(char c) {
  if (peek() != c)
    return false;
  ++at;
  return true;
}

void Parser::expect(char c) {
  if (!take(c))
    fail(std::string("expected '") + c + "', found '" + peek() + "'");
}

std::string Parser::word() {
  skipBlanks();
  size_t begin = at;
  auto inside = [&](char c) {
    return std::isalnum(uint8_t(c)) || c == '_' || c == '$' || c == '.' ||
           c == '%';
  };
  while (at < text.size())
    if (inside(text[at]))
      ++at;
    else if (text.substr(at, 2) == "::")
      at += 2;
    else
      break;
  if (at == begin)
    fail(std::string("expected a name, found '") + peek() + "'");
  return std::string(text.substr(begin, at - begin));
}

/// As PTX writes it: 12, -12, 0x1f, 0f3F800000, 0d3FF0000000000000, 12U.
uint64_t Parser::number() {
  bool negative = take('-');
  std::string digits = word();
  int base = 10;
  size_t from = 0;
  if (digits.size() > 2 && digits[0] == '0' && !std::isdigit(digits[1])) {
    base = digits[1] == 'b' ? 2 : 16;
    from = 2;
  }
  if (digits.back() == 'U')
    digits.pop_back();
  uint64_t value = 0;
  const char *end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data() + from, end, value, base);
  if (error != std::errc() || stop != end)
    fail("'" + digits + "' is no number");
  return negative ? -value : value;
}

void Parser::skipTo(char end) {
  while (peek() != end) {
    if (at >= text.size())
      fail(std::string("the text ends before '") + end + "'");
    ++at;
  }
  ++at;
}

/// The bytes of an element of a type, of a predicate 0; -1: there is none.
int bytesOf(const std::string &type) {
  if (type == ".pred")
    return 0;
  for (auto [ending, bytes] :
       {std::pair("8", 1), {"16", 2}, {"32", 4}, {"64", 8}})
    if (type.size() > 2 && type.substr(2) == ending &&
        std::string("bsuf").find(type[1]) != std::string::npos)
      return bytes;
  return -1;
}

/// .param .align 128 .b8 name[896], and the like; moves `end` behind it.
Variable Parser::variable(uint32_t &end) {
  int bytes = -1;
  uint32_t alignment = 0;
  bool pointer = false; // what follows is said of what it points to
  std::string each = word();
  for (; each[0] == '.'; each = word())
    if (each == ".align") {
      uint32_t given = uint32_t(number());
      alignment = pointer ? alignment : given;
    } else if (each == ".ptr") {
      pointer = true;
    } else if (int known = bytesOf(each); known > 0) {
      bytes = known;
    }
  if (bytes < 0)
    fail("'" + each + "' has no type that is known");
  uint32_t count = 1;
  if (take('[')) {
    count = peek() == ']' ? 0 : uint32_t(number());
    expect(']');
  }
  alignment = std::max(alignment, uint32_t(bytes));
  Variable found{each, (end + alignment - 1) / alignment * alignment,
                 count * uint32_t(bytes)};
  end = found.offset + found.bytes;
  return found;
}

void Parser::parse() {
  while (peek()) {
    std::string name = word();
    if (name == ".version" || name == ".target" || name == ".address_size") {
      std::string value = word();
      while (take(','))
        word();
      if (name == ".address_size" && value != "64")
        fail("addresses of " + value + " bits, where 64 are modelled");
    } else if (name == ".shared") {
      moduleShared.push_back(variable(moduleSharedBytes));
      expect(';');
    } else if (name == ".entry") {
      parseEntry();
    } else if (name == ".global") { // what uses one names a label
      skipTo(';');
    } else if (name == ".file") {
      number();
      skipTo('"');
      skipTo('"');
    } else if (name != ".visible" && name != ".extern" && name != ".weak") {
      fail("'" + name + "' is not modelled");
    }
  }
}

void Parser::parseEntry() {
  kernel = &module.kernels.emplace_back();
  kernel->name = word();
  kernel->shared = moduleShared;
  kernel->sharedBytes = moduleSharedBytes;
  sameLabel.clear();
  if (take('('))
    while (!take(')')) {
      if (std::string word = this->word(); word != ".param")
        fail("expected .param, found '" + word + "'");
      kernel->parameters.push_back(variable(kernel->parameterBytes));
      take(',');
    }
  while (!take('{'))
    parseKernelDirective(word());
  parseBody();
}

void Parser::parseKernelDirective(const std::string &name) {
  uint64_t product = 1;
  if (std::isdigit(uint8_t(peek())))
    do
      product *= number();
    while (take(','));
  if (name == ".maxntid" || name == ".reqntid")
    kernel->maxThreads = int(product);
  else if (name == ".minnctapersm")
    kernel->blocksPerSM = int(product);
}

void Parser::parseBody() {
  scopes.assign(1, {});
  while (!scopes.empty()) {
    if (!peek())
      fail("the text ends within kernel '" + kernel->name + "'");
    if (take('{')) {
      scopes.emplace_back();
    } else if (take('}')) {
      closeScope();
    } else if (take('@')) {
      bool negated = take('!');
      std::string name = word();
      int guard = findRegister(name);
      if (guard < 0)
        fail("'" + name + "' is no predicate");
      parseInstruction(word(), guard, negated);
    } else {
      std::string name = word();
      if (name[0] == '.')
        parseDirective(name);
      else if (take(':'))
        kernel->labels[label(name)] = kernel->instructions.size();
      else
        parseInstruction(std::move(name), -1, false);
    }
  }
  for (Instruction &instruction : kernel->instructions)
    for (Operand &operand : instruction.operands)
      if (operand.kind == Operand::Kind::Label) {
        while (sameLabel[operand.number] != operand.number)
          operand.number = sameLabel[operand.number];
        if (kernel->labels[operand.number] == Undefined)
          throw Error(module.file, instruction.line,
                      "there is no label '" + operand.name + "'");
      }
}

/// A label that nothing within defines is one of outside.
void Parser::closeScope() {
  auto labels = std::move(scopes.back().labels);
  scopes.pop_back();
  if (scopes.empty())
    return;
  for (const auto &[name, number] : labels)
    if (kernel->labels[number] == Undefined)
      sameLabel[number] =
          scopes.back().labels.try_emplace(name, number).first->second;
}

void Parser::parseDirective(const std::string &name) {
  if (name == ".reg")
    return parseRegisters();
  if (name == ".pragma") // a hint
    return skipTo(';');
  if (name == ".shared") {
    kernel->shared.push_back(variable(kernel->sharedBytes));
    return expect(';');
  }
  if (name != ".loc")
    fail("'" + name + "' is not modelled");
  for (int i = 0; i < 3; ++i) // file, line, column
    number();
}

void Parser::parseRegisters() {
  std::string type = word();
  int bytes = bytesOf(type);
  if (bytes < 0)
    fail("registers of type '" + type + "' are not modelled");
  do {
    std::string name = word();
    if (take('<')) {
      scopes.back().ranges[name] = {unsigned(number()), bytes};
      expect('>');
      continue;
    }
    scopes.back().registers[name] = unsigned(kernel->registers.size());
    kernel->registers.push_back({name, bytes});
  } while (take(','));
  expect(';');
}

void Parser::parseInstruction(std::string form, int guard, bool negated) {
  Instruction instruction{std::move(form), line, guard, negated, {}};
  if (!take(';')) {
    do
      instruction.operands.push_back(parseOperand());
    while (take(','));
    expect(';');
  }
  // Branches have labels, and what nobody knows is said by its form.
  kernel->instructions.push_back(std::move(instruction));
}

Operand Parser::parseOperand() {
  if (take('{')) {
    Operand vector{Operand::Kind::Vector, 0, 0, {}, {}};
    do
      vector.parts.push_back(parseOperand());
    while (take(','));
    expect('}');
    return vector;
  }
  if (take('['))
    return parseMemory();
  if (char c = peek(); std::isdigit(uint8_t(c)) || c == '-')
    return {Operand::Kind::Constant, 0, number(), {}, {}};
  if (peek() == '!')
    fail("a negated operand is not modelled");
  Operand first = parseName(word());
  if (!take('|'))
    return first;
  return {Operand::Kind::Vector, 0, 0, {}, {first, parseName(word())}};
}

Operand Parser::parseMemory() {
  Operand memory{Operand::Kind::Memory, 0, 0, {}, {}};
  memory.parts.push_back(parseOperand());
  if (take('+'))
    memory.value = number();
  else if (peek() == '-')
    memory.value = number();
  if (take(','))
    for (const Operand &each : parseOperand().parts)
      memory.parts.push_back(each);
  expect(']');
  return memory;
}

Operand Parser::parseName(std::string name) {
  if (name == "_")
    return {Operand::Kind::Sink, 0, 0, {}, {}};
  if (int number = findRegister(name); number >= 0)
    return {Operand::Kind::Register, unsigned(number), 0, std::move(name), {}};
  if (name[0] == '%' &&
      (name.find('.') != name.npos || name.starts_with("%clock") ||
       !std::isdigit(uint8_t(name.back()))))
    return {Operand::Kind::Special, 0, 0, std::move(name), {}};
  for (const auto *variables : {&kernel->parameters, &kernel->shared})
    for (const Variable &each : *variables)
      if (each.name == name)
        return {Operand::Kind::Symbol, 0, 0, std::move(name), {}};
  if (name[0] == '%')
    fail("register '" + name + "' is not declared");
  unsigned number = label(name);
  return {Operand::Kind::Label, number, 0, std::move(name), {}};
}

int Parser::findRegister(const std::string &name) {
  size_t digits = name.find_last_not_of("0123456789") + 1;
  for (size_t s = scopes.size(); s--;) {
    Scope &scope = scopes[s];
    if (auto known = scope.registers.find(name); known != scope.registers.end())
      return int(known->second);
    auto range = scope.ranges.find(name.substr(0, digits));
    if (digits == name.size() || range == scope.ranges.end())
      continue;
    if (std::stoull(name.substr(digits)) >= range->second.count)
      fail("register '" + name + "' is not one of " + range->first + "<" +
           std::to_string(range->second.count) + ">");
    scope.registers[name] = unsigned(kernel->registers.size());
    kernel->registers.push_back({name, range->second.bytes});
    return int(kernel->registers.size()) - 1;
  }
  return -1;
}

unsigned Parser::label(const std::string &name) {
  auto [known, isNew] =
      scopes.back().labels.try_emplace(name, unsigned(kernel->labels.size()));
  if (isNew) {
    kernel->labels.push_back(Undefined);
    sameLabel.push_back(known->second);
  }
  return known->second;
}

} // namespace

const Kernel *Module::find(std::string_view name) const {
  for (const Kernel &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

Module kv::ptx::parseModule(std::string_view text, std::string file) {
  Module module{std::move(file), {}};
  Parser(text, module).parse();
  return module;
}

Module kv::ptx::readModule(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (!stream || text.empty())
    throw Error(file, 0, "there is no text to read");
  return parseModule(text, file);
}
