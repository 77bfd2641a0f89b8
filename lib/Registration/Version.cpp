//===- Version.cpp - What --version says ----------------------------------===//

#include "kv/Registration/Registration.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

void kv::registerVersion(const char *tool) {
  llvm::cl::SetVersionPrinter([tool](llvm::raw_ostream &os) {
    os << tool << " " KV_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  });
}
