"""Two hosts of artifacts. `call`: an arena, one thread, no checks, and the runtime functions on
caches by their definitions in double precision. `call_runtime`: the runtime itself."""

import ctypes
import os
import re
from pathlib import Path

import ml_dtypes
import numpy as np

from tools import ROOT

# The rows of the function table, in their order.
FUNCTIONS = re.findall(r"^KV_FUNCTION\((\w+)", (ROOT / "include/kv/ABI/Symbols.def").read_text(), re.M)
# Asks Linux for the tiles of AMX, as the runtime does; a machine without them refuses.
HAS_TILES = os.uname().machine == "x86_64" and ctypes.CDLL(None).syscall(158, 0x1023, 18) == 0
DTYPES = {np.dtype(np.float32): 0, np.dtype(np.float16): 1, np.dtype(np.uint16): 2,
          np.dtype(ml_dtypes.float8_e4m3fn): 3, np.dtype(ml_dtypes.float8_e5m2): 4,
          np.dtype(ml_dtypes.float8_e8m0fnu): 5, np.dtype(np.int8): 6, np.dtype(np.int32): 7,
          np.dtype(np.int64): 8}


def has_matrix_unit():
    """Whether this machine runs code for x86-64-v4-amx."""
    flags = Path("/proc/cpuinfo").read_text().split()
    return HAS_TILES and "amx_bf16" in flags and "amx_int8" in flags


def runs_levels():
    """How many of the levels x86-64-v3, -v4, -v4-vnni and -v4-amx this machine runs."""
    flags = Path("/proc/cpuinfo").read_text().split()
    has = ("avx512dq" in flags, "avx512_vnni" in flags, has_matrix_unit())
    return 1 + (list(has) + [False]).index(False)


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("offset", ctypes.c_int64), ("rank", ctypes.c_int64),
                ("dtype", ctypes.c_int64), ("sizes", ctypes.c_int64 * 8),
                ("strides", ctypes.c_int64 * 8)]


class Context(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("status", ctypes.c_int32),
                ("functions", ctypes.c_void_p), ("runtime", ctypes.c_void_p),
                ("stream", ctypes.c_void_p)]


