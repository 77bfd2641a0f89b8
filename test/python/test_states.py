"""kv.state_read and kv.state_write through both pipelines, against what they say."""

import subprocess

import numpy as np
import pytest

from host import call, call_runtime
from tools import find

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
        subprocess.run([KV_COMPILE, f"--pipeline={request.param}", source, "-o", made], check=True)
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
