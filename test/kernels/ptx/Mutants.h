//===- Mutants.h - Launches with a mistake in their PTX ---------*- C++ -*-===//
//
// A launch of the kernel with each mistake is a process of its own, which
// begins as this one is before the launch: texts are parsed, inputs are there,
// and the body has run. So a mistake costs one launch of one kernel.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_PTX_MUTANTS_H
#define KV_TEST_KERNELS_PTX_MUTANTS_H

#include "Mutation.h"
#include "PtxTexts.h"

namespace kv::cuda::test {

/// A mistake, and what all launches so far made of it.
struct Mutant {
  enum class State { Unexecuted, Unseen, Seen, Crashed };
  uint32_t seed;
  ptx::test::Mutation mutation = {};
  State state = State::Unexecuted;
  bool acts = false; // what is no arithmetic had other operands
  std::string report = {};
};

class Mutants {
public:
  /// Runs the launch, and gives what is wrong with it; "": nothing.
  using Run = std::function<std::string()>;

  /// KV_PTX_MUTANTS=<kernel>,<seed>,<seed>...
  Mutants();
  ~Mutants();
  Mutants(const Mutants &) = delete;
  Mutants &operator=(const Mutants &) = delete;

  /// Runs a launch of the kernel with each mistake that was not seen yet.
  void tryAll(PtxTexts &texts, const Run &launch);
  /// A line for each.
  void print() const;

  std::string kernel; // "": there are none

private:
  struct Outcome;

  void read(PtxTexts &texts);
  /// Runs a launch with a mistake, here.
  void run(PtxTexts &texts, uint32_t seed, uint64_t mostBranches,
           const Run &launch);
  /// Runs a launch in a process of its own; seed 0 is no mistake.
  Mutant::State attempt(PtxTexts &texts, uint32_t seed, uint64_t mostBranches,
                        const Run &launch);

  std::vector<Mutant> mutants;
  const ptx::Module *module = nullptr;
  const ptx::Kernel *base = nullptr;
  /// Of the last attempt, in memory of both processes.
  Outcome *outcome = nullptr;
  size_t outcomeBytes = 0;
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_PTX_MUTANTS_H
