"""kv.state_read and kv.state_write through both pipelines, against what they say."""

import subprocess

import numpy as np
import pytest

from host import call, call_runtime
from tools import find, of_pipeline

KV_COMPILE = find("kv-compile")
LAYERS, HEADS, DIM, STATES = 3, 2, 24, 9
# Each step reads layer 2, writes it doubled, and writes the same to layer 0.
MODULE = """
    !st = !kv.collection<recurrent, {0}, layers = 3, heads = 2, dim = 24, page = 16>
    #map = affine_map<(b, h, d) -> (b, h, d)>
    func.func @f(%st: !st, %ro: tensor<?xi32> {{kv.name = "row_offsets"}})
        -> (tensor<?x2x24xf32> {{kv.dims = ["kv.batch"]}}) attributes {{kv.entry}} {{
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %s = kv.state_read %st[%c2] rows %ro : !st, tensor<?xi32> -> tensor<?x2x24xf32>
      %b = tensor.dim %s, %c0 : tensor<?x2x24xf32>
      %e = tensor.empty(%b) : tensor<?x2x24xf32>
      %d = linalg.generic {{indexing_maps = [#map, #map],
          iterator_types = ["parallel", "parallel", "parallel"]}}
          ins(%s : tensor<?x2x24xf32>) outs(%e : tensor<?x2x24xf32>) {{
      ^bb0(%x: f32, %unused: f32):
        %y = arith.addf %x, %x : f32
        %one = arith.constant 1.0009765625 : f32
        %z = arith.addf %y, %one : f32
        linalg.yield %z : f32
      }} -> tensor<?x2x24xf32>
      kv.state_write %d into %st[%c2] rows %ro : tensor<?x2x24xf32> into !st, tensor<?xi32>
      kv.state_write %d into %st[%c0] rows %ro : tensor<?x2x24xf32> into !st, tensor<?xi32>
      return %s : tensor<?x2x24xf32>
    }}
"""


@pytest.fixture(params=("kv-reference", "kv-cpu"))
def artifact(request, tmp_path):
    def compiled(dtype):
        source, made = tmp_path / "m.mlir", tmp_path / "m.so"
        source.write_text(MODULE.format(dtype))
        subprocess.run([KV_COMPILE, *of_pipeline(request.param), source, "-o", made], check=True)
        return made
    return compiled


@pytest.mark.parametrize("dtype", ("f32", "f16"))
def test_states_move_as_the_table_says(artifact, dtype):
    numbers = np.float32 if dtype == "f32" else np.float16
    random = np.random.default_rng(1)
    blocks = random.standard_normal((STATES + 1, 1, LAYERS, 1, HEADS, DIM)).astype(numbers)
    before = blocks.copy()
    # In place; from one to another; from the null state, which holds something here; from ids that
    # name none; to the null state, and to an id that names none.
    table = np.array([[3, 3], [3, 5], [0, 1], [-7, 2], [STATES + 1, 4], [6, 0], [7, STATES + 1]],
                     np.int32)
    # A state that another sequence writes in place is read before.
    table[1, 0] = 8
    count = len(table)
    read = np.full((count, HEADS, DIM), np.nan, np.float32)
    rows = np.arange(count + 1, dtype=np.int32)
    call(artifact(dtype), [blocks, np.zeros(count, np.int32), table,
                           np.array([[1, 1]], np.int32), rows, read])
    exists = (table > 0) & (table <= STATES)
    wanted = np.where(exists[:, 0, None, None],
                      before[table[:, 0] % (STATES + 1), 0, 2, 0].astype(np.float32), 0)
    np.testing.assert_array_equal(read, wanted)
    for b in range(count):
        if exists[b, 1]:
            for layer in (0, 2):
                before[table[b, 1], 0, layer, 0] = (
                    2 * wanted[b] + np.float32(1.0009765625)).astype(numbers)
    np.testing.assert_array_equal(blocks, before)


