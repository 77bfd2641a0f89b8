//===- ObjectFile.h - LLVM IR to a shared object ----------------*- C++ -*-===//

#ifndef KV_LIB_COMPILER_OBJECTFILE_H
#define KV_LIB_COMPILER_OBJECTFILE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace kv {

class Progress;

/// The target machine of an x86-64 level ("x86-64-v3").
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(llvm::StringRef cpu, unsigned optLevel);

/// Adds `bytes` to the module as the section `section`, under the internal name
/// `symbol`.
void embedSection(llvm::Module &module, llvm::StringRef section,
                  llvm::StringRef symbol, llvm::StringRef bytes,
                  llvm::Align alignment = llvm::Align(1));

/// Runs LLVM's optimiser, and shows the functions if there is a `progress`.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              unsigned optLevel, Progress *progress);

/// Emits the object and links it, alone, into the shared object `path`
/// by the program `linker`, or if that is empty by ld.lld.
llvm::Error emitSharedObject(llvm::Module &module, llvm::TargetMachine &machine,
                             llvm::StringRef path, llvm::StringRef linker);

} // namespace kv

#endif // KV_LIB_COMPILER_OBJECTFILE_H
