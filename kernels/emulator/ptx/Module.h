//===- Module.h - The text of PTX, parsed -----------------------*- C++ -*-===//
//
// A module has kernels. A kernel has registers and labels, which are numbered,
// and instructions whose operands name them by number.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_PTX_MODULE_H
#define KV_KERNELS_EMULATOR_PTX_MODULE_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kv::ptx {

/// What is wrong with a text, with its file and line.
struct Error : std::runtime_error {
  Error(const std::string &file, unsigned line, const std::string &text)
      : runtime_error(file + ":" + std::to_string(line) + ": " + text) {}
};

struct Operand {
  enum class Kind {
    Register, // `number`
    Constant, // `value`
    Special,  // %tid.x and its like: `name`
    Symbol,   // a variable or parameter: `name`, `value` bytes behind it
    Memory,   // an address `value` bytes behind parts[0], then coordinates
    Vector,   // several operands
    Label,    // `number`
    Sink      // _, which takes a result that nobody wants
  };
  Kind kind;
  unsigned number = 0;
  uint64_t value = 0;
  std::string name;
  std::vector<Operand> parts;
};

struct Instruction {
  std::string form; // the opcode with all its modifiers
  unsigned line;
  int guard = -1; // the register of a predicate without which nothing is done
  bool negated = false;
  std::vector<Operand> operands;
};

struct Register {
  std::string name;
  int bytes; // 0: a predicate
};

/// A parameter or a variable in shared memory.
struct Variable {
  std::string name;
  uint32_t offset, bytes;
};

struct Kernel {
  std::string name;
  std::vector<Variable> parameters, shared;
  uint32_t parameterBytes = 0;
  uint32_t sharedBytes = 0; // without what a launch adds
  int maxThreads = 0, blocksPerSM = 1;
  std::vector<Register> registers; // in the order in which they are named
  std::vector<size_t> labels;      // the instruction that follows each
  std::vector<Instruction> instructions;
};

struct Module {
  std::string file;
  std::vector<Kernel> kernels;

  /// The kernel of that name, or null.
  const Kernel *find(std::string_view name) const;
};

/// Throws an Error.
Module parseModule(std::string_view text, std::string file);
/// Reads a file and parses it; throws an Error too where there is none.
Module readModule(const std::string &file);

} // namespace kv::ptx

#endif // KV_KERNELS_EMULATOR_PTX_MODULE_H
