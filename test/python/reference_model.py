"""The supported families in numpy, in double: an oracle for the synthetic models that shares nothing
with the importer but the names of the weights. Written from the models' definitions
(Hugging Face transformers), one sequence at a time, without a cache."""

import numpy as np

from reference_recurrent import delta_net, mamba, normal, sigmoid, silu


def bf16(values):
    """Rounded to bf16, ties to even."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def rotate(x, angles, stretch):
    """x [T, heads, D]: of the first elements of a head, twice as many as angles, element i and that
    half of them further are one plane, which also grows; the others pass."""
    cos, sin = stretch * np.cos(angles)[:, None, :], stretch * np.sin(angles)[:, None, :]
    count = angles.shape[1]
    a, b = x[..., :count], x[..., count:2 * count]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, x[..., 2 * count:]], axis=-1)


def rotate_pairs(x, angles, stretch):
    """The same where elements 2i and 2i + 1 of all of a head are one plane."""
    turned = rotate(np.concatenate([x[..., ::2], x[..., 1::2]], axis=-1), angles, stretch)
    out = np.empty_like(x)
    out[..., ::2], out[..., 1::2] = np.split(turned, 2, axis=-1)
    return out


def growth(scaling, key):
    """Of what YaRN scales, by the slope that the configuration calls `key`."""
    return 0.1 * scaling.get(key, 1) * np.log(scaling["factor"]) + 1 if scaling else 1


def latent_attention(layer, h):
    """Keys and values of every head are made of each token's latent, as the models are defined."""
    def linear(x, name):
        return layer.linear(x, f"self_attn.{name}")

    def norm(x, name):
        return normal(x, layer.weights[f"{layer.prefix}self_attn.{name}.weight"], 1e-6)

    raw, angles = layer.raw, layer.model.angles
    heads, rank, count = raw["num_attention_heads"], raw["kv_lora_rank"], len(h)
    plain, rotary, width = raw["qk_nope_head_dim"], raw["qk_rope_head_dim"], raw["v_head_dim"]
    scaling = raw.get("rope_scaling") or {}
    stretch = growth(scaling, "mscale") / growth(scaling, "mscale_all_dim")
    if raw.get("q_lora_rank"):
        q = linear(norm(linear(h, "q_a_proj"), "q_a_layernorm"), "q_b_proj")
    else:
        q = linear(h, "q_proj")
    q = q.reshape(count, heads, plain + rotary)
    latent, key = np.split(linear(h, "kv_a_proj_with_mqa"), [rank], axis=1)
    latent = norm(latent, "kv_a_layernorm")
    key = rotate_pairs(key[:, None], angles, stretch)
    if layer.model.cache_dtype == "bf16":
        latent, key = bf16(latent), bf16(key)
    up = linear(latent, "kv_b_proj").reshape(count, heads, plain + width)
    turned = rotate_pairs(q[..., plain:], angles, stretch)
    scale = (plain + rotary) ** -0.5
    if scaling.get("mscale_all_dim"):
        scale *= growth(scaling, "mscale_all_dim") ** 2
    out = np.empty((count, heads, width))
    for head in range(heads):
        scores = q[:, head, :plain] @ up[:, head, :plain].T + turned[:, head] @ key[:, 0].T
        scores = np.where(layer.visible, scores * scale, -np.inf)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        out[:, head] = scores / scores.sum(axis=1, keepdims=True) @ up[:, head, plain:]
    return linear(out.reshape(count, heads * width), "o_proj")


