//===- kv-fuzz.cpp - Random modules through everything --------------------===//
//
//   kv-fuzz --seed=1 --count=2000     checks 2000 modules (Checks.h)
//   kv-fuzz --execute --count=200     runs modules compiled by both pipelines
//   kv-fuzz --seed=17 --print         the module of one seed
//
// The work is done in a child process: when it crashes or hangs, that is a
// failure of its seed, and another child goes on behind it. The exit code is 0
// when nothing has failed.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Execution.h"

#include "kv/Registration/Registration.h"
#include "llvm/Support/CommandLine.h"
#include <chrono>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace kv::fuzz;
namespace cl = llvm::cl;

static cl::opt<uint64_t> seed("seed", cl::desc("the first module's seed"),
                              cl::init(1));
static cl::opt<uint64_t> count("count", cl::desc("how many modules"),
                               cl::init(1));
static cl::opt<bool> printOnly("print", cl::desc("print modules, check none"));
static cl::opt<bool> execute(
    "execute",
    cl::desc("compile executable modules by both pipelines, compare results"));
static cl::opt<bool>
    everyPass("every-pass",
              cl::desc("every pass alone for each module, not some of them"));
static cl::opt<uint64_t>
    mostFailures("most-failures", cl::desc("stop after so many"), cl::init(10));
static cl::opt<unsigned> seconds("hang",
                                 cl::desc("seconds a module may take at most"),
                                 cl::init(60));

/// Checks from `progress.seed` to `end`, with types and attributes, which are
/// never freed, made anew now and then.
static void work(Progress &progress, uint64_t end) {
  std::unique_ptr<Checker> checker;
  for (uint64_t age = 0;
       progress.seed < end && progress.failures < mostFailures;
       ++progress.seed, ++age) {
    if (age % 500 == 0)
      checker = std::make_unique<Checker>(progress, everyPass);
    alarm(seconds);
    std::optional<std::string> problem =
        execute ? checkExecution(checker->context(), progress)
                : checker->check(progress.seed);
    if (problem) {
      ++progress.failures;
      llvm::errs() << "kv-fuzz: seed " << progress.seed << ": " << *problem
                   << "\n";
    }
  }
}

/// The same in child processes.
static void watch(Progress &progress, uint64_t end) {
  while (progress.seed < end && progress.failures < mostFailures) {
    pid_t child = fork();
    if (child < 0)
      llvm::report_fatal_error("kv-fuzz: fork fails");
    if (child == 0) {
      work(progress, end);
      llvm::errs().flush();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      continue;
    ++progress.failures;
    llvm::errs() << "kv-fuzz: seed " << progress.seed << ": ";
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
      llvm::errs() << "takes more than " << seconds << " s";
    else
      llvm::errs() << "crashes ("
                   << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                           : "it exits")
                   << ")";
    llvm::errs() << " in " << progress.stage << "\n";
    ++progress.seed;
  }
}

int main(int argc, char **argv) {
  kv::registerPasses();
  cl::ParseCommandLineOptions(argc, argv, "random kv modules\n");
  // Shared with the children.
  void *memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    llvm::report_fatal_error("kv-fuzz: mmap fails");
  Progress &progress = *new (memory) Progress;
  progress.seed = seed;
  if (printOnly) {
    Checker checker(progress, everyPass);
    for (uint64_t i = seed; i < seed + count; ++i)
      generateModule(checker.context(), i, {.executable = execute})
          ->print(llvm::outs());
    return 0;
  }
  auto start = std::chrono::steady_clock::now();
  watch(progress, seed + count);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  llvm::outs() << progress.seed - seed << " modules, " << progress.failures
               << " failed, " << static_cast<int64_t>(took.count()) << " s\n";
  for (auto [limit, times] : llvm::zip(limitNames(), progress.refused))
    if (times)
      llvm::outs() << "refused " << times << " times: " << limit << "\n";
  return progress.failures != 0;
}
