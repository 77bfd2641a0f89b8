"""Quantised weights: packing, kv.dequantize and kv.matmul of every format, against the gguf package
and a plain loop in double precision; the same bits by every way to multiply bytes, AMX among them."""

import functools
import subprocess

import numpy as np
import pytest

import gguf
from float_weights import finite_bytes
from host import call, call_runtime, runs_levels
from kv_import.weights import float8, quant_blocks
import tools
from tools import artifact_folder, find, of_pipeline

KV_COMPILE, KV_OPT = find("kv-compile"), find("kv-opt")
FORMATS = sorted(quant_blocks.FORMATS)
# Of x: two tiles of a matrix unit, and enough rows more for another.
ROWS, COLUMNS, TOKENS = 48, 512, 45
# kv-compile's, as far as this machine runs them.
LEVELS = ["x86-64-v3", "x86-64-v4", "x86-64-v4-vnni", "x86-64-v4-amx"][:runs_levels()]


def ggml(name):
    return getattr(gguf.GGMLQuantizationType, name.upper())


def random_blocks(name, rng, rows=ROWS, columns=COLUMNS):
    """Any bits are a block, but for the scales, which are numbers of a weight's size."""
    format_ = quant_blocks.FORMATS[name].of(columns)
    blocks = rng.integers(0, 256, (rows * columns // format_.group, format_.file_bytes), np.uint8)
    only_numbers(name, blocks)
    for i in format_.scales:
        blocks.view(format_.scale)[:, i] = rng.standard_normal(len(blocks)) * 0.01
    return blocks.reshape(rows, -1)


def only_numbers(name, blocks):
    """Floats of 8 bits that are none become others."""
    if name in float8.VALUES:
        blocks[..., 4:] = finite_bytes(blocks[..., 4:], name)


def extreme_blocks(name, rng):
    """Rows whose bytes are all the same, with scales from 0 to the largest that keep sums finite."""
    blocks = random_blocks(name, rng)
    fills = (0x00, 0x80, 0x7F, 0xFF, 0x88, 0x81)
    scales = (0.0, -0.0, 6e-8, 1.0, -500.0, 0.01)
    format_ = quant_blocks.FORMATS[name].of(COLUMNS)
    by_block = blocks.reshape(ROWS, -1, format_.file_bytes)
    for row in range(ROWS):
        by_block[row, :, :] = fills[row % len(fills)]
        only_numbers(name, by_block[row])
        for i in format_.scales:
            by_block[row].view(format_.scale)[:, i] = scales[row // len(fills) % len(scales)]
    return blocks


def dequantized(blocks, name):
    if name == "i8":
        return np.stack([np.frombuffer(row[:4].tobytes(), np.float32)
                         * row[4:].astype(np.int8).astype(np.float32) for row in blocks])
    if name in float8.VALUES:
        return float8.block_values(blocks, name)
    return gguf.dequantize(blocks, ggml(name)).reshape(len(blocks), -1)


def packed(blocks, name):
    return quant_blocks.pack(blocks, name).view(np.int8)


def compiled(text, pipeline="kv-cpu", mcpu="native"):
    return tools.compiled(text, *of_pipeline(pipeline), f"--mcpu={mcpu}")


@functools.cache
def compiled_generic(text):
    """By the generic sums of products, which no x86-64 level of kv-compile takes."""
    folder = artifact_folder()
    source, artifact = folder / "m.mlir", folder / "m.so"
    source.write_text(text)
    passes = subprocess.run([KV_OPT, "--kv-cpu=mcpu=x86-64-v3", "--dump-pass-pipeline", source], check=True,
                            text=True, capture_output=True).stderr.partition(":")[2]
    assert passes.count("dot=avx2") == 1
    lowered = subprocess.run([KV_OPT, f"--pass-pipeline={passes.replace('dot=avx2', 'dot=generic')}", source],
                             check=True, capture_output=True).stdout
    ir = subprocess.run([find("mlir-translate-22", "mlir-translate"), "--mlir-to-llvmir"],
                        input=lowered, check=True, capture_output=True).stdout
    # No fusing of what is written apart; fma by its instruction.
    subprocess.run([find("clang-22"), "-x", "ir", "-", "-O1", "-march=x86-64-v3",
                    "-ffp-contract=off", "-shared", "-o", artifact], input=ir, check=True,
                   stderr=subprocess.DEVNULL)
    return artifact


def matmul(formats, widths, columns=COLUMNS):
    """One product of each format, in one kv.matmul."""
    types = [f"tensor<{'x'.join(map(str, quant_blocks.packed_shape(f, (n, columns))))}xi8>"
             for f, n in zip(formats, widths)]
    products = [f"tensor<?x{n}xf32>" for n in widths]
    arguments = ", ".join(f"%w{i}: {t}" for i, t in enumerate(types))
    weights = ", ".join(f"%w{i}" for i in range(len(types)))
    results = ", ".join(f"%y#{i}" if len(types) > 1 else "%y" for i in range(len(types)))
    return f"""
      func.func @f(%x: tensor<?x{columns}xf32>, {arguments}) -> ({", ".join(products)})
          attributes {{kv.entry}} {{
        %y{f":{len(types)}" if len(types) > 1 else ""} = kv.matmul %x, {weights}
          {{formats = [{", ".join(f"#kv.quant<{f}>" for f in formats)}]}}
          : tensor<?x{columns}xf32>, {", ".join(types)} -> {", ".join(products)}
        return {results} : {", ".join(products)}
      }}"""


def rounded_rows(x):
    """What kv.matmul's description says: integers and a scale for each 32 elements."""
    groups = x.reshape(len(x), -1, 32)
    largest = np.abs(groups).max(axis=2, keepdims=True)
    scale = (largest / np.float32(127)).astype(np.float32)
    with np.errstate(divide="ignore", over="ignore"):
        factor = np.where(largest >= 1e-30, np.float32(127) / largest, np.float32(0))
    integers = np.rint(np.clip(groups * factor.astype(np.float32), -127, 127))
    return (integers.astype(np.float64) * scale).reshape(x.shape)


@pytest.mark.parametrize("name", FORMATS)
def test_rows_are_those_of_the_file(name):
    blocks = random_blocks(name, np.random.default_rng(1))
    shape = "x".join(map(str, quant_blocks.packed_shape(name, blocks.shape[:1] + (COLUMNS,))))
    text = f"""
      func.func @f(%w: tensor<{ROWS}x{COLUMNS}x!kv.quant<{name}>>, %rows: tensor<?xi32>)
          -> (tensor<?x{COLUMNS}xf32>, tensor<{ROWS}x{COLUMNS}xf32>) attributes {{kv.entry}} {{
        %some = kv.dequantize %w rows(%rows)
            : tensor<{ROWS}x{COLUMNS}x!kv.quant<{name}>>, tensor<?xi32> -> tensor<?x{COLUMNS}xf32>
        %all = kv.dequantize %w
            : tensor<{ROWS}x{COLUMNS}x!kv.quant<{name}>> -> tensor<{ROWS}x{COLUMNS}xf32>
        return %some, %all : tensor<?x{COLUMNS}xf32>, tensor<{ROWS}x{COLUMNS}xf32>
      }}"""
    want = dequantized(blocks, name)
    for pipeline in ("kv-reference", "kv-cpu"):
        artifact = compiled(text, pipeline)
        some = np.full((5, COLUMNS), np.nan, np.float32)
        whole = np.full((ROWS, COLUMNS), np.nan, np.float32)
        # Numbers outside stand for the nearest row.
        call(artifact, [packed(blocks, name), np.array([3, 0, -7, 47, 48], np.int32), some, whole])
        assert whole.tobytes() == want.tobytes(), shape
        assert some.tobytes() == want[[3, 0, 0, 47, 47]].tobytes()


@pytest.mark.parametrize("kind", (random_blocks, extreme_blocks))
@pytest.mark.parametrize("name", FORMATS)
def test_products(name, kind):
    rng = np.random.default_rng(2)
    blocks = kind(name, rng)
    x = (rng.standard_normal((TOKENS, COLUMNS)) * 3).astype(np.float32)
    x[1] = 0
    x[2, :64] = 1e-38  # too small for a scale
    x[3, 5] = 1e6
    x[4] = np.where(np.arange(COLUMNS) % 2, 127, -127)
    text, w = matmul([name], [ROWS]), packed(blocks, name)
    answers = {}
    for which, artifact in (("kv-reference", compiled(text, "kv-reference")), ("generic", compiled_generic(text)),
                            *((level, compiled(text, mcpu=level)) for level in LEVELS)):
        answers[which] = np.full((TOKENS, ROWS), np.nan, np.float32)
        call(artifact, [x, w, answers[which]])
        # A row alone, and rows in another number.
        for begin, end in ((0, 1), (4, 5), (3, 10), (1, 17), (3, 36), (9, 30)):
            part = np.full((end - begin, ROWS), np.nan, np.float32)
            call(artifact, [x[begin:end].copy(), w, part])
            assert part.tobytes() == answers[which][begin:end].tobytes()
    first = answers["kv-reference"]
    for which, answer in answers.items():
        assert answer.tobytes() == first.tobytes(), which
    exact, rows = dequantized(blocks, name).astype(np.float64), rounded_rows(x)
    size = np.abs(rows) @ np.abs(exact).T
    np.testing.assert_array_less(np.abs(first - rows @ exact.T), 2e-6 * size + 1e-30)


@pytest.mark.parametrize("name", FORMATS)
def test_more_columns_than_tiles_take_at_a_time(name):
    """Between parts of a row the sums are in the product."""
    rng = np.random.default_rng(10)
    blocks, text = random_blocks(name, rng, 32, 2304), matmul([name], [32], 2304)
    x = rng.standard_normal((TOKENS, 2304)).astype(np.float32)
    first = None
    for which, artifact in (("kv-reference", compiled(text, "kv-reference")),
                            *((level, compiled(text, mcpu=level)) for level in LEVELS[-2:])):
        out = np.full((TOKENS, 32), np.nan, np.float32)
        call(artifact, [x, packed(blocks, name), out])
        first = out if first is None else first
        assert out.tobytes() == first.tobytes(), which
    exact, rows = dequantized(blocks, name).astype(np.float64), rounded_rows(x)
    size = np.abs(rows) @ np.abs(exact).T
    np.testing.assert_array_less(np.abs(first - rows @ exact.T), 4e-6 * size)


def test_formats_in_one_product():
    """Of one input, in one parallel region: the bits of each alone, with any number of threads."""
    rng = np.random.default_rng(3)
    formats = ["q4_k", "q6_k", "q4_k", "q8_0", "q4_0", "i8", "f8e4m3"]
    widths = [64, 32, 64, 16, 160, 48, 32]
    weights = [packed(random_blocks(f, rng, n), f) for f, n in zip(formats, widths)]
    x = rng.standard_normal((TOKENS, COLUMNS)).astype(np.float32)
    artifact = compiled(matmul(formats, widths))
    together = None
    for threads in (1, 2, 3, 8):
        out = [np.full((TOKENS, n), np.nan, np.float32) for n in widths]
        assert call_runtime(artifact, [x, *weights, *out], threads) == (0, "")
        together = together or out
        assert [o.tobytes() for o in out] == [o.tobytes() for o in together]
    for format_, width, weight, got in zip(formats, widths, weights, together):
        alone = np.full((TOKENS, width), np.nan, np.float32)
        call(compiled(matmul([format_], [width])), [x, weight, alone])
        assert alone.tobytes() == got.tobytes()


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_no_number_stays_in_its_place(name):
    """A NaN scale spoils its column, a NaN or an infinity in a row that row."""
    rng = np.random.default_rng(4)
    blocks = random_blocks(name, rng)
    format_ = quant_blocks.FORMATS[name]
    blocks[7].view(format_.scale)[format_.scales[0]] = np.nan
    x = rng.standard_normal((6, COLUMNS)).astype(np.float32)
    x[2, 100], x[4, 7] = np.nan, np.inf
    answers = []
    for pipeline in ("kv-reference", "kv-cpu"):
        answers.append(np.zeros((6, ROWS), np.float32))
        call(compiled(matmul([name], [ROWS]), pipeline),
             [x, packed(blocks, name), answers[-1]])
    bad = np.zeros((6, ROWS), bool)
    bad[:, 7] = bad[[2, 4], :] = True
    for answer in answers:
        assert np.array_equal(~np.isfinite(answer), bad)
    assert answers[0][~bad].tobytes() == answers[1][~bad].tobytes()


@pytest.mark.parametrize("activations", ("i8", "f32"))
def test_a_linear_layer(activations):
    """What a front end writes; with f32 activations nothing is rounded, and a remark says what it
    costs."""
    text = f"""
      #lhs = affine_map<(m, n, k) -> (m, k)>
      #rhs = affine_map<(m, n, k) -> (n, k)>
      #out = affine_map<(m, n, k) -> (m, n)>
      module attributes {{kv.activations = {activations}}} {{
      func.func @f(%x: tensor<?x{COLUMNS}xf32>, %q: tensor<{ROWS}x{COLUMNS}x!kv.quant<q4_0>>
          {{kv.weight = "w"}}) -> tensor<?x{ROWS}xf32> attributes {{kv.entry}} {{
        %zero = arith.constant 0.0 : f32
        %c0 = arith.constant 0 : index
        %t = tensor.dim %x, %c0 : tensor<?x{COLUMNS}xf32>
        %empty = tensor.empty(%t) : tensor<?x{ROWS}xf32>
        %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x{ROWS}xf32>) -> tensor<?x{ROWS}xf32>
        %w = kv.dequantize %q : tensor<{ROWS}x{COLUMNS}x!kv.quant<q4_0>> -> tensor<{ROWS}x{COLUMNS}xf32>
        %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
            ins(%x, %w : tensor<?x{COLUMNS}xf32>, tensor<{ROWS}x{COLUMNS}xf32>)
            outs(%fill : tensor<?x{ROWS}xf32>) -> tensor<?x{ROWS}xf32>
        return %y : tensor<?x{ROWS}xf32>
      }}
      }}"""
    rng = np.random.default_rng(6)
    blocks = random_blocks("q4_0", rng)
    x = rng.standard_normal((TOKENS, COLUMNS)).astype(np.float32)
    exact = dequantized(blocks, "q4_0").astype(np.float64)
    rows = rounded_rows(x) if activations == "i8" else x.astype(np.float64)
    for pipeline in ("kv-reference", "kv-cpu"):
        out = np.full((TOKENS, ROWS), np.nan, np.float32)
        call(compiled(text, pipeline), [x, packed(blocks, "q4_0"), out])
        size = np.abs(rows) @ np.abs(exact).T
        np.testing.assert_array_less(np.abs(out - rows @ exact.T), 2e-6 * size)


def test_a_weight_that_cannot_be_packed(tmp_path):
    source = tmp_path / "m.mlir"
    source.write_text("""
      func.func @f(%w: tensor<24x64x!kv.quant<q8_0>>, %rows: tensor<?xi32>) -> tensor<?x64xf32>
          attributes {kv.entry} {
        %y = kv.dequantize %w rows(%rows)
            : tensor<24x64x!kv.quant<q8_0>>, tensor<?xi32> -> tensor<?x64xf32>
        return %y : tensor<?x64xf32>
      }""")
    done = subprocess.run([KV_COMPILE, source, "-o", tmp_path / "m.so"], text=True,
                          capture_output=True)
    assert done.returncode == 1
    assert "must be a static [N, K] with N a multiple of 16 and K one of 32" in done.stderr