def test_a_bad_step_changes_nothing(artifact):
    made = artifact("f32")
    blocks = np.ones((STATES + 1, 1, LAYERS, 1, HEADS, DIM), np.float32)
    for rows, table, said in (
            ([0, 1], [[1, 1], [2, 2]],
             "row_offsets has 2 elements, expected 3 (one more than cache_lengths has)"),
            ([0, 2, 1], [[1, 1], [2, 2]], "row_offsets falls from 2 to 1 at sequence 1")):
        read = np.zeros((2, HEADS, DIM), np.float32)
        status, message = call_runtime(made, [
            blocks, np.zeros(2, np.int32), np.array(table, np.int32),
            np.array([[1, 1]], np.int32), np.array(rows, np.int32), read])
        assert status != 0 and said in message, message
        assert (blocks == 1).all()


CHANNELS, TAPS = 24, 4
GROUPS, EACH, KEY, VALUE = 2, 3, 8, 16
RECURRENCES = """
    !conv = !kv.collection<recurrent, {dtype}, layers = 2, heads = 3, dim = 24, page = 16>
    !scan = !kv.collection<recurrent, {dtype}, layers = 2, heads = 6, dim = 128, page = 16>
    func.func @f(%x: tensor<?x24xf32> {{kv.dims = ["T"]}}, %w: tensor<4x24xf32>, %b: tensor<24xf32>,
        %q: tensor<?x2x8xf32> {{kv.dims = ["T"]}}, %k: tensor<?x2x8xf32> {{kv.dims = ["T"]}},
        %v: tensor<?x2x3x16xf32> {{kv.dims = ["T"]}}, %d: tensor<?x2x3xf32> {{kv.dims = ["T"]}},
        %s: tensor<?x2x3xf32> {{kv.dims = ["T"]}}, %p: tensor<2x3xf32>, %conv: !conv,
        %scan: !scan {{kv.name = "scan"}}, %ro: tensor<?xi32> {{kv.name = "row_offsets"}})
        -> (tensor<?x24xf32> {{kv.dims = ["T"]}}, tensor<?x2x3x16xf32> {{kv.dims = ["T"]}})
        attributes {{kv.entry}} {{
      %c1 = arith.constant 1 : index
      %y = kv.state_convolution %x, %w {bias} in %conv[%c1] rows %ro
          : tensor<?x24xf32>, tensor<4x24xf32> {bias_type} in !conv, tensor<?xi32> -> tensor<?x24xf32>
      %o = kv.state_scan %q, %k, %v decay %d strength %s {skip} in %scan[%c1] rows %ro {delta}
          : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3x16xf32>, tensor<?x2x3xf32>,
            tensor<?x2x3xf32> {skip_type} in !scan, tensor<?xi32> -> tensor<?x2x3x16xf32>
      return %y, %o : tensor<?x24xf32>, tensor<?x2x3x16xf32>
    }}
"""


def scanned(state, q, k, v, decay, strength, skip, delta):
    """A token through S[g, r, n, p], which changes; in double precision."""
    state *= decay[:, :, None, None]
    write = v - np.einsum("grnp,gn->grp", state, k) if delta else v
    state += np.einsum("gn,grp->grnp", k, write * strength[:, :, None])
    return np.einsum("grnp,gn->grp", state, q) + skip[:, :, None] * v


