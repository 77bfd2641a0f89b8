#include "AttentionTwinsImpl.h"

template void kv::cuda::runAttentionTwin<kv::cuda::F16, kv::cuda::F16,
                                         kv::cuda::Scales::None>(
    Machine &, const AttentionKernel &, int, const AttentionParams &);