def tanh_cap(x, cap):
    return x if cap is None else cap * np.tanh(x / cap)


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def frequencies(theta, scaling, dim):
    """`scaling`: rope_scaling of config.json, whose kind older files call `type`."""
    kind = scaling and (scaling.get("rope_type") or scaling["type"])
    out = []
    for i in range(dim // 2):
        frequency = theta ** (-2 * i / dim)
        if kind == "yarn":
            # Where a plane turns beta times within the original length, as a number of planes.
            low, high = (np.log(scaling["original_max_position_embeddings"] / (2 * np.pi * beta))
                         / np.log(theta) * dim / 2
                         for beta in (scaling["beta_fast"], scaling["beta_slow"]))
            if scaling.get("truncate", True):
                low, high = np.floor(low), np.ceil(high)
            slow = np.clip((i - max(low, 0)) / (min(high, dim - 1) - max(low, 0)), 0, 1)
            frequency = frequency * (1 - slow) + frequency / scaling["factor"] * slow
        elif kind == "longrope":
            frequency /= scaling["long_factor"][i]
        elif kind == "linear":
            frequency /= scaling["factor"]
        elif scaling:
            assert kind == "llama3"
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


def as_they_are(rows, name):
    return rows


def mixture(layer, h):
    """The experts of one layer, row by row and expert by expert."""
    raw, weights, prefix, rounded = layer.raw, layer.weights, layer.prefix, layer.model.rounded
    gpt_oss = raw["model_type"] == "gpt_oss"
    granite = raw["model_type"] == "granitemoehybrid"
    router = prefix + ("mlp.router" if gpt_oss else
                       "block_sparse_moe.router.layer" if granite else "mlp.gate")
    scores = h @ weights[f"{router}.weight"].T + weights.get(f"{router}.bias", 0)
    count = raw["num_experts_per_tok"]
    corrected = raw.get("topk_method") == "noaux_tc"
    keys = scores
    if corrected:
        keys = sigmoid(scores) + weights[f"{router}.e_score_correction_bias"]
    if raw.get("topk_method") in ("noaux_tc", "group_limited_greedy"):
        keys = within_groups(keys, raw["n_group"], raw["topk_group"], 2 if corrected else 1)
    out = np.zeros_like(h)
    for t, row in enumerate(h):
        chosen = sorted(range(scores.shape[1]), key=lambda e: -keys[t, e])[:count]
        over = chosen if gpt_oss or granite or raw["norm_topk_prob"] else range(scores.shape[1])
        parts = (sigmoid(scores[t]) if corrected
                 else np.exp(scores[t] - max(scores[t, e] for e in chosen)))
        total = 1 if corrected and not raw["norm_topk_prob"] else sum(parts[e] for e in over)
        for e in chosen:
            if gpt_oss:
                of = prefix + "mlp.experts."
                both = row @ weights[of + "gate_up_proj"][e] + weights[of + "gate_up_proj_bias"][e]
                gate = np.minimum(both[::2], raw["swiglu_limit"])
                up = np.clip(both[1::2], -raw["swiglu_limit"], raw["swiglu_limit"])
                inner = (up + 1) * gate / (1 + np.exp(-raw["swiglu_alpha"] * gate))
                made = inner @ weights[of + "down_proj"][e] + weights[of + "down_proj_bias"][e]
            elif granite:
                wide, narrow = (f"{prefix}block_sparse_moe.{name}_linear.weight"
                                for name in ("input", "output"))
                gate, up = np.split(weights[wide][e] @ rounded(row[None], wide)[0], 2)
                made = weights[narrow][e] @ rounded((silu(gate) * up)[None], narrow)[0]
            else:
                names = [f"{prefix}mlp.experts.{e}.{name}_proj.weight"
                         for name in ("gate", "up", "down")]
                gate, up = (weights[n] @ rounded(row[None], n)[0] for n in names[:2])
                inner = rounded((silu(gate) * up)[None], names[2])[0]
                made = weights[names[2]] @ inner
            out[t] += made * raw.get("routed_scaling_factor", 1) * parts[e] / total
    return out


def within_groups(keys, count, kept, best):
    """-inf for all experts outside the `kept` groups whose `best` greatest add up to most."""
    out = np.full_like(keys, -np.inf)
    size = keys.shape[1] // count
    for t, row in enumerate(keys):
        worth = [sum(sorted(row[g * size:(g + 1) * size])[-best:]) for g in range(count)]
        for g in sorted(range(count), key=lambda g: -worth[g])[:kept]:
            out[t, g * size:(g + 1) * size] = row[g * size:(g + 1) * size]
    return out


class Model:
    """What all layers share for a sequence of `count` tokens."""

    def __init__(self, raw, weights, count, cache_dtype, rounded):
        self.raw, self.cache_dtype, self.rounded = raw, cache_dtype, rounded
        self.weights = {name: np.asarray(w, dtype=np.float64) for name, w in weights.items()}
        self.kind = kind = raw["model_type"]
        self.gemma, self.granite = kind == "gemma3_text", kind in ("granite", "granitemoehybrid")
        positions = np.arange(count)
        self.distance = positions[:, None] - positions[None, :]
        rotated = round(raw["head_dim"] * raw.get("partial_rotary_factor", 1))
        scaling = raw.get("rope_scaling")
        self.angles = np.outer(positions, frequencies(raw["rope_theta"], scaling, rotated))
        if raw.get("position_embedding_type") == "nope":
            self.angles *= 0
        if self.gemma:
            self.local_angles = np.outer(positions, frequencies(raw["rope_local_base_freq"], None, raw["head_dim"]))
        self.scale = 1 / np.sqrt(raw["query_pre_attn_scalar" if self.gemma else "head_dim"])
        if self.granite:
            self.scale = raw["attention_multiplier"]
        scaling = scaling or {}
        # Of rotated queries and keys.
        self.stretch = 0.1 * np.log(scaling["factor"]) + 1 if scaling.get("rope_type") == "yarn" else 1
        if "long_factor" in scaling:
            original = raw["original_max_position_embeddings"]
            self.stretch = np.sqrt(1 + np.log(raw["max_position_embeddings"] / original) / np.log(original))

    def norm(self, x, name):
        one_plus = self.gemma or self.kind == "qwen3_next"
        return normal(x, self.weights[f"{name}.weight"] + one_plus, self.raw["rms_norm_eps"])


class Layer:
    def __init__(self, model, index):
        self.model, self.raw, self.weights = model, model.raw, model.weights
        self.index, self.prefix = index, f"model.layers.{index}."
        kinds, window = model.raw.get("layer_types"), model.raw.get("sliding_window")
        self.kind = kinds and kinds[index]
        self.slides = window and (not kinds or self.kind == "sliding_attention")
        self.visible = model.distance >= 0
        if self.slides:
            self.visible &= model.distance < window

    def norm(self, x, name):
        return self.model.norm(x, self.prefix + name)

    def linear(self, x, name):
        name = self.prefix + name
        out = self.model.rounded(x, f"{name}.weight") @ self.weights[f"{name}.weight"].T
        return out + self.weights.get(f"{name}.bias", 0)

    def gated(self, h, name, function=silu):
        """Rows through the three weights of `name`, of which one is the gate."""
        made = function(self.linear(h, f"{name}.gate_proj")) * self.linear(h, f"{name}.up_proj")
        return self.linear(made, f"{name}.down_proj")

    def heads(self, q, k, v):
        """What each head makes of queries, keys and values [T, heads, D]."""
        model, out = self.model, np.empty_like(q)
        for head in range(q.shape[1]):
            shared = head // (q.shape[1] // k.shape[1])
            scores = tanh_cap(q[:, head] @ k[:, shared].T * model.scale,
                              self.raw.get("attn_logit_softcapping"))
            scores = np.where(self.visible, scores, -np.inf)
            sink = self.weights[self.prefix + "self_attn.sinks"][head] if model.kind == "gpt_oss" else -np.inf
            most = np.maximum(scores.max(axis=1, keepdims=True), sink)
            scores = np.exp(scores - most)
            total = scores.sum(axis=1, keepdims=True) + np.exp(sink - most)
            out[:, head] = scores / total @ v[:, shared]
        return out

    def attention(self, h):
        model, raw, kind, count = self.model, self.raw, self.model.kind, len(h)
        if kind.startswith("deepseek"):
            return latent_attention(self, h)
        dim, heads, kv_heads = (raw[name] for name in ("head_dim", "num_attention_heads", "num_key_value_heads"))
        if kind == "phi3":
            q, k, v = np.split(self.linear(h, "self_attn.qkv_proj"),
                               [heads * dim, (heads + kv_heads) * dim], axis=1)
        else:
            q, k, v = (self.linear(h, f"self_attn.{n}_proj") for n in "qkv")
        if kind == "olmo2":
            q, k = self.norm(q, "self_attn.q_norm"), self.norm(k, "self_attn.k_norm")
        if kind == "qwen3_next":  # of each head the query, then the gate
            q, gate = np.split(q.reshape(count, heads, 2 * dim), 2, axis=2)
        q = q.reshape(count, heads, dim)
        k, v = k.reshape(count, kv_heads, dim), v.reshape(count, kv_heads, dim)
        if model.gemma or kind.startswith("qwen3"):
            q, k = self.norm(q, "self_attn.q_norm"), self.norm(k, "self_attn.k_norm")
        angles = model.local_angles if model.gemma and self.slides else model.angles
        q, k = rotate(q, angles, model.stretch), rotate(k, angles, model.stretch)
        if model.cache_dtype == "bf16":
            k, v = bf16(k), bf16(v)
        out = self.heads(q, k, v)
        if kind == "qwen3_next":
            out = out * sigmoid(gate)
        return self.linear(out.reshape(count, heads * dim), "self_attn.o_proj")

    def mixer(self, h):
        """Attention, or what stands in its place in recurrent layers."""
        for name, part, of in (("linear_attention", "linear_attn", delta_net), ("mamba", "mamba", mamba)):
            if self.kind == name:
                return of(self.raw, self.weights, f"{self.prefix}{part}.", h,
                          lambda rows, weight: self.linear(rows, f"{part}.{weight}"))
        return self.attention(h)

    def mlp(self, h):
        raw, kind = self.raw, self.model.kind
        if kind in ("qwen3_moe", "gpt_oss"):
            return mixture(self, h)
        if kind == "granitemoehybrid":
            gate, up = np.split(self.linear(h, "shared_mlp.input_linear"), 2, axis=1)
            made = self.linear(silu(gate) * up, "shared_mlp.output_linear")
            return made + mixture(self, h) if raw["num_local_experts"] else made
        if kind == "qwen3_next" and raw["num_experts"]:
            asked = h @ self.weights[f"{self.prefix}mlp.shared_expert_gate.weight"][0]
            return mixture(self, h) + sigmoid(asked)[:, None] * self.gated(h, "mlp.shared_expert")
        if kind.startswith("deepseek") and self.index >= raw["first_k_dense_replace"]:
            return mixture(self, h) + self.gated(h, "mlp.shared_experts")
        if kind == "phi3":
            gate, up = np.split(self.linear(h, "mlp.gate_up_proj"), 2, axis=1)
            return self.linear(silu(gate) * up, "mlp.down_proj")
        return self.gated(h, "mlp", gelu_tanh if self.model.gemma else silu)

    def __call__(self, x):
        if self.model.kind == "olmo2":
            x = x + self.norm(self.attention(x), "post_attention_layernorm")
            return x + self.norm(self.mlp(x), "post_feedforward_layernorm")
        if self.model.gemma:
            h = self.attention(self.norm(x, "input_layernorm"))
            x = x + self.norm(h, "post_attention_layernorm")
            h = self.mlp(self.norm(x, "pre_feedforward_layernorm"))
            return x + self.norm(h, "post_feedforward_layernorm")
        residual = self.raw["residual_multiplier"] if self.model.granite else 1
        x = x + residual * self.mixer(self.norm(x, "input_layernorm"))
        return x + residual * self.mlp(self.norm(x, "post_attention_layernorm"))


def hidden(raw, weights, tokens, cache_dtype, rounded=as_they_are):
    """(model, [T, hidden size] of all positions): what the head makes logits of. The arguments are logits()'."""
    model = Model(raw, weights, len(tokens), cache_dtype, rounded)
    x = model.weights["model.embed_tokens.weight"][tokens]
    if model.granite:
        x = x * raw["embedding_multiplier"]
    if model.gemma:
        x = x * np.sqrt(raw["hidden_size"])
    for index in range(raw["num_hidden_layers"]):
        x = Layer(model, index)(x)
    return model, model.norm(x, "model.norm")


def logits(raw, weights, tokens, cache_dtype, rounded=as_they_are):
    """[T, vocab] of all positions; `raw` is config.json, `weights` name -> array. `rounded(rows,
    name)`: what becomes of rows before the weight `name` multiplies them."""
    model, rows = hidden(raw, weights, tokens, cache_dtype, rounded)
    head = "lm_head.weight" if "lm_head.weight" in weights else "model.embed_tokens.weight"
    out = rounded(rows, head) @ model.weights[head].T
    if model.granite:
        out = out / raw["logits_scaling"]
    return tanh_cap(out, raw.get("final_logit_softcapping"))
