//===- Execution.h - A module by both pipelines -----------------*- C++ -*-===//

#ifndef KV_TEST_FUZZ_EXECUTION_H
#define KV_TEST_FUZZ_EXECUTION_H

#include "Checks.h"

namespace kv::fuzz {

/// Compiles the executable module of `progress.seed` by kv-cpu and by
/// kv-reference, runs both on the same random data, and compares results and
/// caches. Pages that no sequence owns are NaN and must stay as they were.
std::optional<std::string> checkExecution(mlir::MLIRContext *context,
                                          Progress &progress);

} // namespace kv::fuzz

#endif // KV_TEST_FUZZ_EXECUTION_H
