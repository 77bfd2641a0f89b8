#include "AttentionTwinsImpl.h"

template void kv::cuda::runAttentionTwin<kv::cuda::Bf16, kv::cuda::F8E5M2,
                                         kv::cuda::Scales::Row>(
    Machine &, const AttentionKernel &, int, const AttentionParams &);

template void
kv::cuda::runAttentionTwin<kv::cuda::Bf16, kv::cuda::I8, kv::cuda::Scales::Row>(
    Machine &, const AttentionKernel &, int, const AttentionParams &);
