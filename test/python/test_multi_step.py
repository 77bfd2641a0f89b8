"""Multi-step decode: a whole model in scf.for with kv.advance, which feeds its own tokens back, gives
the logits of single steps to the bit; with pages and with slots."""

import re
import subprocess

import numpy as np
import pytest
from safetensors import safe_open

from host import call_runtime
from kv_import import synthetic
from tools import KV_IMPORT, find, manifest, run

KV_COMPILE = find("kv-compile")
PROMPTS, STEPS, ROOM = (5, 17), 6, 32

# The largest element of each row, the first of equal ones.
MULTI = """
  func.func @multi(ARGUMENTS) -> (tensor<?x2x272xf32> {kv.name = "logits", kv.dims = ["steps"]})
      attributes {kv.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %size = arith.constant 272 : index
    %least = arith.constant 0xFF800000 : f32
    %none = arith.constant 0 : i32
    %lengths = kv.max_lengths %kv : !kv -> tensor<?x2xi32>
    %steps = tensor.dim %lengths, %c0 : tensor<?x2xi32>
    %empty = tensor.empty(%steps) : tensor<?x2x272xf32>
    %all, %last, %end = scf.for %i = %c0 to %steps step %c1
        iter_args(%done = %empty, %now = %kv, %given = %tokens)
        -> (tensor<?x2x272xf32>, !kv, tensor<?xi32>) {
      %logits = func.call @step(NAMES) : (TYPES) -> tensor<?x272xf32>
      %two = tensor.cast %logits : tensor<?x272xf32> to tensor<2x272xf32>
      %more = tensor.insert_slice %two into %done[%i, 0, 0] [1, 2, 272] [1, 1, 1]
          : tensor<2x272xf32> into tensor<?x2x272xf32>
      %fresh = tensor.empty(%c2) : tensor<?xi32>
      %next = scf.for %r = %c0 to %c2 step %c1 iter_args(%to = %fresh) -> (tensor<?xi32>) {
        %best, %at = scf.for %v = %c0 to %size step %c1 iter_args(%most = %least, %where = %none)
            -> (f32, i32) {
          %x = tensor.extract %logits[%r, %v] : tensor<?x272xf32>
          %above = arith.cmpf ogt, %x, %most : f32
          %index = arith.index_cast %v : index to i32
          %a = arith.select %above, %x, %most : f32
          %b = arith.select %above, %index, %where : i32
          scf.yield %a, %b : f32, i32
        }
        %written = tensor.insert %at into %to[%r] : tensor<?xi32>
        scf.yield %written : tensor<?xi32>
      }
      %later = kv.advance %now rows %row_offsets : !kv, tensor<?xi32>
      scf.yield %more, %later, %next : tensor<?x2x272xf32>, !kv, tensor<?xi32>
    }
    return %all : tensor<?x2x272xf32>
  }
"""


def with_multi(text):
    """The module with its forward as @step, called by the entries @f (once) and @multi."""
    signature = re.search(r"func\.func @forward\((.*?)\)\s*-> \((tensor<\?x272xf32>) (\{.*?\})\)\s*"
                          r"attributes \{kv\.entry\} \{", text, re.S)
    arguments = signature.group(1)
    names = re.findall(r"(%\w+):", arguments)
    types = re.findall(r"%\w+: (\S+) \{", arguments)
    plain = ", ".join(f"{n}: {t}" for n, t in zip(names, types))
    step = f"func.func private @step({plain}) -> {signature.group(2)} {{"
    single = f"""
  func.func @f({arguments}) -> (tensor<?x272xf32> {signature.group(3)}) attributes {{kv.entry}} {{
    %o = func.call @step({", ".join(names)}) : ({", ".join(types)}) -> tensor<?x272xf32>
    return %o : tensor<?x272xf32>
  }}
"""
    inner = [{"%tokens": "%given", "%kv": "%now"}.get(n, n) for n in names]
    multi = (MULTI.replace("ARGUMENTS", arguments).replace("NAMES", ", ".join(inner))
             .replace("TYPES", ", ".join(types)))
    start = text.index("func.func @forward(")
    end = text.index("attributes {kv.entry} {", start) + len("attributes {kv.entry} {")
    body = text[:start] + step + text[end:]
    # Before the brace that ends the module.
    assert body.rstrip().endswith("}")
    return body.rstrip()[:-1] + single + multi + "}\n"


