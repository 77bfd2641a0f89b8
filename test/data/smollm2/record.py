#!/usr/bin/env python3
"""Records reference logits of SmolLM2-135M-Instruct with Hugging Face transformers.

    record.py MODEL.gguf                        writes reference-{f32,bf16}.npz
    record.py MODEL.gguf --compare DUMP         a `kv-run --dump-logits` file of teacher.jsonl
              --dtype bf16                      against a live run, over the whole vocabulary
    record.py MODEL.gguf --noise                how far two orders of summation differ

Needs torch, transformers 4.42.4 and gguf: Debian's python3-torch 1.13 in a virtual environment
with --system-site-packages, with transformers==4.42.4 "huggingface_hub<1" gguf==0.19.0 "numpy<2".
Nothing of kv-import is used: this file has its own reading of the GGUF file.

The two references, both computed in f32, with rope angles in double:
  f32   the dequantised weights;
  bf16  matrices rounded to bf16, and K (after rope) and V rounded to bf16 as the cache stores
        them. Norms stay f32.
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

HERE = Path(__file__).resolve().parent
SAMPLE = 96  # vocabulary ids whose logits are recorded at every position
TOP = 8
GREEDY = 32
NAMES = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj",
         "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
         "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}


def requests(name):
    with open(HERE / name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def load_state(path):
    """(config, state dict in f32) of a GGUF file of the llama architecture."""
    reader = gguf.GGUFReader(path)

    def value(key):
        return reader.fields[key].parts[-1].tolist()[0]

    config = LlamaConfig(
        vocab_size=value("llama.vocab_size"), hidden_size=value("llama.embedding_length"),
        intermediate_size=value("llama.feed_forward_length"),
        num_hidden_layers=value("llama.block_count"),
        num_attention_heads=value("llama.attention.head_count"),
        num_key_value_heads=value("llama.attention.head_count_kv"),
        max_position_embeddings=value("llama.context_length"),
        rms_norm_eps=value("llama.attention.layer_norm_rms_epsilon"),
        rope_theta=value("llama.rope.freq_base"), tie_word_embeddings=True)
    state = {}
    for tensor in reader.tensors:
        values = torch.from_numpy(np.array(gguf.quants.dequantize(
            tensor.data, tensor.tensor_type), dtype=np.float32))
        if tensor.name == "token_embd.weight":
            state["model.embed_tokens.weight"] = state["lm_head.weight"] = values
            continue
        if tensor.name == "output_norm.weight":
            state["model.norm.weight"] = values
            continue
        _, layer, kind, _ = tensor.name.split(".")
        # llama.cpp stores the rows of a head of q and k as pairs (i, i + D/2); back to halves.
        if kind in ("attn_q", "attn_k"):
            heads = (config.num_attention_heads if kind == "attn_q"
                     else config.num_key_value_heads)
            values = torch.cat([part[offset::2] for part in values.chunk(heads)
                                for offset in (0, 1)])
        state[f"model.layers.{layer}.{NAMES[kind]}.weight"] = values
    return config, state


class DoubleRope(torch.nn.Module):
    """transformers computes the angles in f32, which is off by 1e-5 at position 300."""

    def __init__(self, config):
        super().__init__()
        dim = config.hidden_size // config.num_attention_heads
        exponents = torch.arange(0, dim, 2, dtype=torch.float64) / dim
        self.frequencies = config.rope_theta ** -exponents

    def forward(self, x, position_ids):
        angles = position_ids[:, :, None].double() * self.frequencies
        angles = torch.cat([angles, angles], dim=-1)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


class RoundedCache(DynamicCache):
    """A cache that holds bf16 values; attention sees what the cache holds."""

    def update(self, key_states, value_states, layer_idx, cache_kwargs=None):
        return super().update(key_states.bfloat16().float(), value_states.bfloat16().float(),
                              layer_idx, cache_kwargs)


class Reference:
    def __init__(self, config, state, dtype, angles="double"):
        if dtype == "bf16":
            state = {name: value.bfloat16().float() if value.ndim == 2 else value
                     for name, value in state.items()}
        config._attn_implementation = "eager"
        self.model = LlamaForCausalLM(config).eval()
        missing = self.model.load_state_dict(state, strict=False)
        assert not missing.unexpected_keys, missing
        assert all("rotary" in name for name in missing.missing_keys), missing
        if angles == "double":
            for layer in self.model.model.layers:
                layer.self_attn.rotary_emb = DoubleRope(config)
        self.cache = RoundedCache if dtype == "bf16" else DynamicCache

    @torch.no_grad()
    def logits(self, tokens, chunk=None):
        """f32 [positions, vocab] of all positions of one prompt."""
        cache, rows = self.cache(), []
        for begin in range(0, len(tokens), chunk or len(tokens)):
            part = torch.tensor([tokens[begin:begin + (chunk or len(tokens))]])
            rows.append(self.model(part, past_key_values=cache, use_cache=True).logits[0])
        # Some versions of transformers copy the cache into one of their own class.
        assert cache.get_seq_length() == len(tokens), "the cache was not used"
        return torch.cat(rows).numpy()

    @torch.no_grad()
    def greedy(self, tokens, count):
        """The continuation, and by how much each token leads the second."""
        cache, part, out, margins = self.cache(), torch.tensor([tokens]), [], []
        for _ in range(count):
            row = self.model(part, past_key_values=cache, use_cache=True).logits[0, -1]
            best = row.topk(2)
            out.append(int(best.indices[0]))
            margins.append(float(best.values[0] - best.values[1]))
            part = torch.tensor([[out[-1]]])
        assert cache.get_seq_length() == len(tokens) + count - 1, "the cache was not used"
        return out, margins


def sample_ids(vocab):
    return np.sort(np.random.default_rng(20240607).choice(vocab, SAMPLE, replace=False))


def record(path, reference, vocab):
    ids = sample_ids(vocab)
    rows = np.concatenate([reference.logits(r["tokens"]) for r in requests("teacher.jsonl")])
    top = np.argsort(-rows, axis=1, kind="stable")[:, :TOP]
    values = np.take_along_axis(rows, top, axis=1)
    wide = rows.astype(np.float64)
    peak = wide.max(axis=1, keepdims=True)
    sums = (peak + np.log(np.exp(wide - peak).sum(axis=1, keepdims=True)))[:, 0]
    greedy = [reference.greedy(r["tokens"], GREEDY) for r in requests("greedy.jsonl")]
    np.savez_compressed(
        path, vocab=vocab, lengths=[len(r["tokens"]) for r in requests("teacher.jsonl")],
        sample_ids=ids.astype(np.int32), sample=rows[:, ids], top_ids=top.astype(np.int32),
        top=values, argmax=top[:, 0].astype(np.int32), margin=values[:, 0] - values[:, 1],
        logsumexp=sums, greedy=np.array([g[0] for g in greedy], dtype=np.int32),
        greedy_margin=np.array([g[1] for g in greedy], dtype=np.float32))
    print(f"{path.name}: {len(rows)} positions, {path.stat().st_size / 1e3:.0f} kB")


def difference(rows, others):
    """One line about two sets of logits over the whole vocabulary."""
    gap = np.abs(rows - others)
    best = rows.argmax(axis=1)
    top2 = np.partition(rows, -2, axis=1)[:, -2:]
    margin = top2[:, 1] - top2[:, 0]
    changed = best != others.argmax(axis=1)
    at = margin[changed]
    lost = f", margins there at most {at.max():.2e}" if changed.any() else ""
    return (f"largest difference {gap.max():.3e}, mean {gap.mean():.3e}, "
            f"other argmax at {changed.sum()} of {len(rows)} positions{lost}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="the GGUF file")
    parser.add_argument("--dtype", choices=("bf16", "f32"), default="bf16")
    parser.add_argument("--compare", metavar="DUMP")
    parser.add_argument("--tolerance", type=float, help="with --compare: exit 1 above it")
    parser.add_argument("--noise", action="store_true")
    options = parser.parse_args()
    config, state = load_state(options.model)
    prompts = [r["tokens"] for r in requests("teacher.jsonl")]

    def run(dtype, chunk=None, **more):
        reference = Reference(config, state, dtype, **more)
        return np.concatenate([reference.logits(p, chunk) for p in prompts])

    if options.compare:
        live = run(options.dtype)
        dump = np.fromfile(options.compare, dtype=np.float32)
        if dump.size != live.size:
            parser.exit(2, f"{options.compare}: {dump.size} values, {live.size} expected\n")
        dump = dump.reshape(live.shape)
        print(f"{options.dtype}: {difference(live, dump)}")
        worst = np.abs(live - dump).max()
        return int(options.tolerance is not None and not worst <= options.tolerance)
    if options.noise:
        full = {dtype: run(dtype) for dtype in ("f32", "bf16")}
        for dtype, rows in full.items():
            print(f"{dtype}, chunks of 5: {difference(rows, run(dtype, chunk=5))}", flush=True)
            print(f"{dtype}, f32 angles: {difference(rows, run(dtype, angles='single'))}",
                  flush=True)
        print(f"f32 against bf16: {difference(full['f32'], full['bf16'])}")
        return 0
    for dtype in ("f32", "bf16"):
        record(HERE / f"reference-{dtype}.npz", Reference(config, state, dtype), config.vocab_size)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
