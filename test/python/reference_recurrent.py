"""Gated delta nets and Mamba-2 in numpy, in double, a token after the other: a part of
reference_model. Written from the models' definitions (Hugging Face transformers)."""

import numpy as np


def silu(x):
    return x / (1 + np.exp(-x))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


def convolve(x, weight, bias=0):
    """x [T, C], weight [C, 1, K]: each channel by itself, over the last K rows; then silu."""
    taps = weight.shape[2]
    padded = np.concatenate([np.zeros((taps - 1, x.shape[1])), x])
    out = np.stack([(padded[t:t + taps] * weight[:, 0].T).sum(axis=0) for t in range(len(x))])
    return silu(out + bias)


def normal(x, weight, eps):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * weight


def delta_net(raw, weights, name, h, linear):
    """[T, width]; `name` ends with "linear_attn.". `linear(rows, part)` multiplies by a weight."""
    count, eps = len(h), raw["rms_norm_eps"]
    key_heads, value_heads = raw["linear_num_key_heads"], raw["linear_num_value_heads"]
    n, p, of = (raw["linear_key_head_dim"], raw["linear_value_head_dim"],
                value_heads // key_heads)
    mixed = linear(h, "in_proj_qkvz").reshape(count, key_heads, -1)
    q, k, v, z = np.split(mixed, np.cumsum([n, n, of * p]), axis=2)
    b, a = np.split(linear(h, "in_proj_ba").reshape(count, key_heads, 2 * of), 2, axis=2)
    rows = np.concatenate([part.reshape(count, -1) for part in (q, k, v)], axis=1)
    rows = convolve(rows, weights[f"{name}conv1d.weight"])
    q, k, v = np.split(rows, [key_heads * n, 2 * key_heads * n], axis=1)
    q, k = (x.reshape(count, key_heads, n).repeat(of, axis=1) for x in (q, k))
    q, k = (x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + 1e-6) for x in (q, k))
    v, z = v.reshape(count, value_heads, p), z.reshape(count, value_heads, p)
    beta = sigmoid(b.reshape(count, value_heads))
    decay = np.exp(-np.exp(weights[f"{name}A_log"])
                   * softplus(a.reshape(count, value_heads) + weights[f"{name}dt_bias"]))
    state, out = np.zeros((value_heads, n, p)), np.empty((count, value_heads, p))
    for t in range(count):
        state = state * decay[t][:, None, None]
        known = np.einsum("hnp,hn->hp", state, k[t])
        state = state + np.einsum("hn,hp->hnp", k[t], beta[t][:, None] * (v[t] - known))
        out[t] = np.einsum("hnp,hn->hp", state, q[t]) / np.sqrt(n)
    out = normal(out, weights[f"{name}norm.weight"], eps) * silu(z)
    return linear(out.reshape(count, -1), "out_proj")


def mamba(raw, weights, name, h, linear):
    """[T, width]; `name` ends with "mamba."."""
    count, heads, p = len(h), raw["mamba_n_heads"], raw["mamba_d_head"]
    groups, n = raw["mamba_n_groups"], raw["mamba_d_state"]
    inner = heads * p
    z, rows, step = np.split(linear(h, "in_proj"), [inner, 2 * inner + 2 * groups * n], axis=1)
    rows = convolve(rows, weights[f"{name}conv1d.weight"], weights[f"{name}conv1d.bias"])
    x, b, c = np.split(rows, [inner, inner + groups * n], axis=1)
    x = x.reshape(count, heads, p)
    b, c = (part.reshape(count, groups, n).repeat(heads // groups, axis=1) for part in (b, c))
    step = softplus(step + weights[f"{name}dt_bias"])
    decay = np.exp(-np.exp(weights[f"{name}A_log"]) * step)
    state, out = np.zeros((heads, p, n)), np.empty((count, heads, p))
    for t in range(count):
        state = state * decay[t][:, None, None] + np.einsum(
            "hp,hn->hpn", step[t][:, None] * x[t], b[t])
        out[t] = np.einsum("hpn,hn->hp", state, c[t]) + weights[f"{name}D"][:, None] * x[t]
    out = (out.reshape(count, inner) * silu(z)).reshape(count, groups, -1)
    weight = weights[f"{name}norm.weight"].reshape(groups, -1)
    return linear(normal(out, weight, raw["rms_norm_eps"]).reshape(count, inner), "out_proj")