@pytest.fixture(scope="module", params=("paged", "continuous"))
def model(request, tmp_path_factory):
    """(artifact, weights by name, strategy)"""
    folder = tmp_path_factory.mktemp("multi")
    config = synthetic.make_config("llama")
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config, seed=3))
    assert run(KV_IMPORT, folder / "hf", "-o", folder, "--page", "16").returncode == 0
    text = (folder / "model.mlir").read_text()
    if request.param == "continuous":
        text = re.sub(r"<paged, (.*?), page = \d+>", rf"<continuous, \1, max_seq = {ROOM}>", text)
    (folder / "multi.mlir").write_text(with_multi(text))
    subprocess.run([KV_COMPILE, folder / "multi.mlir", "-o", folder / "multi.so"], check=True)
    with safe_open(folder / "weights.safetensors", "numpy") as file:
        stored = {name: file.get_tensor(name) for name in file.keys()}
    inputs = next(e for e in manifest(folder / "multi.so")["entries"] if e["name"] == "f")["inputs"]
    weights = []
    for row in inputs:
        if row["kind"] == "weight":
            array = stored[row["name"]]
            array = array.view(np.uint16) if row["dtype"] == "bf16" else array
            weights.append(np.ascontiguousarray(array).reshape(row["shape"]))
    return folder / "multi.so", weights, request.param


def components(strategy, batch):
    blocks = batch * (ROOM // 16) + 1 if strategy == "paged" else batch
    page = 16 if strategy == "paged" else ROOM
    cache = np.full((blocks, 2, 2, page, 2, 16), 0x7FC0, np.uint16)  # bf16 NaN
    if strategy == "paged":
        table = np.array([[3, 1], [4, 2]], np.int32)
    else:
        table = np.array([1, 0], np.int32)
    return cache, table


def test_the_loop_is_single_steps(model):
    artifact, weights, strategy = model
    cache, table = components(strategy, 2)
    rng = np.random.default_rng(9)

    def call(entry, tokens, rows, wanted, lengths, most, out, memory):
        arrays = [tokens, rows, wanted, memory, lengths, table, most, *weights, out]
        status, message = call_runtime(artifact, arrays, threads=2, entry=entry)
        assert status == 0, message

    def steps(lengths, count, new=1):
        return np.array([[new, lengths.max() + (i + 1) * new] for i in range(count)], np.int32)

    rows = np.cumsum([0, *PROMPTS]).astype(np.int32)
    prompt = rng.integers(0, 272, rows[-1]).astype(np.int32)
    first = np.zeros((2, 272), np.float32)
    call("f", prompt, rows, rows[1:] - 1, np.zeros(2, np.int32),
         np.array([[max(PROMPTS), max(PROMPTS)]], np.int32), first, cache)
    assert np.isfinite(first).all()
    tokens, lengths = first.argmax(1).astype(np.int32), np.array(PROMPTS, np.int32)
    one, wanted = np.array([0, 1, 2], np.int32), np.array([0, 1], np.int32)

    looped, in_loop = np.zeros((STEPS, 2, 272), np.float32), cache.copy()
    call("multi", tokens, one, wanted, lengths, steps(lengths, STEPS), looped, in_loop)
    single = np.zeros_like(looped)
    for i in range(STEPS):
        call("f", tokens, one, wanted, lengths + np.int32(i), steps(lengths + i, 1), single[i], cache)
        tokens = single[i].argmax(1).astype(np.int32)
    assert looped.tobytes() == single.tobytes()
    assert in_loop.tobytes() == cache.tobytes()
    assert len({row.tobytes() for row in single.reshape(-1, 272)}) == 2 * STEPS
