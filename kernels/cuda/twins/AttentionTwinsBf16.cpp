#include "AttentionTwinsImpl.h"

template void kv::cuda::runAttentionTwin<kv::cuda::Bf16, kv::cuda::Bf16,
                                         kv::cuda::Scales::None>(
    Machine &, const AttentionKernel &, int, const AttentionParams &);
