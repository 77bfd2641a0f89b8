//===- Checks.cpp - What must hold for every module -----------------------===//
//
// It verifies; as text, generic text and bytecode it comes back as it was; and
// every pass and pipeline takes it, with the verifier after each pass, or
// refuses it with a sentence about a limit that is documented.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "Random.h"

#include "kv/Passes/Passes.h"
#include "kv/Registration/Registration.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace kv;
using namespace kv::fuzz;

/// The passes of kv-mlir, each alone on the module as it is and on the module
/// without handles.
static const StringRef kPasses[] = {"kv-assign-layout",
                                    "kv-assign-page-layers",
                                    "kv-expand-collections",
                                    "kv-resolve-collections",
                                    "kv-resolve-bands",
                                    "kv-check-steps",
                                    "kv-lint-order",
                                    "kv-round-activations",
                                    "kv-pack-weights",
                                    "kv-decompose",
                                    "kv-form-entries",
                                    "kv-inline-helpers",
                                    "kv-fuse",
                                    "kv-select-kernel",
                                    "kv-select-kernel{target=decomposition}",
                                    "kv-select-kernel{target=cuda}",
                                    "kv-form-launches",
                                    "kv-form-destinations",
                                    "kv-check-host-code",
                                    "kv-split-destinations",
                                    "kv-outline-kernels",
                                    "kv-vectorize",
                                    "func.func(kv-expand-math)",
                                    "kv-thread-context",
                                    "kv-outline-parallel",
                                    "convert-kv-to-runtime"};

/// Passes of upstream that meet the dialect's operations.
static const StringRef kUpstream[] = {"canonicalize", "cse", "inline",
                                      "symbol-dce",
                                      "loop-invariant-code-motion"};

static const StringRef kResolve =
    "kv-expand-collections,kv-resolve-collections";
static const StringRef kBufferize =
    "kv-split-destinations,eliminate-empty-tensors,"
    "one-shot-bufferize{bufferize-function-boundaries "
    "allow-return-allocs-from-loops "
    "function-boundary-type-conversion=identity-layout-map "
    "unknown-type-conversion=identity-layout-map}";

static const StringRef kLimits[] = {
    // One pass alone, out of its place in the pipeline.
    "run kv-resolve-collections before",
    "run kv-resolve-bands before",
    "run kv-decompose before",
    "run kv-thread-context before",
    "run kv-select-kernel before",
    "is on tensors: bufferize before",
    "an entry takes ranked tensors and collections, not",
    // A fetch of an entry's arguments that is no collection of the manifest.
    "has blocks that are an argument of an entry, but makes",
    "has blocks that are of no collection",
    "which is a component already",
    // heads = ?, which every pipeline wants to find.
    "must be known in an entry: run kv-shard before",
    "has a collection with heads = ?: run kv-shard before",
    "no kv.store says how many heads",
    "all stores must say how many heads it has",
    "opens a collection: kv-shard takes",
    "run kv-select-kernel{target=cuda} before",
    // A GPU has kernels for models, and the host does not see its memory.
    "kv-cuda has ",
    "kv-cuda copies whole tensors",
    "would touch device memory on the host",
    "which lies on the device: give a static size",
    "returns device memory of its own",
    "has no kernel on a GPU",
    "is not known before the call: it must be that of an argument",
};

/// Of the fixed pipelines: 0 and 1 are kv-cpu for two machines.
static constexpr size_t kReference = 2;

/// Distinct random sequences that a checker has.
static constexpr int64_t kMixed = 24;

void Checker::add(SmallVectorImpl<Pipeline> &to, StringRef text,
                  bool endsInLLVM, bool roundTrip) {
  auto manager = std::make_unique<PassManager>(ctx.get(), "builtin.module");
  if (failed(parsePassPipeline(text, *manager)))
    llvm::report_fatal_error("kv-fuzz: no pipeline '" + text + "'");
  manager->enableVerifier(true);
  to.push_back({text.str(), std::move(manager), endsInLLVM, roundTrip});
}

ArrayRef<StringRef> kv::fuzz::limitNames() {
  static_assert(std::size(kLimits) <= Progress::kMostLimits);
  return kLimits;
}

bool Progress::isLimit(StringRef text) {
  for (auto [i, limit] : llvm::enumerate(kLimits))
    if (text.contains(limit)) {
      ++refused[i];
      return true;
    }
  return false;
}

void Progress::enter(StringRef what) {
  what = what.take_front(sizeof(stage) - 1);
  llvm::copy(what, stage);
  stage[what.size()] = 0;
}

