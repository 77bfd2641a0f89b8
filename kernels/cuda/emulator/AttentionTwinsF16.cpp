#include "AttentionTwinsImpl.h"

template void kv::cuda::runAttentionTwin<kv::cuda::F16, kv::cuda::F16>(
    Machine &, const AttentionKernel &, int, const AttentionParams &);
