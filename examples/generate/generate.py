"""generate.py MODEL PROMPT...: answers with kvmlir and numpy, one step at a time.

All prompts share each step; nucleus sampling is a few lines of numpy on the logits."""

import sys
from pathlib import Path

import kvmlir
import numpy as np
from tokenizers import Tokenizer


def sample(logits, draw, temperature=0.7, top_p=0.9):
    """A token of the smallest set that has the probability top_p."""
    scaled = np.exp((logits - logits.max()) / temperature)
    order = np.argsort(-scaled)
    sums = np.cumsum(scaled[order]) / scaled.sum()
    kept = order[:np.searchsorted(sums, top_p) + 1]
    return int(draw.choice(kept, p=scaled[kept] / scaled[kept].sum()))


def main(folder, *prompts):
    tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
    kvmlir.compile(folder)  # model.mlir to model.so
    model = kvmlir.load(folder)
    manager = model.create_manager(max_batch_size=len(prompts), num_pages=256, warn=False)
    contexts = [kvmlir.TextGenerationContext(tokenizer.encode(prompt).ids) for prompt in prompts]
    draws = [np.random.default_rng(seed) for seed in range(len(prompts))]
    for context in contexts:
        manager.claim(context.request_id)
    steps = 24
    for _ in range(steps):
        for context in contexts:
            manager.alloc(context)  # pages for the new tokens, or a cached prefix
        manager.get_runtime_inputs(contexts)
        active = [context.tokens[context.processed_length:] for context in contexts]
        offsets = np.cumsum([0] + [len(tokens) for tokens in active]).astype(np.int32)
        outputs = model.execute(tokens=np.concatenate(active), row_offsets=offsets, logit_rows=offsets[1:] - 1,
                                manager=manager)
        logits = outputs["logits"].numpy()  # [prompts, vocabulary], no copy
        for context, row, draw in zip(contexts, logits, draws):
            context.update(sample(row, draw))
        manager.step(contexts)
    for prompt, context in zip(prompts, contexts):
        print(prompt + tokenizer.decode(context.tokens[-steps:].tolist()))
        manager.release(context.request_id)
    print(f"{steps} steps, {len(prompts)} tokens each, {manager.metrics.peak_used_pages} pages at most")


if __name__ == "__main__":
    main(*sys.argv[1:])
