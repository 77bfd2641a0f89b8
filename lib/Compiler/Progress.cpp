//===- Progress.cpp - What a compiler is working on -----------------------===//

#include "kv/Compiler/Progress.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/ioctl.h>
#include <unistd.h>

using namespace mlir;
using namespace kv;

Progress::Progress(MLIRContext *context)
    : beforeDiagnostics(context, [this](Diagnostic &) {
        clear();
        return failure(); // who prints it comes next
      }) {}

void Progress::show(llvm::StringRef stage, size_t number, size_t all,
                    llvm::StringRef what) {
  std::string text = ("kv-compile: " + stage).str();
  if (all)
    text += (" " + Twine(number) + " of " + Twine(all) + ": " + what).str();
  // A line that goes on in the next one could not be written anew. LLVM knows
  // the size of terminals only where the environment says it.
  winsize size = {};
  (void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
  text.resize(
      std::min<size_t>(text.size(), size.ws_col ? size.ws_col - 1 : 79));
  std::lock_guard lock(mutex);
  if (text == shown)
    return;
  llvm::errs() << "\r\033[K" + text;
  shown = std::move(text);
}

void Progress::clear() {
  std::lock_guard lock(mutex);
  if (!shown.empty())
    llvm::errs() << "\r\033[K";
  shown.clear();
}

namespace {
/// Counts what the pipeline of the module itself consists of: passes, and
/// pipelines of functions, whose passes are shown as they run.
class PassProgress : public PassInstrumentation {
public:
  PassProgress(Progress &progress, llvm::StringRef stage, size_t all)
      : progress(progress), stage(stage), all(all) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    bool isOfModule = !op->getParentOp();
    number += isOfModule && depth == 0;
    depth += isOfModule;
    if (llvm::StringRef name = pass->getArgument(); !name.empty())
      progress.show(stage, number, all, name);
  }
  void runAfterPass(Pass *, Operation *op) override {
    depth -= !op->getParentOp();
  }

private:
  Progress &progress;
  std::string stage;
  size_t all, number = 0, depth = 0;
};
} // namespace

void Progress::watch(PassManager &pm, llvm::StringRef stage) {
  pm.addInstrumentation(
      std::make_unique<PassProgress>(*this, stage, pm.size()));
}
