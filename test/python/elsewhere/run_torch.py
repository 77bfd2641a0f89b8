"""run_torch.py: torch.compile(model, backend="kvmlir") gives PyTorch's logits, for a decoder of PyTorch alone and two of
transformers. Run by scripts/test-full.sh in the exporters' environment."""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "build/release/python"), str(ROOT / "test/python/raise")]
os.environ.setdefault("KV_COMPILE", str(ROOT / "build/release/bin/kv-compile"))

import kvmlir.torch  # noqa: E402, F401  registers the backend
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from check_raise import make  # noqa: E402

LIMIT, LENGTHS = 1e-5, (8, 5, 40, 1)


class Plain(torch.nn.Module):
    def __init__(self, width=32, heads=2, vocabulary=96):
        super().__init__()
        self.heads = heads
        self.table, self.norm = torch.nn.Embedding(vocabulary, width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, vocabulary)

    def forward(self, ids):
        x = self.table(ids)
        batch, length, width = x.shape
        split = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(F.gelu(x + attended.transpose(1, 2).reshape(batch, length, width)))


def logits(model, ids):
    if isinstance(model, Plain) or isinstance(getattr(model, "_orig_mod", None), Plain):
        return model(ids)
    return model(ids, attention_mask=torch.ones_like(ids), use_cache=False).logits


def gap(model, compiled, seed, length):
    ids = torch.randint(3, 96, (1, length), generator=torch.Generator().manual_seed(seed))
    wanted, found = logits(model, ids), logits(compiled, ids)
    assert wanted.shape == found.shape
    return float((wanted - found).abs().max() / wanted.abs().max())


def expect(sentence, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except Exception as error:  # Dynamo wraps what a backend raises
        assert re.search(sentence, str(error)), error
    else:
        raise AssertionError(f"nothing was refused, expected: {sentence}")


def main():
    torch.manual_seed(1)
    for name, model in (("plain", Plain()), ("llama", make("llama")), ("gpt2", make("gpt2"))):
        model = model.eval()
        compiled = torch.compile(model, backend="kvmlir", dynamic=True, options={"max_tokens": 64})
        with torch.no_grad():
            gaps = [gap(model, compiled, seed, length) for seed, length in enumerate(LENGTHS)]
            assert max(gaps) < LIMIT, (name, gaps)
            if name == "plain":
                model.out.weight *= 2  # is compiled again
                assert gap(model, compiled, 9, 12) < LIMIT
                expect("70 tokens are given, allowed: 64", compiled, torch.ones(1, 70, dtype=torch.long))
            if name == "llama":
                ids = torch.ones(1, 9, dtype=torch.long)
                expect("shape is .*allowed: ones", compiled, ids, attention_mask=1 - ids, use_cache=False)
                expect("shape is .*allowed: ones", compiled, ids, attention_mask=ids, use_cache=False,
                       position_ids=torch.arange(1, 10)[None])
                expect("allowed: a model from token ids", compiled, ids.expand(2, 9), attention_mask=ids.expand(2, 9),
                       use_cache=False)
        print(f"{name}: logits differ by {max(gaps):.1e} of the largest at most", flush=True)
    expect("needs torch.no_grad", torch.compile(Plain(), backend="kvmlir", dynamic=True), torch.ones(1, 9, dtype=torch.long))


main()
