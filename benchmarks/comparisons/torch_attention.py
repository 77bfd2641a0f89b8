"""torch_attention.py CACHED NEW ITERATIONS THREADS HEADS GROUP DIM: PyTorch's scaled_dot_product_attention over bf16
keys and values without gaps; prints the seconds of one."""

import sys
import time

import torch

cached, new, iterations, threads, heads, group, dim = map(int, sys.argv[1:])
torch.set_num_threads(threads)
total = cached + new
q = torch.randn(1, heads * group, new, dim, dtype=torch.bfloat16)
k, v = torch.rand(2, 1, heads, total, dim, dtype=torch.bfloat16) - 0.5
# Of one new token nothing is hidden; is_causal counts from the first key, so a mask says what a chunk sees.
mask = None
if new > 1:
    mask = torch.ones(new, total, dtype=torch.bool).tril(cached)


def attend():
    torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)


with torch.inference_mode():
    attend()
    start = time.perf_counter()
    for _ in range(iterations):
        attend()
    print((time.perf_counter() - start) / iterations)
