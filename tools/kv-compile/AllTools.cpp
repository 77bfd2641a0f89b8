//===- AllTools.cpp - Every program with LLVM in one file -----------------===//
//
// KV_STATIC_LLVM: each program alone would have a hundred megabytes, nearly all
// of them the same. This one is the program of whose name it is started.
//
//===----------------------------------------------------------------------===//

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

// The mains of the programs, which CMakeLists.txt renames.
int kvCompile(int argc, char **argv);
int kvLspServer(int argc, char **argv);
int kvOpt(int argc, char **argv);
int kvReduce(int argc, char **argv);

int main(int argc, char **argv) {
  return llvm::StringSwitch<int (*)(int, char **)>(
             llvm::sys::path::filename(argv[0]))
      .Case("kv-lsp-server", kvLspServer)
      .Case("kv-opt", kvOpt)
      .Case("kv-reduce", kvReduce)
      .Default(kvCompile)(argc, argv);
}
