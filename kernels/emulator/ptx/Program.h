//===- Program.h - A kernel of PTX, translated ------------------*- C++ -*-===//
//
// An instruction becomes a micro-operation: a function, and where its operands
// lie in a frame. A thread has a frame: constants, special registers and
// registers, of four bytes or eight. So the function asks no operand what it
// is.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_PTX_PROGRAM_H
#define KV_KERNELS_EMULATOR_PTX_PROGRAM_H

#include "Module.h"
#include "kernels/emulator/AsyncBlock.h"
#include "kernels/emulator/Machine.h"

#include <array>
#include <cstring>
#include <functional>
#include <set>
#include <unordered_map>

namespace kv::ptx {

struct Operation;
struct ThreadState;
/// Does an operation, and returns the next one, or null where the thread ends.
using Function = const Operation *(*)(const Operation *, ThreadState &);

struct Operation {
  Function run;
  uint32_t at[5];  // of the first operands, in bytes of the frame
  int32_t offset;  // behind the address of a load or store
  uint32_t all;    // the first of all operands in Program::operands
  uint32_t target; // of a branch: an operation
  uint32_t line;
  uint16_t count;             // of elements of the first vector, or 1
  uint8_t vectors, addresses; // which operands of the text are so, a bit each
  uint8_t arity;              // operands, each of a vector counted
  bool endsWithPredicate;
  uint8_t resultBytes; // of the first register
  uint8_t unused = 0;  // elements of a load that nothing reads, a bit each
};

/// What a form of an instruction is.
struct Form {
  Function run;
  /// The operands' registers: p, 1, 2, 4, 8 bytes, or * for any; "": any number
  /// of any.
  std::string operands;
  bool roles = false;  // asks for a machine that watches by clocks
  bool direct = false; // adds `offset` itself
};
using Forms = std::unordered_map<std::string, Form>;

// Each adds forms.
void addIntegerForms(Forms &forms);
void addFloatForms(Forms &forms);
void addConversionForms(Forms &forms);
void addAccessForms(Forms &forms);
void addWarpForms(Forms &forms);
void addBarrierForms(Forms &forms);
void addProductForms(Forms &forms);
void addTensorForms(Forms &forms);
const Forms &allForms();

class Program {
public:
  /// Throws an Error where the kernel has what is not modelled.
  Program(const Module &module, const Kernel &kernel);

  std::string file, name;
  std::vector<Operation> operations;
  std::vector<uint32_t> operands;
  std::vector<uint32_t> image; // how a frame begins, in words
  size_t frameWords = 0;
  std::vector<std::pair<std::string, uint32_t>> specials; // and where they lie
  /// Where addresses of parameters lie, and what is behind their first byte.
  std::vector<std::pair<uint32_t, uint32_t>> parameters;
  uint32_t parameterBytes = 0, sharedBytes = 0;
  int maxThreads = 0, blocksPerSM = 1;
  bool hasRoles = false;
  /// Registers that may hold what a product or a load of tensor memory has not
  /// written yet.
  std::vector<uint32_t> unfinished;
  std::vector<std::string> forms; // of the operations; "": of no instruction
  mutable std::vector<uint8_t> executed; // which of them, where that is asked
  mutable uint64_t branches = 0;         // the most that a thread took, too
  bool traces = false;
  /// A sum of what operations other than arithmetic found in remembered words
  /// of frames, where that is asked, and traces are. The words are registers of
  /// at most 32 bits, so they hold no address of the host, and something reads
  /// them.
  mutable uint64_t history = 0;
  bool remembers = false;
  std::vector<uint8_t> remembered;
  std::vector<uint8_t> acts; // which operations are no arithmetic

  /// Adds the forms of its instructions, and those that were executed.
  void countForms(std::set<std::string> &contained,
                  std::set<std::string> &executedForms) const;
};

/// How a kernel is launched.
struct Launch {
  std::array<int, 3> grid{1, 1, 1}, block{1, 1, 1};
  int sharedBytes = 0; // beside what the kernel says
  int registers = 0;   // a thread's; 0: as many as there are
  int cluster = 1;
  int chip = 0; // the only one that has the kernel, or 0
  /// Code of Triton leaves to ptxas what PTX asks for: what orders threads is a
  /// fence, too, of mbarriers' initialisation and of tensor memory, and loads
  /// of tensor memory are complete at once.
  bool ofTriton = false;
  /// A thread that takes more branches is reported, and ends.
  uint64_t mostBranches = ~uint64_t(0);
  /// A traced thread goes no further when the machine has a report.
  bool endsAtReport = false;
};

/// Registers of a thread that something beside it writes, while the thread's
/// own have marks in their place: NaNs that say which word comes there.
struct Accumulator {
  std::unique_ptr<float[]> words;
  uint32_t count, firstMark;
  bool loads; // of tensor memory
  bool busy;
  int group; // of products in which it was last
};

struct ThreadState {
  unsigned char *frame;
  const Program *program;
  cuda::Machine *machine;
  const Launch *launch;
  int self, own, rank, begin; // begin: of its block's shared memory
  uint32_t reach;             // bytes that addresses of the block may mean
  const Operation *current;   // the last one that touched others
  uint64_t branches;
  std::vector<Accumulator> accumulators;
  std::unordered_map<const Operation *, std::array<uint32_t, 4>> registersA;
  int groups; // of products that were committed
  bool arrivedAtCluster;

