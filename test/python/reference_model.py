"""The Llama family in numpy, in double: an oracle for the synthetic models that shares nothing
with the importer but the names of the weights. Written from the models' definitions
(Hugging Face transformers), one sequence at a time, without a cache."""

import numpy as np


def bf16(values):
    """Rounded to bf16, ties to even."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def rms_norm(x, weight, eps):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * weight


def rotate(x, angles):
    """x [T, heads, D]: element i and i + D/2 of a head are one plane."""
    cos, sin = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def frequencies(raw, dim):
    """Of the entries of config.json."""
    theta = raw["rope_theta"]
    out = []
    scaling = raw.get("rope_scaling")
    for i in range(dim // 2):
        frequency = theta ** (-2 * i / dim)
        if scaling:
            assert scaling["rope_type"] == "llama3"
            period = 2 * np.pi / frequency
            original = scaling["original_max_position_embeddings"]
            low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
            slow = frequency / scaling["factor"]
            if period > original / low:
                frequency = slow
            elif period > original / high:
                blend = (original / period - low) / (high - low)
                frequency = (1 - blend) * slow + blend * frequency
        out.append(frequency)
    return np.array(out)


def logits(raw, weights, tokens, cache_dtype):
    """[T, vocab] of all positions; `raw` is config.json, `weights` name -> array."""
    weights = {name: np.asarray(w, dtype=np.float64) for name, w in weights.items()}
    dim, eps = raw["head_dim"], raw["rms_norm_eps"]
    heads, kv_heads = raw["num_attention_heads"], raw["num_key_value_heads"]
    count = len(tokens)
    positions = np.arange(count)
    angles = np.outer(positions, frequencies(raw, dim))
    distance = positions[:, None] - positions[None, :]
    kinds = raw.get("layer_types")
    x = weights["model.embed_tokens.weight"][tokens]
    for layer in range(raw["num_hidden_layers"]):
        prefix = f"model.layers.{layer}."
        visible = distance >= 0
        if raw.get("sliding_window") and (not kinds or kinds[layer] == "sliding_attention"):
            visible &= distance < raw["sliding_window"]

        def linear(value, name):
            out = value @ weights[f"{prefix}{name}.weight"].T
            bias = weights.get(f"{prefix}{name}.bias")
            return out if bias is None else out + bias

        h = rms_norm(x, weights[prefix + "input_layernorm.weight"], eps)
        q = linear(h, "self_attn.q_proj").reshape(count, heads, dim)
        k = linear(h, "self_attn.k_proj").reshape(count, kv_heads, dim)
        v = linear(h, "self_attn.v_proj").reshape(count, kv_heads, dim)
        if prefix + "self_attn.q_norm.weight" in weights:
            q = rms_norm(q, weights[prefix + "self_attn.q_norm.weight"], eps)
            k = rms_norm(k, weights[prefix + "self_attn.k_norm.weight"], eps)
        q, k = rotate(q, angles), rotate(k, angles)
        if cache_dtype == "bf16":
            k, v = bf16(k), bf16(v)
        out = np.empty_like(q)
        for head in range(heads):
            shared = head // (heads // kv_heads)
            scores = q[:, head] @ k[:, shared].T / np.sqrt(dim)
            scores = np.where(visible, scores, -np.inf)
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            out[:, head] = scores / scores.sum(axis=1, keepdims=True) @ v[:, shared]
        x = x + linear(out.reshape(count, heads * dim), "self_attn.o_proj")
        h = rms_norm(x, weights[prefix + "post_attention_layernorm.weight"], eps)
        gate = linear(h, "mlp.gate_proj")
        x = x + linear(gate / (1 + np.exp(-gate)) * linear(h, "mlp.up_proj"), "mlp.down_proj")
    x = rms_norm(x, weights["model.norm.weight"], eps)
    head = weights.get("lm_head.weight", weights["model.embed_tokens.weight"])
    return x @ head.T
