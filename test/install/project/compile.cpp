// compile MODULE ARTIFACT: the pipeline by hand, then the compiler.

#include "kv/Compiler/Compiler.h"
#include "kv/Passes/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  mlir::DialectRegistry registry;
  kv::registerCompilerDialects(registry);
  mlir::MLIRContext context(registry);

  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  mlir::PassManager pm(&context);
  kv::CPUPipelineOptions options;
  options.mcpu = "x86-64-v3";
  if (llvm::Error error = kv::buildCPUPipeline(pm, options)) {
    llvm::errs() << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  if (failed(pm.run(*module)))
    return 1;
  for (mlir::Operation &operation : *module->getBody())
    if (auto name = operation.getAttrOfType<mlir::StringAttr>("sym_name"))
      llvm::outs() << name.getValue() << "\n";

  module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  kv::CompileOptions compile;
  compile.mcpu = "x86-64-v3";
  return failed(kv::compileModule(*module, compile, argv[2]));
}
