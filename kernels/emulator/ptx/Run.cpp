//===- Run.cpp - Runs a program -------------------------------------------===//

#include "Program.h"

#include <algorithm>
#include <sys/mman.h>

using namespace kv::ptx;
using namespace kv::cuda;

namespace {

/// What special registers hold; the thread is one of a block of `shape`.
uint32_t specialOf(const std::string &name, const ThreadState &t) {
  const Launch &launch = *t.launch;
  auto one = [&](std::string_view kind, int number,
                 const std::array<int, 3> &shape, uint32_t &value) {
    if (!name.starts_with(kind) || name.size() != kind.size() + 1)
      return false;
    int axis = name.back() - 'x';
    value = uint32_t(axis == 0   ? number % shape[0]
                     : axis == 1 ? number / shape[0] % shape[1]
                                 : number / shape[0] / shape[1]);
    return true;
  };
  auto size = [&](std::string_view kind, const std::array<int, 3> &shape,
                  uint32_t &value) {
    bool is = name.starts_with(kind) && name.size() == kind.size() + 1;
    if (is)
      value = uint32_t(shape[name.back() - 'x']);
    return is;
  };
  uint32_t value = 0;
  if (one("%tid.", t.own, launch.block, value) ||
      one("%ctaid.", t.machine->block(t.self), launch.grid, value) ||
      size("%ntid.", launch.block, value) ||
      size("%nctaid.", launch.grid, value))
    return value;
  if (name == "%laneid")
    return t.own % WarpLanes;
  if (name == "%warpid")
    return t.own / WarpLanes;
  if (name == "%cluster_ctarank")
    return t.rank;
  if (name == "%cluster_nctarank")
    return launch.cluster;
  return 0; // clocks, which stand still
}

bool isSpecial(const std::string &name) {
  constexpr std::string_view Axes[] = {"%tid.", "%ntid.", "%ctaid.",
                                       "%nctaid."};
  for (std::string_view axis : Axes)
    if (name.starts_with(axis) && name.size() == axis.size() + 1 &&
        name.back() >= 'x' && name.back() <= 'z')
      return true;
  constexpr std::string_view Names[] = {
      "%laneid", "%warpid",  "%cluster_ctarank", "%cluster_nctarank",
      "%clock",  "%clock64", "%globaltimer"};
  return std::find(std::begin(Names), std::end(Names), name) != std::end(Names);
}

/// Parameters at an address of 32 bits: of such registers some compilers make
/// generic addresses.
struct LowCopy {
  LowCopy(const void *parameters, size_t bytes) : bytes(bytes + 1) {
    data = mmap(nullptr, this->bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (data != MAP_FAILED)
      std::memcpy(data, parameters, bytes);
  }
  ~LowCopy() {
    if (data != MAP_FAILED)
      munmap(data, bytes);
  }
  void *data;
  size_t bytes;
};

void begin(ThreadState &t, const void *parameters) {
  const Program &program = *t.program;
  std::memcpy(t.frame, program.image.data(), program.image.size() * 4);
  for (auto [at, behind] : program.parameters)
    t.put(at, uint64_t(reinterpret_cast<uintptr_t>(parameters)) + behind);
  for (const auto &[name, at] : program.specials)
    t.put(at, uint64_t(specialOf(name, t)));
  t.current = program.operations.data();
  t.branches = 0;
  t.groups = 0;
  t.arrivedAtCluster = false;
  t.accumulators.clear();
  t.registersA.clear();
}

/// Adds the remembered words that an operation names, as it leaves them.
void remember(const Operation *op, const ThreadState &t, uint64_t &history) {
  for (int i = 0; i < op->arity; ++i)
    if (uint32_t at = t.place(op, i), word = at / sizeof(uint32_t);
        word < t.program->remembered.size() && t.program->remembered[word]) {
      history = (history ^ t.get<uint32_t>(at)) * 0x9e3779b97f4a7c15;
      history ^= history >> 32;
    }
}

void execute(ThreadState &t) {
  const Program &program = *t.program;
  const Operation *op = program.operations.data();
  if (!program.traces) {
    while (op)
      op = op->run(op, t);
    return;
  }
  uint64_t history = t.self + 1;
  while (op) {
    const Operation *done = op;
    program.executed[op - program.operations.data()] = 1;
    op = op->run(op, t);
    if (program.remembers && program.acts[done - program.operations.data()])
      remember(done, t, history);
    if (t.launch->endsAtReport && !t.machine->reports().empty())
      break;
  }
  program.history += history;
  program.branches = std::max(program.branches, t.branches);
}

/// As many registers as there are for threads of blocks that an SM has at once.
int registersOf(const Program &program, int threads) {
  constexpr int Step = Registers::Step;
  int blocks = std::max(program.blocksPerSM, 1);
  return std::min(Registers::File / (threads * blocks) / Step * Step, 255);
}

} // namespace

void kv::ptx::run(Machine &machine, const Program &program,
                  const Launch &launch, const void *parameters) {
  for (const auto &[name, at] : program.specials)
    if (!isSpecial(name))
      return machine.report("the special register '" + name + "' of " +
                            program.file + " is not modelled");
  int count = launch.block[0] * launch.block[1] * launch.block[2];
  int blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
  std::vector<uint64_t> frames((program.frameWords + 1) / 2 * count *
                               launch.cluster);
  std::vector<ThreadState> threads(count * launch.cluster);
  LaunchShape shape{blocks,
                    count,
                    int(program.sharedBytes) + launch.sharedBytes,
                    launch.registers,
                    launch.cluster,
                    launch.chip};
  if (!shape.registers && (program.hasRoles || launch.cluster > 1))
    shape.registers = registersOf(program, count);
  LowCopy low(parameters, program.parameterBytes);
  if (low.data == MAP_FAILED)
    return machine.report("there is no memory for the parameters");
  if (program.traces)
    program.executed.resize(program.operations.size());
  machine.describePlaces([&](int thread) {
    return ", at " + program.file + ":" +
           std::to_string(threads[thread].current->line);
  });
  machine.launch(shape, [&](Machine &m, int self) {
    ThreadState &t = threads[self];
    int rank = m.rankOf(self);
    t.frame = reinterpret_cast<unsigned char *>(
        frames.data() + (program.frameWords + 1) / 2 * self);
    t.program = &program;
    t.machine = &m;
    t.launch = &launch;
    t.self = self;
    t.rank = rank;
    t.own = self - rank * count;
    t.begin = m.partBegin(rank);
    t.reach = launch.cluster > 1 ? m.partBegin(1) : 1 << 24;
    begin(t, low.data);
    execute(t);
  });
  machine.describePlaces(nullptr);
}