Checker::Checker(Progress &progress, bool everyPass)
    : everyPass(everyPass), progress(progress) {
  DialectRegistry registry;
  registerDialects(registry);
  ctx =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  loadGeneratorDialects(ctx.get());
  add(fixed, "kv-cpu{mcpu=x86-64-v3}", /*endsInLLVM=*/true);
  add(fixed, "kv-cpu{mcpu=x86-64-v4}", /*endsInLLVM=*/true);
  add(fixed, "kv-reference", /*endsInLLVM=*/true);
  add(fixed, kResolve, /*endsInLLVM=*/false, /*roundTrip=*/true);
  add(fixed, (kResolve + "," + kBufferize + ",canonicalize,cse").str(),
      /*endsInLLVM=*/false, /*roundTrip=*/true);

  for (StringRef pass : kPasses) {
    add(single, pass);
    add(single, (kResolve + "," + pass).str());
  }
  for (StringRef pass : kUpstream)
    add(single, pass);

  // Sequences that nobody thought of.
  Random random(0);
  for (int64_t i = 0; i < kMixed; ++i) {
    std::string text;
    for (int64_t n = random.between(2, 6); n > 0; --n) {
      StringRef pass =
          random.percent(70) ? random.oneOf(kPasses) : random.oneOf(kUpstream);
      text += (text.empty() ? "" : ",") + pass.str();
    }
    add(mixed, text);
  }
}

static std::string print(ModuleOp module, bool generic) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (generic)
    flags.printGenericOpForm();
  module.print(os, flags);
  return text;
}

/// The first line in which two texts differ.
static std::string difference(StringRef a, StringRef b) {
  while (!a.empty() || !b.empty()) {
    auto [lineA, restA] = a.split('\n');
    auto [lineB, restB] = b.split('\n');
    if (lineA != lineB)
      return ("\n  was " + lineA.trim() + "\n  now " + lineB.trim()).str();
    a = restA;
    b = restB;
  }
  return "";
}

/// Diagnostics as text while it lives.
namespace {
struct Diagnostics {
  explicit Diagnostics(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            text += diagnostic.str() + "\n";
        }) {}
  std::string text;
  ScopedDiagnosticHandler handler;
};
} // namespace

std::optional<std::string> Checker::roundTrip(ModuleOp module) {
  Diagnostics diagnostics(ctx.get());
  std::string pretty = print(module, /*generic=*/false);
  std::string generic = print(module, /*generic=*/true);
  auto same = [&](StringRef what,
                  StringRef source) -> std::optional<std::string> {
    OwningOpRef<ModuleOp> parsed =
        parseSourceString<ModuleOp>(source, ctx.get());
    if (!parsed)
      return (what + " cannot be read: " + diagnostics.text).str();
    std::string now = print(*parsed, /*generic=*/true);
    if (now != generic)
      return (what + " changes the module:" + difference(generic, now)).str();
    now = print(*parsed, /*generic=*/false);
    if (now != pretty)
      return (what + " changes the text:" + difference(pretty, now)).str();
    return std::nullopt;
  };
  if (auto problem = same("text", pretty))
    return problem;
  if (auto problem = same("generic text", generic))
    return problem;
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(module, os)))
    return "bytecode cannot be written: " + diagnostics.text;
  return same("bytecode", bytes);
}

std::optional<std::string> Checker::run(Pipeline &pipeline, ModuleOp module) {
  progress.enter(pipeline.text);
  OwningOpRef<ModuleOp> copy = module.clone();
  Diagnostics diagnostics(ctx.get());
  if (failed(pipeline.manager->run(*copy))) {
    if (progress.isLimit(diagnostics.text))
      return std::nullopt;
    return pipeline.text + " fails: " +
           (diagnostics.text.empty() ? "without a diagnostic"
                                     : diagnostics.text);
  }
  if (pipeline.endsInLLVM) {
    std::string left;
    copy->walk([&](Operation *op) {
      if (left.empty() &&
          !isa<LLVM::LLVMDialect, BuiltinDialect>(op->getDialect()))
        left = op->getName().getStringRef();
    });
    if (!left.empty())
      return pipeline.text + " leaves '" + left + "'";
  }
  if (pipeline.roundTrip) {
    // What upstream's text leaves out (a default that stands there) is gone
    // after the first time.
    std::string text = print(*copy, /*generic=*/false);
    copy = parseSourceString<ModuleOp>(text, ctx.get());
    if (!copy)
      return "after " + pipeline.text +
             ": text cannot be read: " + diagnostics.text;
    if (auto problem = roundTrip(*copy))
      return "after " + pipeline.text + ": " + *problem;
  }
  return std::nullopt;
}

std::optional<std::string> Checker::check(uint64_t seed) {
  progress.enter("the generator");
  OwningOpRef<ModuleOp> module = generateModule(ctx.get(), seed, {});
  progress.enter("the verifier or a round trip");
  {
    Diagnostics diagnostics(ctx.get());
    if (failed(verify(*module)))
      return "does not verify: " + diagnostics.text;
  }
  if (auto problem = roundTrip(*module))
    return problem;
  Random random(seed);
  // The two machines differ in sizes of tiles alone: one of them a module. A
  // run of many modules takes one whole pipeline for each.
  auto whole = static_cast<size_t>(random.below(everyPass ? 3 : 2));
  for (auto [i, pipeline] : llvm::enumerate(fixed)) {
    bool taken =
        !pipeline.endsInLLVM || i == whole || (!everyPass && i == kReference);
    if (taken)
      if (auto problem = run(pipeline, *module))
        return problem;
  }
  for (Pipeline &pipeline : single)
    if (everyPass || random.percent(12))
      if (auto problem = run(pipeline, *module))
        return problem;
  if (auto problem = run(random.oneOf(mixed), *module))
    return problem;
  return std::nullopt;
}
