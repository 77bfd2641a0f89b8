//===- BaselineAttention.cpp - The kernel without wider vectors -----------===//
//
// The attention kernel once more, in a namespace of its own and for the
// baseline only, to compare the bits of the machine's own variant with.
//
//===----------------------------------------------------------------------===//

#define KV_NO_CLONES
#define reference reference_baseline
#include "../../../kernels/reference/Attention.cpp"
#undef reference

/// `args` is a kv::reference::AttentionArguments.
void runBaselineAttention(const void *args, int64_t lo, int64_t hi) {
  kv::reference_baseline::attention(
      *static_cast<const kv::reference_baseline::AttentionArguments *>(args),
      lo, hi);
}
