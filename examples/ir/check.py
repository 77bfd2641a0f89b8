"""check.py ARTIFACT: runs the entry `attend` in two steps over a paged cache, and compares with plain numpy."""

import sys

import kvmlir
import numpy as np

HEADS, GROUP, DIM, SCALE = 2, 2, 32, 0.25
model = kvmlir.load(sys.argv[1])
manager = model.create_manager(max_batch_size=1, num_pages=8, warn=False)
draw = np.random.default_rng(0)
length, steps = 40, ((0, 25), (25, 40))
q = draw.standard_normal((length, HEADS * GROUP, DIM), np.float32)
k, v = draw.standard_normal((2, length, HEADS, DIM), np.float32)

context = kvmlir.TextGenerationContext(range(length))
manager.claim(context.request_id)
parts = []
for begin, end in steps:  # a prompt in two chunks: the second one reads the first from the cache
    context.limit_active(end - begin)
    manager.alloc(context)
    manager.get_runtime_inputs([context])
    rows = {"q": q[begin:end], "k": k[begin:end], "v": v[begin:end]}
    outputs = model.execute(rows, entry="attend", manager=manager, row_offsets=np.array([0, end - begin], np.int32))
    parts.append(outputs["o"].numpy().copy())
    context.advance()
    manager.step([context])

scores = np.einsum("qhgd,khd->hgqk", q.reshape(length, HEADS, GROUP, DIM), k) * SCALE
scores[..., np.triu_indices(length, 1)[0], np.triu_indices(length, 1)[1]] = -np.inf
weights = np.exp(scores - scores.max(-1, keepdims=True))
weights /= weights.sum(-1, keepdims=True)
wanted = np.einsum("hgqk,khd->qhgd", weights, v).reshape(q.shape)
error = np.abs(np.concatenate(parts) - wanted).max()
print(f"{length} tokens in {len(steps)} steps, {len(manager.get_req_blocks(context.request_id))} pages: "
      f"{'equal to numpy' if error < 1e-5 else f'numpy differs by {error}'}")
