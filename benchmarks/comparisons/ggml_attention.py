"""ggml_attention.py TYPE CACHED NEW ITERATIONS THREADS HEADS GROUP DIM: ggml's flash attention on the CPU of
NEW tokens over CACHED + NEW keys; prints seconds an attention.

Keys and values lie head by head without gaps, which is the order that ggml reads fastest. As in our own
measurement, the time of one is what a longer graph takes more than a shorter one."""

import ctypes
import os
import sys
import time

from ggml import function

TYPES = {"f32": (0, 1, 4), "f16": (1, 1, 2), "q8_0": (8, 32, 34), "bf16": (30, 1, 2)}  # id, block, bytes
POINTER = ctypes.c_void_p


class InitParams(ctypes.Structure):
    """ggml_init_params, of ggml.h."""
    _fields_ = [("mem_size", ctypes.c_size_t), ("mem_buffer", POINTER), ("no_alloc", ctypes.c_bool)]


def main(kind, cached, new, iterations, threads, heads, group, dim):
    number, block, size = TYPES[kind]
    total = cached + new
    padded = -(-total // 256) * 256  # as llama.cpp pads
    cache_bytes = padded * heads * dim // block * size
    rows = -(-new // 64) * 64
    context = function("ggml_init", POINTER, InitParams)(InitParams(
        2 * cache_bytes + 2 * padded * rows + 4 * new * heads * group * dim * (iterations + 3) + (64 << 20),
        None, False))
    function("ggml_cpu_init", None)()
    tensor = function("ggml_new_tensor_4d", POINTER, POINTER, ctypes.c_int, *4 * [ctypes.c_int64])
    data = function("ggml_get_data", POINTER, POINTER)

    def filled(what, bytes_, pattern):
        start = data(what)
        for offset in range(0, bytes_, len(pattern)):
            ctypes.memmove(start + offset, pattern, min(len(pattern), bytes_ - offset))

    # Small numbers of every type: the high byte of each element decides its size.
    noise = bytearray(os.urandom(1 << 20))
    for i in range(size - 1 if block == 1 else 1, len(noise), size):
        noise[i] = 0x3c if block == 1 else 0x20
    noise = bytes(noise[:len(noise) // size * size])
    q = tensor(context, 0, dim, new, heads * group, 1)
    filled(q, 4 * new * heads * group * dim, bytes.fromhex("cdccccbdcdcccc3d") * 512)
    k, v = (tensor(context, number, dim, padded, heads, 1) for _ in range(2))
    for part in (k, v):
        filled(part, cache_bytes, noise)
    mask = tensor(context, 1, padded, rows, 1, 1)
    for row in range(rows):
        seen = min(cached + 1 + row, total)
        ctypes.memset(data(mask) + 2 * padded * row, 0, 2 * padded)
        hidden = b"\x00\xfc" * (padded - seen)  # -inf
        ctypes.memmove(data(mask) + 2 * (padded * row + seen), hidden, len(hidden))

    attention = function("ggml_flash_attn_ext", POINTER, *5 * [POINTER], *3 * [ctypes.c_float])
    append = function("ggml_build_forward_expand", None, POINTER, POINTER)
    compute = function("ggml_graph_compute_with_ctx", ctypes.c_int, POINTER, POINTER, ctypes.c_int)
    graph_of = function("ggml_new_graph", POINTER, POINTER)

    def graph(count):
        result = graph_of(context)
        for _ in range(count):
            append(result, attention(context, q, k, v, mask, dim ** -0.5, 0.0, 0.0))
        return result

    short, long = graph(1), graph(iterations + 1)
    times = []
    for each in (short, long):
        start = time.perf_counter()
        status = compute(context, each, threads)
        times.append(time.perf_counter() - start)
        if status:
            sys.exit(f"ggml_graph_compute_with_ctx returned {status}")
    print((times[1] - times[0]) / iterations)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