  template <class T> T get(uint32_t at) const {
    T x;
    std::memcpy(&x, frame + at, sizeof(T));
    return x;
  }
  void put(uint32_t at, bool x) { put(at, uint32_t(x)); }
  /// What is smaller than a register is extended.
  template <class T> void put(uint32_t at, T x) {
    if constexpr (sizeof(T) < 4) {
      uint32_t word = std::is_signed_v<T> ? uint32_t(int32_t(x)) : uint32_t(x);
      std::memcpy(frame + at, &word, sizeof(word));
    } else {
      std::memcpy(frame + at, &x, sizeof(x));
    }
  }
  /// Of any operand of an operation.
  uint32_t place(const Operation *op, int i) const {
    return program->operands[op->all + i];
  }
  template <class T> T operand(const Operation *op, int i) const {
    return get<T>(place(op, i));
  }
  /// The byte of the cluster's shared memory that an address of the block
  /// means; -1: none, where several blocks have theirs.
  int sharedAt(uint32_t address) const {
    uint32_t offset = address - cuda::SharedBase;
    return offset < reach ? begin + int(offset) : -1;
  }
  /// The same of an address that mapa may have made, of another block of the
  /// cluster; -1 and a report, where that block or that byte is not there.
  int clusterAt(const Operation *op, uint32_t address) {
    int to = address >> 24 ? int(address >> 24) - 1 : rank;
    if (to != rank && !async(op).cluster.touch(self, to))
      return -1;
    int offset = sharedAt(address & 0xffffff);
    if (offset < 0) {
      report(op, "leaves the shared memory of block " + std::to_string(to) +
                     " of its cluster, by the address " +
                     std::to_string(address & 0xffffff));
      return -1;
    }
    return offset - begin + machine->partBegin(to);
  }
  /// Whether so many bytes of global memory are the kernel's parameters.
  bool isParameter(uint64_t address, uint64_t bytes) const {
    uint64_t offset =
        address - get<uint64_t>(program->parameters.front().first);
    return offset <= program->parameterBytes &&
           bytes <= program->parameterBytes - offset;
  }
  /// What the machine reports from here on is of this operation.
  cuda::Machine &at(const Operation *op) {
    current = op;
    return *machine;
  }
  cuda::AsyncBlock &async(const Operation *op) { return at(op).async(); }
  /// Around what orders threads.
  void beforeSync(const Operation *op) {
    if (!launch->ofTriton || !machine->hasRoles())
      return;
    async(op).barriers.fenceInit(self);
    async(op).tensor.fenceBefore(self);
  }
  void afterSync(const Operation *op) {
    if (launch->ofTriton && machine->hasRoles())
      async(op).tensor.fenceAfter(self);
  }
  void report(const Operation *op, const std::string &text) {
    at(op).report("thread " + std::to_string(self) + " " + text);
  }
};
template <> inline bool ThreadState::get<bool>(uint32_t at) const {
  return get<uint32_t>(at) != 0;
}

/// An operation that looks at its own registers alone: puts what F returns.
template <auto F> struct Pure;
template <class R, class... A, R (*F)(A...)> struct Pure<F> {
  template <size_t... I>
  static const Operation *run(const Operation *op, ThreadState &t,
                              std::index_sequence<I...>) {
    t.put(op->at[0], F(t.get<A>(op->at[I + 1])...));
    return op + 1;
  }
  static const Operation *run(const Operation *op, ThreadState &t) {
    return run(op, t, std::index_sequence_for<A...>());
  }
  template <class T> static char letter() {
    return std::is_same_v<T, bool> ? 'p' : char('0' + sizeof(T));
  }
  static Form form() { return {run, {letter<R>(), letter<A>()...}}; }
};
template <auto F> Form pure() { return Pure<F>::form(); }

/// Runs all blocks of a launch. `parameters` are as many bytes as the program
/// says.
void run(cuda::Machine &machine, const Program &program, const Launch &launch,
         const void *parameters);

} // namespace kv::ptx

#endif // KV_KERNELS_EMULATOR_PTX_PROGRAM_H
