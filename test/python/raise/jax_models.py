"""Six small decoders without a cache in JAX, each written as plainly as people write them, and in
another style: what kv-import --from jax is tried on. Run by scripts/check-raise.sh jax.

MODELS: name -> (function (parameters, tokens) -> logits, name -> shape of the parameters)."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

VOCAB, WIDTH, HEADS, DIM, LAYERS, MAX = 32, 32, 4, 8, 2, 64


def rms(x, weight):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * weight


def layer_norm(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * weight + bias


def rotated(x, positions, width, theta=10000.0):
    """The first `width` numbers of each head [..., T, heads, dim] turned by halves."""
    half = width // 2
    angles = positions[:, None] * theta ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    a, b, rest = x[..., :half], x[..., half:width], x[..., width:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin, rest], -1)


def of_layers(**shapes):
    return {f"layers.{i}.{name}": shape for i in range(LAYERS) for name, shape in shapes.items()}


# Llama: RMS norm, rotations, two KV heads, jax.nn's own attention, a batch of one.

LLAMA = {"embed": (VOCAB, WIDTH), "norm": (WIDTH,), "head": (WIDTH, VOCAB), **of_layers(
    norm1=(WIDTH,), norm2=(WIDTH,), q=(WIDTH, HEADS * DIM), k=(WIDTH, 2 * DIM), v=(WIDTH, 2 * DIM),
    o=(HEADS * DIM, WIDTH), gate=(WIDTH, 48), up=(WIDTH, 48), down=(48, WIDTH))}


def llama(p, tokens, chunk=None):
    batch, length = tokens.shape
    i, j = jnp.arange(length)[:, None], jnp.arange(length)[None, :]
    sees = {"is_causal": True} if chunk is None else {"mask": ((i // chunk == j // chunk) & (j <= i))[None, None]}
    positions, x = jnp.arange(length), p["embed"][tokens]
    for i in range(LAYERS):
        w = lambda name: p[f"layers.{i}.{name}"]  # noqa: E731
        y = rms(x, w("norm1"))
        q = rotated((y @ w("q")).reshape(batch, length, HEADS, DIM), positions, DIM)
        k = rotated((y @ w("k")).reshape(batch, length, 2, DIM), positions, DIM)
        v = (y @ w("v")).reshape(batch, length, 2, DIM)
        heads = jax.nn.dot_product_attention(q, k, v, **sees)
        x = x + heads.reshape(batch, length, HEADS * DIM) @ w("o")
        y = rms(x, w("norm2"))
        x = x + (jax.nn.silu(y @ w("gate")) * (y @ w("up"))) @ w("down")
    return rms(x, p["norm"]) @ p["head"]


# GPT-2: learned positions, one product for q, k and v, biases, LayerNorm, GELU, a tied head.

GPT2 = {"wte": (VOCAB, WIDTH), "wpe": (MAX, WIDTH), "ln_f.w": (WIDTH,), "ln_f.b": (WIDTH,), **of_layers(**{
    "ln_1.w": (WIDTH,), "ln_1.b": (WIDTH,), "ln_2.w": (WIDTH,), "ln_2.b": (WIDTH,),
    "attn.w": (WIDTH, 3 * WIDTH), "attn.b": (3 * WIDTH,), "proj.w": (WIDTH, WIDTH), "proj.b": (WIDTH,),
    "fc.w": (WIDTH, 64), "fc.b": (64,), "out.w": (64, WIDTH), "out.b": (WIDTH,)})}


def gpt2(p, tokens):
    [length] = tokens.shape
    x = p["wte"][tokens] + p["wpe"][:length]
    causal = jnp.tril(jnp.ones((length, length), bool))
    for i in range(LAYERS):
        w = lambda name: p[f"layers.{i}.{name}"]  # noqa: E731
        y = layer_norm(x, w("ln_1.w"), w("ln_1.b")) @ w("attn.w") + w("attn.b")
        q, k, v = (each.reshape(length, HEADS, DIM).swapaxes(0, 1) for each in jnp.split(y, 3, -1))
        scores = q @ k.swapaxes(1, 2) / np.sqrt(DIM)
        weights = jax.nn.softmax(jnp.where(causal, scores, jnp.finfo(scores.dtype).min), -1)
        x = x + (weights @ v).swapaxes(0, 1).reshape(length, WIDTH) @ w("proj.w") + w("proj.b")
        y = jax.nn.gelu(layer_norm(x, w("ln_2.w"), w("ln_2.b")) @ w("fc.w") + w("fc.b"))
        x = x + y @ w("out.w") + w("out.b")
    return layer_norm(x, p["ln_f.w"], p["ln_f.b"]) @ p["wte"].T


# Gemma 2: a scaled embedding, scores and logits capped, every second layer sees a window of 5, four
# norms a layer whose weights are added to one, a scale of its own.

GEMMA = {"embed": (VOCAB, WIDTH), "norm": (WIDTH,), **of_layers(
    before=(WIDTH,), after=(WIDTH,), before_mlp=(WIDTH,), after_mlp=(WIDTH,),
    q=(WIDTH, HEADS, DIM), k=(WIDTH, 2, DIM), v=(WIDTH, 2, DIM), o=(HEADS, DIM, WIDTH),
    gate=(WIDTH, 48), up=(WIDTH, 48), down=(48, WIDTH))}


def capped(x, cap):
    return cap * jnp.tanh(x / cap)


def gemma(p, tokens):
    _, length = tokens.shape
    positions, x = jnp.arange(length), p["embed"][tokens] * np.sqrt(WIDTH).astype(np.float32)
    rows, keys = positions[:, None], positions[None, :]
    for i in range(LAYERS):
        w = lambda name: p[f"layers.{i}.{name}"]  # noqa: E731
        y = rms(x, 1 + w("before"))
        q = rotated(jnp.einsum("btd,dhk->bthk", y, w("q")), positions, DIM) * 0.3
        k = rotated(jnp.einsum("btd,dhk->bthk", y, w("k")), positions, DIM)
        v = jnp.einsum("btd,dhk->bthk", y, w("v"))
        k, v = jnp.repeat(k, 2, axis=2), jnp.repeat(v, 2, axis=2)
        shown = keys <= rows
        if i % 2 == 0:
            shown = shown & (keys > rows - 5)
        scores = capped(jnp.einsum("bthk,bshk->bhts", q, k), 4.0)
        weights = jax.nn.softmax(jnp.where(shown[None, None], scores, -2.3819763e38), -1)
        heads = jnp.einsum("bhts,bshk->bthk", weights, v)
        x = x + rms(jnp.einsum("bthk,hkd->btd", heads, w("o")), 1 + w("after"))
        y = rms(x, 1 + w("before_mlp"))
        y = (jax.nn.gelu(y @ w("gate")) * (y @ w("up"))) @ w("down")
        x = x + rms(y, 1 + w("after_mlp"))
    return capped(rms(x, 1 + p["norm"]) @ p["embed"].T, 5.0)


# GPT-NeoX: attention and MLP beside each other, half of each head turned, q, k and v by heads in one
# matrix, the softmax spelled out, an infinite mask.

NEOX = {"embed": (VOCAB, WIDTH), "norm.w": (WIDTH,), "norm.b": (WIDTH,), "head": (VOCAB, WIDTH),
        **of_layers(**{"norm1.w": (WIDTH,), "norm1.b": (WIDTH,), "norm2.w": (WIDTH,), "norm2.b": (WIDTH,),
                       "qkv.w": (3 * WIDTH, WIDTH), "qkv.b": (3 * WIDTH,), "dense.w": (WIDTH, WIDTH),
                       "dense.b": (WIDTH,), "in.w": (64, WIDTH), "in.b": (64,), "out.w": (WIDTH, 64),
                       "out.b": (WIDTH,)})}


def neox(p, tokens):
    batch, length = tokens.shape
    positions, x = jnp.arange(length), p["embed"][tokens]
    hidden = jnp.triu(jnp.full((length, length), -jnp.inf), 1)
    for i in range(LAYERS):
        w = lambda name: p[f"layers.{i}.{name}"]  # noqa: E731
        linear = lambda y, name: y @ w(name + ".w").T + w(name + ".b")  # noqa: E731
        qkv = linear(layer_norm(x, w("norm1.w"), w("norm1.b")), "qkv")
        qkv = qkv.reshape(batch, length, HEADS, 3 * DIM)
        q, k, v = qkv[..., :DIM], qkv[..., DIM:2 * DIM], qkv[..., 2 * DIM:]
        q, k = rotated(q, positions, DIM // 2), rotated(k, positions, DIM // 2)
        q, k, v = (each.transpose(0, 2, 1, 3) for each in (q, k, v))
        scores = jnp.matmul(q, k.transpose(0, 1, 3, 2)) * DIM ** -0.5 + hidden
        weights = jnp.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        heads = jnp.matmul(weights, v).transpose(0, 2, 1, 3).reshape(batch, length, WIDTH)
        mlp = linear(jax.nn.gelu(linear(layer_norm(x, w("norm2.w"), w("norm2.b")), "in"),
                                 approximate=False), "out")
        x = x + linear(heads, "dense") + mlp
    return layer_norm(x, p["norm.w"], p["norm.b"]) @ p["head"].T


# All by einsum: a one-hot embedding, positions as sines, four dimensions to a projection, heads last,
# the scale on the keys, one key head for all queries.

EINSUM = {"embed": (VOCAB, WIDTH), "norm": (WIDTH,), **of_layers(
    norm1=(WIDTH,), norm2=(WIDTH,), q=(HEADS, WIDTH, DIM), kv=(2, WIDTH, DIM), o=(HEADS, DIM, WIDTH),
    up=(WIDTH, 64), down=(64, WIDTH))}


def einsum(p, tokens):
    [length] = tokens.shape
    x = jnp.einsum("tv,vd->td", jax.nn.one_hot(tokens, VOCAB), p["embed"])
    angles = jnp.arange(length)[:, None] * 100.0 ** (-jnp.arange(WIDTH // 2) / (WIDTH // 2))
    x = x + jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)
    t = jnp.arange(length)
    for i in range(LAYERS):
        w = lambda name: p[f"layers.{i}.{name}"]  # noqa: E731
        y = rms(x, w("norm1"))
        q = jnp.einsum("td,hdk->thk", y, w("q"))
        k, v = jnp.einsum("td,cdk->ctk", y, w("kv"))
        scores = jnp.einsum("thk,sk->hts", q, k * DIM ** -0.5)
        scores = jnp.where(t[:, None] < t[None, :], -1e38, scores)
        heads = jnp.einsum("hts,sk->thk", jax.nn.softmax(scores), v)
        x = x + jnp.einsum("thk,hkd->td", heads, w("o"))
        x = x + jax.nn.relu(rms(x, w("norm2")) @ w("up")) ** 2 @ w("down")
    return jnp.einsum("td,vd->tv", rms(x, p["norm"]), p["embed"])


MODELS = {"llama": (llama, LLAMA), "gpt2": (gpt2, GPT2), "gemma": (gemma, GEMMA), "neox": (neox, NEOX),
          "einsum": (einsum, EINSUM), "chunks": (functools.partial(llama, chunk=6), LLAMA)}
FLAT = {"gpt2", "einsum"}  # take tokens [T], the others [1, T]


def parameters(name, seed=4):
    random = np.random.default_rng(seed)
    return {each: (random.standard_normal(shape) * (0.3 if len(shape) == 1 else 1.5 / shape[-1] ** 0.5)
                   + (len(shape) == 1 and not each.endswith("b"))).astype(np.float32)
            for each, shape in MODELS[name][1].items()}


def exported(name):
    """What jax.export writes of a model with a symbolic length."""
    function, shapes = MODELS[name]
    length = export.symbolic_shape("T", constraints=[f"T <= {MAX}"])
    ids = jax.ShapeDtypeStruct(length if name in FLAT else (1, *length), jnp.int32)
    specs = {each: jax.ShapeDtypeStruct(shape, jnp.float32) for each, shape in shapes.items()}
    return export.export(jax.jit(function))(specs, ids).mlir_module()


def write(name, weights, folder):
    """The model's file for kv-import; its weights are arguments."""
    path = folder / f"{name}.mlir"
    path.write_text(exported(name))
    return path


def logits(name, weights, prompt):
    """f32 [T, VOCAB]: the model by JAX itself."""
    ids = np.array(prompt, np.int32)
    out = _compiled(name)(weights, ids if name in FLAT else ids[None])
    return np.asarray(out).reshape(len(prompt), VOCAB)


@functools.cache
def _compiled(name):
    return jax.jit(MODELS[name][0])