def view(array):
    assert array.flags.c_contiguous
    rank = array.ndim
    return View(array.ctypes.data, 0, rank, DTYPES[array.dtype],
                (ctypes.c_int64 * 8)(*array.shape),
                (ctypes.c_int64 * 8)(*(s // array.itemsize for s in array.strides)))


def rounded(x, cache):
    """x as the cache stores it: (bits, value)."""
    if cache == "f32":
        return x, x
    if cache == "f16":
        return x.astype(np.float16), x.astype(np.float16).astype(np.float32)
    bits = x.view(np.uint32).astype(np.uint64)
    kept = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return kept, (kept.astype(np.uint32) << 16).view(np.float32)


def sees(mask, p, k):
    kind, _, window = mask.partition(" = ")
    w, p, k = int(window or 0), int(p), int(k)
    return {"none": True, "causal": k <= p, "sliding": p - w < k <= p,
            "chunked": w and k // w == p // w, "sliding_noncausal": p - w < k,
            "chunked_causal": w and k <= p and k // w == p // w}[kind]


def array(pointer):
    """The array behind a pointer to a view; None for null."""
    if not pointer:
        return None
    v = View.from_address(pointer)
    dtype = next(d for d, number in DTYPES.items() if number == v.dtype)
    shape = tuple(v.sizes[:v.rank])
    if 0 in shape:
        return np.empty(shape, dtype)
    strides = [s * dtype.itemsize for s in v.strides[:v.rank]]
    size = sum(s * (n - 1) for s, n in zip(strides, shape)) + dtype.itemsize
    memory = (ctypes.c_char * size).from_address(v.data + v.offset * dtype.itemsize)
    return np.ndarray(shape, dtype, memory, strides=strides)


def tokens(blocks, lengths, table, rows):
    """Of every token: its row, position, and its sequence's cache as an index of blocks."""
    for b in range(len(lengths)):
        for t in range(rows[b], rows[b + 1]):
            length = lengths[b] + rows[b + 1] - rows[b]
            pages = blocks.shape[3]
            yield t, lengths[b] + t - rows[b], [(table[b, s // pages], s % pages)
                                                for s in range(length)]


def store(context, blocks, scales, lengths, table, rows, layer, k, v):
    """The runtime function `store`, f32 alone."""
    blocks, lengths, table, rows, k, v = map(array, (blocks, lengths, table, rows, k, v))
    for t, position, where in tokens(blocks, lengths, table, rows):
        page, slot = where[position]
        blocks[page, 0, layer, slot], blocks[page, 1, layer, slot] = k[t], v[t]


MASKS = ("none", "causal", "sliding = {}", "chunked = {}", "sliding_noncausal = {}",
         "chunked_causal = {}")


def attention(context, blocks, scales, lengths, table, rows, layer, q, out, lse, scale, softcap, mask,
              window, sinks, keys):
    """The runtime function `attention`, f32 alone."""
    assert not keys
    blocks, lengths, table, rows, q, out, lse, sinks = map(
        array, (blocks, lengths, table, rows, q, out, lse, sinks))
    for t, position, where in tokens(blocks, lengths, table, rows):
        seen = [w for s, w in enumerate(where) if sees(MASKS[mask].format(window), position, s)]
        for h in range(q.shape[1]):
            head = h // (q.shape[1] // blocks.shape[4])
            keys, values = (np.array([blocks[page, part, layer, slot, head] for page, slot in seen],
                                     np.float64) for part in (0, 1))
            out[t, h], logarithm = softmax(q[t, h], keys, values, scale, softcap,
                                           -np.inf if sinks is None else sinks[h])
            if lse is not None:
                lse[t, h] = logarithm


printed = []


def print_layer(context, blocks, scales, lengths, table, rows, layer):
    """The runtime function `print`: remembers what it was given."""
    blocks, lengths, table, rows = map(array, (blocks, lengths, table, rows))
    printed.append((blocks.copy(), lengths.copy(), table.copy(),
                    None if rows is None else rows.copy(), layer))


def softmax(q, keys, values, scale, softcap=0, sink=-np.inf):
    """One row over the keys that it sees: (out, lse) in double."""
    scores = scale * (keys @ q.astype(np.float64)) if len(keys) else np.zeros(0)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    scores = np.append(scores, sink)
    if scores.max() == -np.inf:
        return np.zeros(len(q)), -np.inf
    weights = np.exp(scores - scores.max())
    total = weights.sum()
    out = weights[:-1] @ values / total if len(keys) else np.zeros(len(q))
    return out, scores.max() + np.log(total)


def call(artifact, arrays):
    """Runs kv_entry_f with an arena that is never reused."""
    memory = []

    def take(context, size):
        memory.append(ctypes.create_string_buffer(int(size) + 64))
        return (ctypes.addressof(memory[-1]) + 63) // 64 * 64

    def parallel(context, body, environment, count, grain):
        ctypes.CFUNCTYPE(None, ptr, ptr, i64, i64)(body)(context, environment, 0, count)

    i64, ptr, f32 = ctypes.c_int64, ctypes.c_void_p, ctypes.c_float
    functions = [ctypes.CFUNCTYPE(ctypes.c_int32, ptr, ptr, i64, ptr, ctypes.c_int32)(lambda *_: 0),
                 ctypes.CFUNCTYPE(i64, ptr)(lambda _: 0), ctypes.CFUNCTYPE(ptr, ptr, i64)(take),
                 ctypes.CFUNCTYPE(None, ptr, i64)(lambda *_: None),
                 ctypes.CFUNCTYPE(None, ptr, i64, ptr, ptr, i64)(lambda *_: None),
                 ctypes.CFUNCTYPE(None, ptr, ptr, ptr, i64, i64)(parallel),
                 ctypes.CFUNCTYPE(None, ptr, ctypes.c_int32, ptr)(lambda *_: None),
                 ctypes.CFUNCTYPE(None, ptr, ptr, ptr, ptr, ptr, ptr, i64, ptr, ptr)(store),
                 ctypes.CFUNCTYPE(None, ptr, ptr, ptr, ptr, ptr, ptr, i64, ptr, ptr, ptr, f32, f32,
                                  ctypes.c_int32, i64, ptr, ptr)(attention),
                 ctypes.CFUNCTYPE(None, ptr, ptr, ptr, ptr, ptr, ptr, i64)(print_layer)]
    table = (ptr * len(FUNCTIONS))(*(ctypes.cast(f, ptr).value for f in functions))
    checks = [ctypes.CFUNCTYPE(None, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64)(lambda *_: None),
              ctypes.CFUNCTYPE(None, ptr, ptr, ptr, i64, i64)(lambda *_: None),
              ctypes.CFUNCTYPE(None, ptr, ptr, ptr, i64)(lambda *_: None)]
    for name, check in zip(("checkStep", "checkResult", "checkIndices"), checks):
        table[FUNCTIONS.index(name)] = ctypes.cast(check, ptr).value
    context = Context(1, 0, ctypes.addressof(table), None, None)
    views = (View * len(arrays))(*map(view, arrays))
    entry = ctypes.CDLL(str(artifact)).kv_entry_f
    assert entry(ctypes.byref(context), views, len(arrays)) == 0


def call_runtime(artifact, arrays, threads=1, entry="f"):
    """Runs an entry in the runtime: (status, message)."""
    path = os.environ.get("KV_TEST_HOST", ROOT / "build/release/lib/libKVTestHost.so")
    views, message = (View * len(arrays))(*map(view, arrays)), ctypes.create_string_buffer(1000)
    status = ctypes.CDLL(str(path)).kv_test_call(
        str(artifact).encode(), f"kv_entry_{entry}".encode(), views, len(arrays), threads, message,
        ctypes.c_size_t(len(message)))
    return status, message.value.decode()
