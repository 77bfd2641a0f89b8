"""Architectures of Hugging Face transformers without a cache, exported, raised by kv-raise and compared
with transformers, on random small weights. Run by scripts/check-raise.sh in the exporters' environment.

A model passes when the logits of every prompt position are within LIMIT of transformers' relative to the
largest, with equal argmax, whatever the chunks that prompts are cut into, and have the same bits for
all of these; or when it is refused with the sentence that REFUSED has for it."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/kv-import/exporters"), str(ROOT / "test/python")]
import torch_export  # noqa: E402
from each_model import check_each  # noqa: E402

LIMIT = 1e-4
LENGTHS = (1, 2, 17, 50)
CHUNKS = (128, 7, 1)
COMMON = dict(vocab_size=96, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
              max_position_embeddings=128, pad_token_id=0, bos_token_id=1, eos_token_id=2)
GQA = dict(num_key_value_heads=2, intermediate_size=96)
SLIDES = dict(sliding_window=9, layer_types=["sliding_attention", "full_attention"])
MODELS = {
    "llama": ("LlamaConfig", GQA),
    "qwen2": ("Qwen2Config", GQA),
    "qwen3": ("Qwen3Config", dict(GQA, head_dim=32)),
    "mistral": ("MistralConfig", dict(GQA, sliding_window=9)),
    "phi3": ("Phi3Config", dict(GQA, sliding_window=9)),
    "granite": ("GraniteConfig", dict(GQA, embedding_multiplier=12.0, attention_multiplier=0.1,
                                      residual_multiplier=0.22, logits_scaling=8.0)),
    "olmo2": ("Olmo2Config", GQA),
    "stablelm": ("StableLmConfig", GQA),
    "gpt_neox": ("GPTNeoXConfig", dict(intermediate_size=96)),
    "gpt2": ("GPT2Config", dict(n_inner=96, n_positions=128)),
    "falcon": ("FalconConfig", dict(ffn_hidden_size=96, alibi=False)),
    "starcoder2": ("Starcoder2Config", dict(GQA, sliding_window=None)),
    "cohere": ("CohereConfig", GQA),
    "nemotron": ("NemotronConfig", GQA),
    "smollm3": ("SmolLM3Config", GQA),
    "gemma3": ("Gemma3TextConfig", dict(GQA, head_dim=16, query_pre_attn_scalar=20, **SLIDES)),
    "gemma2": ("Gemma2Config", dict(GQA, head_dim=16, query_pre_attn_scalar=20, **SLIDES)),
    "falcon_alibi": ("FalconConfig", dict(ffn_hidden_size=96, alibi=True)),
    "llama4": ("Llama4TextConfig", dict(
        GQA, head_dim=16, intermediate_size_mlp=96, attention_chunk_size=8, num_local_experts=4,
        num_experts_per_tok=1, layer_types=["chunked_attention", "full_attention"])),
    "llama4_dense": ("Llama4TextConfig", dict(
        GQA, head_dim=16, intermediate_size_mlp=96, attention_chunk_size=8, moe_layers=[], floor_scale=8,
        no_rope_layers=[1, 0], layer_types=["chunked_attention", "full_attention"])),
    "mixtral": ("MixtralConfig", dict(GQA, num_local_experts=4, num_experts_per_tok=2)),
    "mpt": ("MptConfig", dict(d_model=64, n_heads=4, n_layers=2, max_seq_len=128, expansion_ratio=2)),
    "bloom": ("BloomConfig", dict(n_head=4, n_layer=2)),
    "gpt_oss": ("GptOssConfig", dict(GQA, head_dim=16, num_local_experts=4, num_experts_per_tok=2,
                                     **SLIDES)),
    "qwen3_moe": ("Qwen3MoeConfig", dict(GQA, head_dim=16, moe_intermediate_size=32, num_experts=4,
                                         num_experts_per_tok=2)),
    "deepseek_v2": ("DeepseekV2Config", dict(
        GQA, num_key_value_heads=4, kv_lora_rank=16, q_lora_rank=None, qk_nope_head_dim=16,
        qk_rope_head_dim=8, v_head_dim=16, first_k_dense_replace=1, n_routed_experts=4,
        num_experts_per_tok=2, moe_intermediate_size=32)),
}


# The sizes of what is stored.
SMALL = dict(vocab_size=32, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, head_dim=8,
             max_position_embeddings=64, num_key_value_heads=1, intermediate_size=16, ffn_hidden_size=16,
             moe_intermediate_size=16, d_model=16, n_heads=2, n_layers=1, n_layer=1, n_head=2,
             max_seq_len=64, expansion_ratio=1, sliding_window=5, kv_lora_rank=8, qk_nope_head_dim=8,
             qk_rope_head_dim=4, v_head_dim=8, first_k_dense_replace=0, intermediate_size_mlp=16,
             attention_chunk_size=6)
# What is refused, with a part of the sentence that says why.
REFUSED = {
    "falcon_alibi": "cannot prove what its mask shows",  # positions in bf16 are too coarse
}


def make(name, small=False):
    kind, settings = MODELS[name]
    settings = {**COMMON, **settings}
    if small:
        settings.update((key, value) for key, value in SMALL.items() if key in settings)
        settings["num_hidden_layers"] = len(settings.get("layer_types", "1"))
    config = getattr(transformers, kind)(**settings)
    config._attn_implementation = "eager"
    torch.manual_seed(5)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    random = torch.Generator().manual_seed(9)
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            values = torch.randn(parameter.shape, generator=random)
            if "norm" in parameter_name or "ln_" in parameter_name:
                parameter += 0.2 * values
            elif parameter.dim() == 1:
                parameter.copy_(0.5 * values)
            else:
                parameter.copy_(values * 1.5 / parameter.shape[-1] ** 0.5)
    return model


def wanted(model, prompts):
    """f32 [tokens, vocabulary] of all prompts, each in one pass without a cache."""
    with torch.no_grad():
        return np.concatenate([model(torch.tensor([each]), use_cache=False).logits[0].numpy()
                               for each in prompts])


def program(name):
    return os.environ.get(name.upper().replace("-", "_"), ROOT / "build/release/bin" / name)


class Refused(Exception):
    """The sentence of a tool that gave up."""


def ran(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=600, **options)
    if done.returncode != 0:
        raise Refused(next((line for line in done.stderr.splitlines() if "error" in line),
                           done.stderr[-500:]))
    return done.stdout


def ours(folder, prompts, vocab, chunk):
    requests = "".join(json.dumps({"id": str(i), "tokens": prompt, "max_new_tokens": 1}) + "\n"
                       for i, prompt in enumerate(prompts))
    ran([program("kv-run"), folder / "model.so", "--weights", folder / "weights.safetensors",
         "--dump-logits", folder / "logits", "--threads", "2", "--max-batch-tokens", str(chunk)],
        input=requests)
    return np.fromfile(folder / "logits", dtype=np.float32).reshape(-1, vocab)


def check(name, folder):
    model = make(name)
    vocab = model.config.vocab_size
    random = np.random.default_rng(3)
    prompts = [random.integers(3, vocab, length).tolist() for length in LENGTHS]
    expected = wanted(model, prompts)
    torch_export.export(model, folder, name, 128)
    ran([program("kv-opt"), "--allow-unregistered-dialect", "--kv-raise=dtype=f32 page=16",
         folder / "graph.mlir", "-o", folder / "model.mlir"])
    ran([program("kv-compile"), folder / "model.mlir", "-o", folder / "model.so"])
    runs = [ours(folder, prompts, vocab, chunk) for chunk in CHUNKS]
    if any(run.shape != expected.shape for run in runs):
        return f"{runs[0].shape} logits", False
    same_bits = all(run.tobytes() == runs[0].tobytes() for run in runs)
    gap = float(np.abs(runs[0] - expected).max() / np.abs(expected).max())
    same = int((runs[0].argmax(1) == expected.argmax(1)).sum())
    varied = len(set(expected.argmax(1).tolist())) > 4
    sentence = (f"largest difference {gap:.1e} of the largest logit, argmax of {same} of "
                f"{len(expected)} rows, {'equal' if same_bits else 'DIFFERENT'} bits among cuts")
    return sentence, gap < LIMIT and same == len(expected) and same_bits and varied


def store(name):
    """A graph; NAME@BxT for B sequences of T tokens alone, NAME@last for the last token's logits, NAME@bf16
    for matrices of bf16."""
    base, _, form = name.partition("@")
    fixed = [int(size) for size in form.split("x")] if "x" in form else None
    with tempfile.TemporaryDirectory() as folder:
        torch_export.export(make(base, small=True), Path(folder), base, 64, fixed, form == "last",
                            form == "bf16")
        path = ROOT / f"test/data/raise/{name}.mlirbc"
        ran([program("kv-opt"), "--allow-unregistered-dialect", "--canonicalize", "--cse", "--emit-bytecode",
             Path(folder, "graph.mlir"), "-o", path])
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


def main():
    transformers.utils.logging.disable_progress_bar()
    names = [name for name in sys.argv[1:] if name != "--store"] or list(MODELS)
    unknown = [name for name in names if name.partition("@")[0] not in MODELS]
    if unknown:
        sys.exit(f"check-raise: {unknown[0]!r} is none of {', '.join(MODELS)}")
    if "--store" in sys.argv:
        for name in names:
            store(name)
        return

    def verdict(name, folder):
        try:
            sentence, passed = check(name, folder)
            return sentence, passed and name not in REFUSED
        except Refused as refusal:
            return f"refused: {refusal}", REFUSED.get(name, "\n") in str(refusal)

    check_each(names, verdict)


if __name__ == "__main__":
    main()
