"""The supported families in numpy, in double: an oracle for the synthetic models that shares nothing
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


def tanh_cap(x, cap):
    return x if cap is None else cap * np.tanh(x / cap)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def frequencies(theta, scaling, dim):
    """`scaling`: rope_scaling of config.json."""
    out = []
    for i in range(dim // 2):
        frequency = theta ** (-2 * i / dim)
        if scaling and scaling["rope_type"] == "linear":
            frequency /= scaling["factor"]
        elif scaling:
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
    kind = raw["model_type"]
    gemma, granite = kind == "gemma3_text", kind == "granite"
    dim, eps, width = raw["head_dim"], raw["rms_norm_eps"], raw["hidden_size"]
    heads, kv_heads = raw["num_attention_heads"], raw["num_key_value_heads"]
    count = len(tokens)
    positions = np.arange(count)
    angles = np.outer(positions, frequencies(raw["rope_theta"], raw.get("rope_scaling"), dim))
    if gemma:
        local_angles = np.outer(positions, frequencies(raw["rope_local_base_freq"], None, dim))
    distance = positions[:, None] - positions[None, :]
    kinds = raw.get("layer_types")
    scale = 1 / np.sqrt(raw["query_pre_attn_scalar"] if gemma else dim)
    if granite:
        scale = raw["attention_multiplier"]
    residual = raw["residual_multiplier"] if granite else 1

    def norm(x, name):
        weight = weights[f"{name}.weight"]
        return rms_norm(x, 1 + weight if gemma else weight, eps)

    x = weights["model.embed_tokens.weight"][tokens]
    if granite:
        x = x * raw["embedding_multiplier"]
    if gemma:
        x = x * np.sqrt(width)
    for layer in range(raw["num_hidden_layers"]):
        prefix = f"model.layers.{layer}."
        visible = distance >= 0
        slides = raw.get("sliding_window") and (not kinds or kinds[layer] == "sliding_attention")
        if slides:
            visible &= distance < raw["sliding_window"]

        def linear(value, name):
            out = value @ weights[f"{prefix}{name}.weight"].T
            bias = weights.get(f"{prefix}{name}.bias")
            return out if bias is None else out + bias

        def attention(h):
            if kind == "phi3":
                q, k, v = np.split(linear(h, "self_attn.qkv_proj"),
                                   [heads * dim, (heads + kv_heads) * dim], axis=1)
            else:
                q, k, v = (linear(h, f"self_attn.{n}_proj") for n in "qkv")
            if kind == "olmo2":
                q, k = norm(q, prefix + "self_attn.q_norm"), norm(k, prefix + "self_attn.k_norm")
            q = q.reshape(count, heads, dim)
            k, v = k.reshape(count, kv_heads, dim), v.reshape(count, kv_heads, dim)
            if gemma or kind == "qwen3":
                q, k = norm(q, prefix + "self_attn.q_norm"), norm(k, prefix + "self_attn.k_norm")
            turned = local_angles if gemma and slides else angles
            q, k = rotate(q, turned), rotate(k, turned)
            if cache_dtype == "bf16":
                k, v = bf16(k), bf16(v)
            out = np.empty_like(q)
            for head in range(heads):
                shared = head // (heads // kv_heads)
                scores = tanh_cap(q[:, head] @ k[:, shared].T * scale,
                                  raw.get("attn_logit_softcapping"))
                scores = np.where(visible, scores, -np.inf)
                scores = np.exp(scores - scores.max(axis=1, keepdims=True))
                out[:, head] = scores / scores.sum(axis=1, keepdims=True) @ v[:, shared]
            return linear(out.reshape(count, heads * dim), "self_attn.o_proj")

        def mlp(h):
            if kind == "phi3":
                gate, up = np.split(linear(h, "mlp.gate_up_proj"), 2, axis=1)
            else:
                gate, up = linear(h, "mlp.gate_proj"), linear(h, "mlp.up_proj")
            return linear((gelu_tanh if gemma else silu)(gate) * up, "mlp.down_proj")

        if kind == "olmo2":
            x = x + norm(attention(x), prefix + "post_attention_layernorm")
            x = x + norm(mlp(x), prefix + "post_feedforward_layernorm")
        elif gemma:
            h = attention(norm(x, prefix + "input_layernorm"))
            x = x + norm(h, prefix + "post_attention_layernorm")
            h = mlp(norm(x, prefix + "pre_feedforward_layernorm"))
            x = x + norm(h, prefix + "post_feedforward_layernorm")
        else:
            x = x + residual * attention(norm(x, prefix + "input_layernorm"))
            x = x + residual * mlp(norm(x, prefix + "post_attention_layernorm"))
    head = weights.get("lm_head.weight", weights["model.embed_tokens.weight"])
    out = norm(x, "model.norm") @ head.T
    if granite:
        out = out / raw["logits_scaling"]
    return tanh_cap(out, raw.get("final_logit_softcapping"))