@pytest.mark.parametrize("pipeline", ("kv-reference", "kv-cpu"))
@pytest.mark.parametrize("delta, extra, dtype", ((True, False, "f32"), (False, True, "f32"), (True, True, "f16")))
def test_recurrences(tmp_path, pipeline, delta, extra, dtype):
    source, made = tmp_path / "m.mlir", tmp_path / "m.so"
    source.write_text(RECURRENCES.format(
        dtype=dtype, delta="{delta}" if delta else "", bias="bias %b" if extra else "",
        bias_type=", tensor<24xf32>" if extra else "", skip="skip %p" if extra else "",
        skip_type=", tensor<2x3xf32>" if extra else ""))
    subprocess.run([KV_COMPILE, *of_pipeline(pipeline), source, "-o", made], check=True)
    random = np.random.default_rng(2)
    numbers = np.float32 if dtype == "f32" else np.float16
    offsets = np.array([0, 6, 6, 7, 9, 12], np.int32)
    table = np.array([[3, 3], [4, 5], [0, 1], [6, 0], [-9, 2]], np.int32)
    tokens = offsets[-1]
    x, w, b = (random.standard_normal(shape).astype(np.float32)
               for shape in ((tokens, CHANNELS), (TAPS, CHANNELS), (CHANNELS,)))
    q, k, v, p = (random.standard_normal(shape).astype(np.float32) / 2
                  for shape in ((tokens, GROUPS, KEY), (tokens, GROUPS, KEY),
                                (tokens, GROUPS, EACH, VALUE), (GROUPS, EACH)))
    d, s = (random.uniform(0.2, 1, (tokens, GROUPS, EACH)).astype(np.float32) for _ in range(2))
    conv = random.standard_normal((8, 1, 2, 1, TAPS - 1, CHANNELS)).astype(numbers)
    scan = random.standard_normal((8, 1, 2, 1, GROUPS * EACH, KEY * VALUE)).astype(numbers)
    want_conv, want_scan = conv.copy(), scan.copy()
    lengths, longest = np.zeros(len(table), np.int32), np.array([[6, 6]], np.int32)
    y, o = np.full_like(x, np.nan), np.full_like(v, np.nan)
    call(made, [x, w, b, q, k, v, d, s, p, conv, lengths, table, longest, scan, lengths, table, longest,
                offsets, y, o])
    for i, (read, written) in enumerate(table):
        begun = [np.where(0 < read < 8, have[max(read, 0), 0, 1, 0].astype(np.float64), 0)
                 for have in (want_conv, want_scan)]
        rows, state = begun[0], begun[1].reshape(GROUPS, EACH, KEY, VALUE)
        for t in range(offsets[i], offsets[i + 1]):
            rows = np.concatenate([rows, x[t:t + 1]])
            total = (w.astype(np.float64) * rows).sum(0) + (b if extra else 0)
            np.testing.assert_allclose(y[t], total / (1 + np.exp(-total)), rtol=2e-5, atol=2e-6)
            rows = rows[1:]
            out = scanned(state, q[t], k[t], v[t], d[t], s[t], p if extra else 0 * p, delta)
            np.testing.assert_allclose(o[t], out, rtol=2e-5, atol=1e-5)
        if 0 < written < 8:
            limit = {"rtol": 2e-3, "atol": 2e-3} if dtype == "f16" else {"rtol": 2e-5, "atol": 1e-5}
            for have, want, left in ((conv, want_conv, rows), (scan, want_scan, state)):
                place = have[written, 0, 1, 0]
                np.testing.assert_allclose(place.astype(np.float32), left.reshape(place.shape), **limit)
                want[written, 0, 1, 0] = place
    np.testing.assert_array_equal(conv, want_conv)
    np.testing.assert_array_equal(scan, want_scan)


# Sizes that are cut: 136 channels into 128 and 8, values of 80 into 64 and 16; and a sequence that
# is longer than all others together. Keys too long for a kernel are decomposed.
WIDE = """
    !conv = !kv.collection<recurrent, f32, layers = 1, heads = 3, dim = 136, page = 16>
    !scan = !kv.collection<recurrent, f32, layers = 1, heads = 4, dim = {state}, page = 16>
    func.func @f(%x: tensor<?x136xf32> {{kv.dims = ["T"]}}, %w: tensor<4x136xf32>, %b: tensor<136xf32>,
        %q: tensor<?x2x{key}xf32> {{kv.dims = ["T"]}}, %k: tensor<?x2x{key}xf32> {{kv.dims = ["T"]}},
        %v: tensor<?x2x2x80xf32> {{kv.dims = ["T"]}}, %d: tensor<?x2x2xf32> {{kv.dims = ["T"]}},
        %s: tensor<?x2x2xf32> {{kv.dims = ["T"]}}, %p: tensor<2x2xf32>, %conv: !conv,
        %scan: !scan {{kv.name = "scan"}}, %ro: tensor<?xi32> {{kv.name = "row_offsets"}})
        -> (tensor<?x136xf32> {{kv.dims = ["T"]}}, tensor<?x2x2x80xf32> {{kv.dims = ["T"]}},
            tensor<?x4x{state}xf32> {{kv.dims = ["kv.batch"]}})
        attributes {{kv.entry}} {{
      %c0 = arith.constant 0 : index
      %y = kv.state_convolution %x, %w bias %b in %conv[%c0] rows %ro
          : tensor<?x136xf32>, tensor<4x136xf32>, tensor<136xf32> in !conv, tensor<?xi32> -> tensor<?x136xf32>
      %o = kv.state_scan %q, %k, %v decay %d strength %s skip %p in %scan[%c0] rows %ro {delta}
          : tensor<?x2x{key}xf32>, tensor<?x2x{key}xf32>, tensor<?x2x2x80xf32>, tensor<?x2x2xf32>,
            tensor<?x2x2xf32>, tensor<2x2xf32> in !scan, tensor<?xi32> -> tensor<?x2x2x80xf32>
      %left = kv.state_read %scan[%c0] rows %ro : !scan, tensor<?xi32> -> tensor<?x4x{state}xf32>
      kv.state_write %left into %scan[%c0] rows %ro : tensor<?x4x{state}xf32> into !scan, tensor<?xi32>
      return %y, %o, %left : tensor<?x136xf32>, tensor<?x2x2x80xf32>, tensor<?x4x{state}xf32>
    }}
"""


