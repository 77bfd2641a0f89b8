//===- Batch.h - The batch of executable modules ----------------*- C++ -*-===//

#ifndef KV_TEST_FUZZ_BATCH_H
#define KV_TEST_FUZZ_BATCH_H

#include <cstdint>

namespace kv::fuzz {

/// The batch of executable modules: tokens, sequences, and how often a handle
/// may be advanced.
constexpr int64_t kTokens = 7, kSequences = 3, kMostAdvances = 6;

} // namespace kv::fuzz

#endif // KV_TEST_FUZZ_BATCH_H
