"""Small models with seeded random weights, as a Hugging Face folder or a GGUF file.

    python -m kv_import.synthetic --kind llama|qwen2|qwen3|mistral|mixed --hf DIR --gguf FILE

Both forms of one seed hold the same weights, all representable in bf16: --dtype f32 and bf16
differ in the cache only. The vocabulary is the 256 bytes, 15 special tokens and one merge."""

import argparse
import dataclasses
import json
from pathlib import Path

import numpy as np

import gguf

from .config import ModelConfig
from .gguf_reader import gguf_name, permute_rotary
from .rope import Rope, llama3_factors
from .weights_writer import round_to_bf16, write_safetensors

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] + [f"<|special_{i}|>" for i in range(12)]
MERGED = "ĠĠ"  # two spaces: a GGUF file cannot hold an empty list of merges
TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + "
            "message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}


def make_config(kind="llama", **changes):
    base = ModelConfig(
        name=f"tiny-{kind}", architecture=kind, layers=2, hidden=64, intermediate=128, heads=4,
        kv_heads=2, head_dim=16, vocab=272, max_seq=512, eps=1e-5, rope=Rope(theta=10000.0),
        tied=True)
    kinds = {
        "llama": {},
        # An untied head, rope scaling.
        "llama3": {"architecture": "llama", "tied": False, "rope": Rope(
            theta=500000.0, factors=llama3_factors(500000.0, 16, 8.0, 1.0, 4.0, 64))},
        "qwen2": {"biases": frozenset(("q_proj", "k_proj", "v_proj")), "eps": 1e-6},
        # Head dimension independent of the width.
        "qwen3": {"qk_norm": "head", "head_dim": 32, "eps": 1e-6, "rope": Rope(theta=1000000.0)},
        "mistral": {"sliding": 32, "tied": False, "heads": 8, "head_dim": 8},
        # Six layers that see a window, and among them two that see everything.
        "mixed": {"architecture": "qwen3", "qk_norm": "head", "eps": 1e-6, "layers": 8,
                  "sliding": 24, "full_layers": frozenset((2, 5))},
    }
    return dataclasses.replace(base, **{**kinds[kind], **changes})


def make_weights(config, seed=0):
    """Name -> f32 array with bf16 values, in the Hugging Face form."""
    random = np.random.default_rng(seed)
    out = {}
    for weight in config.weights():
        if weight.role == "table":
            continue
        values = random.standard_normal(weight.shape)
        if weight.role == "vector":
            values = 1 + 0.2 * values if "norm" in weight.name else 0.5 * values
        elif weight.name != "model.embed_tokens.weight":
            values = values * 1.5 / np.sqrt(weight.shape[1])
        out[weight.name] = (round_to_bf16(values.astype(np.float32)).astype(np.uint32)
                            << 16).view(np.float32)
    return out


def _byte_alphabet():
    """The printable character that byte-level BPE uses for each byte (GPT-2)."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in kept]
    table = {b: chr(b) for b in kept} | {b: chr(256 + i) for i, b in enumerate(others)}
    return [table[b] for b in range(256)]


def tokens():
    return [*_byte_alphabet(), *SPECIAL, MERGED]


def write_hf(folder, config, weights, dtype="BF16", settings=None):
    """`settings` override entries of config.json (None removes one)."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    classes = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM",
               "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}
    raw = {"architectures": [classes[config.architecture]], "model_type": config.architecture,
           "hidden_size": config.hidden, "intermediate_size": config.intermediate,
           "num_hidden_layers": config.layers, "num_attention_heads": config.heads,
           "num_key_value_heads": config.kv_heads, "head_dim": config.head_dim,
           "vocab_size": config.vocab, "max_position_embeddings": config.max_seq,
           "rms_norm_eps": config.eps, "rope_theta": config.rope.theta, "hidden_act": "silu",
           "tie_word_embeddings": config.tied, "bos_token_id": 257, "eos_token_id": 258,
           "sliding_window": config.sliding, "torch_dtype": "bfloat16",
           "use_sliding_window": True if config.full_layers else None,
           "layer_types": ["full_attention" if i in config.full_layers else "sliding_attention"
                           for i in range(config.layers)] if config.full_layers else None,
           "attention_bias": "o_proj" in config.biases,
           "rope_scaling": LLAMA3 if config.rope.factors else None}
    raw.update(settings or {})
    (folder / "config.json").write_text(
        json.dumps({k: v for k, v in raw.items() if v is not None}, indent=2) + "\n")
    convert = {"BF16": round_to_bf16, "F32": np.float32, "F16": np.float16}[dtype]
    data = [convert(values) for values in weights.values()]
    write_safetensors(folder / "model.safetensors", {"format": "pt"},
                      {name: (dtype, values.shape, values.nbytes)
                       for name, values in zip(weights, data)}, data)
    vocab = {token: i for i, token in enumerate(tokens())}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[("Ġ", "Ġ")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False)
                                  for t in SPECIAL])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"chat_template": TEMPLATE, "bos_token": "<|im_start|>", "eos_token": "<|im_end|>"},
        indent=2) + "\n")
    (folder / "generation_config.json").write_text('{"eos_token_id": [258, 256]}\n')


def write_gguf(path, config, weights, dtype="BF16", extra=None):
    """As llama.cpp's converter would: its names, and q and k of llama permuted.
    `extra` is called with the writer before it closes."""
    if config.full_layers:
        raise ValueError("no key of a GGUF file says which layers of these architectures slide")
    # llama.cpp has no architecture of its own for Mistral.
    architecture = "llama" if config.architecture == "mistral" else config.architecture
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_name(config.name)
    writer.add_block_count(config.layers)
    writer.add_context_length(config.max_seq)
    writer.add_embedding_length(config.hidden)
    writer.add_feed_forward_length(config.intermediate)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope.theta)
    writer.add_layer_norm_rms_eps(config.eps)
    writer.add_vocab_size(config.vocab)
    if config.sliding:
        writer.add_sliding_window(config.sliding)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens())
    writer.add_token_types([1] * 256 + [3] * len(SPECIAL) + [1])
    writer.add_token_merges(["Ġ Ġ"])
    writer.add_bos_token_id(257)
    writer.add_eos_token_id(258)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    if config.rope.factors:
        writer.add_tensor("rope_freqs.weight", np.array(config.rope.factors, dtype=np.float32))
    for name, values in weights.items():
        if architecture == "llama" and ".q_proj." in name:
            values = permute_rotary(values, config.heads)
        if architecture == "llama" and ".k_proj." in name:
            values = permute_rotary(values, config.kv_heads)
        values = np.ascontiguousarray(values)
        if values.ndim == 1 or dtype == "F32":
            writer.add_tensor(gguf_name(name), values)
        else:
            kind = gguf.GGMLQuantizationType[dtype]
            writer.add_tensor(gguf_name(name), gguf.quantize(values, kind), raw_dtype=kind)
    if extra:
        extra(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(prog="python -m kv_import.synthetic", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", default="llama",
                        choices=("llama", "llama3", "qwen2", "qwen3", "mistral", "mixed"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hf", metavar="DIR")
    parser.add_argument("--gguf", metavar="FILE")
    options = parser.parse_args()
    config = make_config(options.kind)
    weights = make_weights(config, options.seed)
    if options.hf:
        write_hf(options.hf, config, weights)
    if options.gguf:
        write_gguf(options.gguf, config, weights)


if __name__ == "__main__":
    main()