@pytest.mark.parametrize("delta, key", ((True, 48), (False, 48), (True, 520)))
def test_threads_kernels_and_cuts_change_no_bit(tmp_path, delta, key):
    """The kernels with any number of threads compute the bits of the plain meaning in one; and so
    they do with a step in two."""
    source = tmp_path / "m.mlir"
    source.write_text(WIDE.format(key=key, delta="{delta}" if delta else "", state=key * 80))
    random = np.random.default_rng(8)
    offsets, table = np.array([0, 90, 91, 97], np.int32), np.array([[1, 1], [0, 2], [3, 4]], np.int32)

    def numbers(*shape):
        return random.standard_normal(shape).astype(np.float32)

    tokens = offsets[-1]
    rows = [numbers(tokens, 136), numbers(4, 136), numbers(136), numbers(tokens, 2, key) / 8,
            numbers(tokens, 2, key) / 8, numbers(tokens, 2, 2, 80),
            *(random.uniform(0.2, 1, (tokens, 2, 2)).astype(np.float32) for _ in range(2)), numbers(2, 2)]
    states = numbers(6, 1, 1, 1, 3, 136), numbers(6, 1, 1, 1, 4, key * 80)

    def step(made, threads, first, end, conv, scan, table, offsets):
        """Rows first to end; results and states."""
        own = [row if i in (1, 2, 8) else np.ascontiguousarray(row[first:end])
               for i, row in enumerate(rows)]
        lengths, longest = np.zeros(len(table), np.int32), np.array([[90, 90]], np.int32)
        out = [np.full((end - first, 136), np.nan, np.float32),
               np.full((end - first, 2, 2, 80), np.nan, np.float32),
               np.full((len(table), 4, key * 80), np.nan, np.float32)]
        status, message = call_runtime(made, [*own, conv, lengths, table, longest, scan, lengths, table,
                                              longest, offsets, *out], threads)
        assert status == 0, message
        return out

    found = {}
    for pipeline, threads in (("kv-reference", 1), ("kv-cpu", 1), ("kv-cpu", 2), ("kv-cpu", 3)):
        made = tmp_path / f"{pipeline}.so"
        if not made.exists():
            subprocess.run([KV_COMPILE, *of_pipeline(pipeline), source, "-o", made], check=True)
        conv, scan = (state.copy() for state in states)
        out = step(made, threads, 0, tokens, conv, scan, table, offsets)
        assert not any(np.isnan(one).any() for one in out)
        found[pipeline, threads] = [one.tobytes() for one in (*out, conv, scan)]
    assert len(set(map(tuple, found.values()))) == 1, list(found)
    # The first sequence alone, in two steps.
    cut_conv, cut_scan = (state.copy() for state in states)
    parts = [step(made, 2, a, b, cut_conv, cut_scan, table[:1], np.array([0, b - a], np.int32))
             for a, b in ((0, 37), (37, 90))]
    for i in range(2):
        np.testing.assert_array_equal(np.concatenate([part[i] for part in parts]), out[i][:90])
    np.testing.assert_array_equal(cut_conv[1], conv[1])
    np.testing.assert_array_equal(cut_scan[1], scan[1])
