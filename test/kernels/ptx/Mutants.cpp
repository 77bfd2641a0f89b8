//===- Mutants.cpp - Launches with a mistake in their PTX -----------------===//

#include "Mutants.h"

#include <csignal>
#include <cstdio>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kv;
using namespace kv::cuda::test;

/// A launch that takes this much longer than without a mistake does not end.
constexpr uint64_t MostTimes = 20;
constexpr unsigned MostSeconds = 300;

struct Mutants::Outcome {
  bool isGood;
  uint64_t history, branches;
  char report[256];
  void say(const std::string &text) {
    std::memset(report, 0, sizeof(report));
    text.copy(report, sizeof(report) - 1);
  }
  bool executed[1]; // of each line, from the kernel's first one on
};

Mutants::Mutants() {
  const char *text = std::getenv("KV_PTX_MUTANTS");
  std::istringstream words(text ? text : "");
  std::getline(words, kernel, ',');
  for (std::string seed; std::getline(words, seed, ',');)
    mutants.push_back({uint32_t(std::stoul(seed))});
}

Mutants::~Mutants() {
  if (outcome)
    munmap(outcome, outcomeBytes);
}

void Mutants::read(PtxTexts &texts) {
  module = &texts.moduleOf(kernel);
  base = module->find(kernel);
  for (Mutant &mutant : mutants) {
    ptx::Kernel changed = *base;
    mutant.mutation = ptx::test::mutate(changed, mutant.seed);
  }
  outcomeBytes = sizeof(Outcome) + base->instructions.back().line -
                 base->instructions.front().line;
  void *memory = mmap(nullptr, outcomeBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  outcome = static_cast<Outcome *>(memory);
}

void Mutants::run(PtxTexts &texts, uint32_t seed, uint64_t mostBranches,
                  const Run &launch) {
  ptx::Kernel changed = *base;
  if (seed)
    ptx::test::mutate(changed, seed);
  auto &program = texts.programs[kernel];
  program = std::make_unique<ptx::Program>(*module, changed);
  program->traces = program->remembers = texts.endsAtReport = true;
  texts.mostBranches = mostBranches;
  std::string problem = launch();
  for (size_t i = 0; i < program->executed.size(); ++i)
    if (program->executed[i])
      outcome->executed[program->operations[i].line -
                        base->instructions.front().line] = true;
  outcome->isGood = problem.empty();
  outcome->history = program->history;
  outcome->branches = program->branches;
  outcome->say(problem);
}

Mutant::State Mutants::attempt(PtxTexts &texts, uint32_t seed,
                               uint64_t mostBranches, const Run &launch) {
  std::memset(static_cast<void *>(outcome), 0, outcomeBytes);
  std::fflush(stdout);
  pid_t child = fork();
  if (child < 0)
    throw std::runtime_error("there is no process for a mistake");
  if (child == 0) {
    alarm(MostSeconds);
    outcome->say("does not end");
    try {
      run(texts, seed, mostBranches, launch);
    } catch (const ptx::Error &error) {
      outcome->say(error.what());
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM)
    return Mutant::State::Crashed;
  return outcome->isGood ? Mutant::State::Unseen : Mutant::State::Seen;
}

void Mutants::tryAll(PtxTexts &texts, const Run &launch) {
  using State = Mutant::State;
  auto isOpen = [](const Mutant &mutant) {
    return mutant.state == State::Unexecuted || mutant.state == State::Unseen;
  };
  if (std::ranges::none_of(mutants, isOpen))
    return;
  if (!base)
    read(texts);
  if (attempt(texts, 0, texts.mostBranches, launch) != State::Unseen)
    return; // which the test says
  uint64_t history = outcome->history,
           most = outcome->branches * MostTimes + MostTimes;
  unsigned first = base->instructions.front().line;
  std::vector<bool> executed(outcome->executed, outcome->executed +
                                                    outcomeBytes -
                                                    sizeof(Outcome) + 1);
  for (Mutant &mutant : mutants) {
    if (!isOpen(mutant) || !executed[mutant.mutation.line - first])
      continue;
    mutant.state = attempt(texts, mutant.seed, most, launch);
    mutant.report = outcome->report;
    mutant.acts |= outcome->history != history;
  }
}

void Mutants::print() const {
  constexpr const char *States[] = {"unexecuted", "unseen", "seen", "crashed"};
  for (const Mutant &mutant : mutants)
    std::printf("mutant %u: %s, %s operands, %s at %s:%u; %s\n", mutant.seed,
                States[int(mutant.state)], mutant.acts ? "other" : "equal",
                mutant.mutation.text.c_str(),
                module ? module->file.c_str() : "", mutant.mutation.line,
                mutant.report.c_str());
}
