"""GGUF files of the other byte order, in parts, with odd keys and types; and files that are no files."""

import json
import os
import subprocess
import sys

import gguf
import numpy as np
import pytest

from import_mutants import keys_of, write_gguf
from kv_import import synthetic
from kv_import.cli import main
from tools import KV_IMPORT, quietly

Kind = gguf.GGUFValueType


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A file of F32, and what kv-import makes of it."""
    folder = tmp_path_factory.mktemp("gguf")
    config = synthetic.make_config("llama3")
    synthetic.write_gguf(folder / "m.gguf", config, synthetic.make_weights(config), dtype="F32")
    imported(folder / "m.gguf", folder / "out")
    return folder


def imported(path, out):
    status, _, error = quietly(main, path, "-o", out, "--name", "m")
    assert status == 0, error
    return (out / "weights.safetensors").read_bytes(), (out / "model.mlir").read_text()


def changed(made, path, keys=None, tensors=None, order=gguf.GGUFEndian.LITTLE):
    """The file with other keys, {name: (kind, value)}, and with some of its tensors."""
    reader = gguf.GGUFReader(made / "m.gguf")
    all_keys = keys_of(reader) | {name: ([kind], value) if not isinstance(value, list) else
                                  ([Kind.ARRAY, kind], value) for name, (kind, value) in (keys or {}).items()}
    write_gguf(path, all_keys, list(reader.tensors)[tensors or slice(None)], order)
    return path


def refused(path, *parts):
    status, _, message = quietly(main, path, "-o", path.parent / "refused")
    assert status == 1 and message.count("\n") == 1 and message.startswith("kv-import: "), message
    for part in parts:
        assert part in message, message


@pytest.mark.parametrize("dtype", ("F32", "F16", "BF16"))
def test_the_other_byte_order(made, tmp_path, dtype):
    config = synthetic.make_config("llama3")
    weights = synthetic.make_weights(config)
    results = []
    for name, order in (("little", gguf.GGUFEndian.LITTLE), ("big", gguf.GGUFEndian.BIG)):
        path = tmp_path / f"{name}.gguf"
        synthetic.write_gguf(path, config, weights, dtype=dtype)
        if name == "big":
            reader = gguf.GGUFReader(path)
            write_gguf(path := tmp_path / "swapped.gguf", keys_of(reader), reader.tensors, order)
            if dtype == "BF16":  # which the package writes as bytes
                swap_halves(path)
        results.append(imported(path, tmp_path / name))
    assert results[0] == results[1]


def swap_halves(path):
    reader = gguf.GGUFReader(path, "r+")
    for tensor in reader.tensors:
        if tensor.tensor_type.name == "BF16":
            tensor.data[...] = tensor.data.reshape(*tensor.data.shape[:-1], -1, 2)[..., ::-1].reshape(
                tensor.data.shape)
    reader.data.flush()


def test_types_that_nobody_widens(made, tmp_path):
    config = synthetic.make_config("llama")
    synthetic.write_gguf(tmp_path / "q.gguf", config, synthetic.make_weights(config), dtype="Q8_0")
    reader = gguf.GGUFReader(tmp_path / "q.gguf")
    write_gguf(tmp_path / "big.gguf", keys_of(reader), reader.tensors, gguf.GGUFEndian.BIG)
    refused(tmp_path / "big.gguf", "the type Q8_0; supported in a file of the other byte order (big-endian) are F32")
    tensor = reader.tensors[0]
    tensor = tensor._replace(name="odd", data=np.zeros((1, 18), np.uint8), tensor_type=gguf.GGMLQuantizationType.Q1_0)
    write_gguf(tmp_path / "q1.gguf", keys_of(reader), [*reader.tensors, tensor])
    refused(tmp_path / "q1.gguf", "the tensor odd has the type Q1_0, which the gguf package cannot dequantise")
    assert not (tmp_path / "refused").exists()


def part(made, folder, number, count, tensors, says=None, named=None):
    name = f"m-{named or number:05}-of-{count:05}.gguf"
    return changed(made, folder / name, {"split.no": (Kind.UINT16, (says or number) - 1),
                                         "split.count": (Kind.UINT16, count)}, tensors)


def test_parts(made, tmp_path):
    first = part(made, tmp_path, 1, 3, slice(0, 5))
    last = part(made, tmp_path, 3, 3, slice(9, None))
    refused(first, "is part 1 of 3 of a model; m-00002-of-00003.gguf is not beside it")
    middle = part(made, tmp_path, 2, 3, slice(5, 9))
    for given in (first, middle, last):
        assert imported(given, tmp_path / "out") == imported(made / "m.gguf", made / "out")
    sources = [each["file"] for each in json.loads((tmp_path / "out/model.json").read_text())["sources"]]
    assert sources == [path.name for path in (first, middle, last)]
    part(made, tmp_path, 2, 3, slice(4, 9))
    refused(first, "m-00002-of-00003.gguf: has the tensor", "which another part has, too")
    part(made, tmp_path, 2, 3, slice(5, 9), says=3)
    refused(first, "m-00002-of-00003.gguf: says that it is part 3 of 3")
    alone = first.rename(tmp_path / "alone.gguf")
    refused(alone, "alone.gguf: is part 1 of 3 of a model (split.count)", "-00001-of-00003.gguf")


TOKENIZER = "tokenizer.ggml."


@pytest.mark.parametrize("key, kind, value, sentence", (
    (TOKENIZER + "bos_token_id", Kind.UINT32, 99999, "bos_token_id is 99999; the vocabulary has 272 tokens"),
    (TOKENIZER + "bos_token_id", Kind.STRING, "x", "bos_token_id is 'x'; a token id is needed"),
    (TOKENIZER + "eos_token_id", Kind.INT32, -1, "eos_token_id is -1; a token id is needed"),
    (TOKENIZER + "tokens", Kind.UINT32, 5, "tokens is 5; a list of texts is needed"),
    (TOKENIZER + "token_type", Kind.UINT32, 5, "token_type is 5; a list of integers is needed"),
    (TOKENIZER + "token_type", Kind.STRING, ["a"] * 272, "token_type[0] is 'a'; a list of integers is needed"),
    (TOKENIZER + "token_type", Kind.FLOAT32, [1.0] * 272, "token_type[0] is 1.0; a list of integers is needed"),
    (TOKENIZER + "token_type", Kind.INT32, [1] * 9, "token_type has 9 entries for 272 tokens"),
    (TOKENIZER + "add_bos_token", Kind.UINT8, 1, "add_bos_token is 1; true or false is needed"),
    (TOKENIZER + "merges", Kind.STRING, ["a"], "no tokenizer can be made of the keys tokenizer.ggml.*: "),
    ("llama.block_count", Kind.FLOAT32, 2.0, "llama.block_count is 2.0; a positive integer"),
    ("llama.attention.head_count", Kind.INT32, [4, 4], "llama.attention.head_count is [4, 4]; a positive integer"),
    ("llama.rope.freq_base", Kind.FLOAT32, float("nan"), "llama.rope.freq_base is nan; a number above 1"),
    ("llama.attention.layer_norm_rms_epsilon", Kind.BOOL, True, "is True; a positive number"),
    ("llama.context_length", Kind.UINT64, 2**40, "llama.context_length is 1099511627776; a positive integer"),
    ("general.architecture", Kind.UINT32, 3, "general.architecture is 3; a text is needed"),
    ("split.count", Kind.STRING, "two", "split.count is 'two'; an integer from 0 on")))
def test_odd_keys(made, tmp_path, key, kind, value, sentence):
    refused(changed(made, tmp_path / "m.gguf", {key: (kind, value)}), sentence)


@pytest.mark.parametrize("value", (0.0, -1.0, float("nan"), float("inf")))
def test_odd_factors_of_frequencies(made, tmp_path, value):
    reader = gguf.GGUFReader(changed(made, tmp_path / "m.gguf"), "r+")
    next(t for t in reader.tensors if t.name == "rope_freqs.weight").data[3] = value
    reader.data.flush()
    refused(tmp_path / "m.gguf", "the tensor rope_freqs.weight holds", "positive numbers are needed")


def test_special_tokens_in_one_call():
    """6,000 of them took 18 s one at a time."""
    script = ("import sys, time; from kv_import.readers.gguf_tokenizer import build_tokenizer; n = 20000\n"
              "tokens = [*'abc', *(f'<|{i}|>' for i in range(n))]\n"
              "made = build_tokenizer('x', dict(model='gpt2', pre='gpt-2', tokens=tokens, merges=[],"
              " token_type=[1] * 3 + [3] * n))\n"
              "assert made.encode('a<|19999|>').ids == [0, n + 2]; print(time.process_time())")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100,
                          env={**os.environ, "PYTHONPATH": str(KV_IMPORT.parent)})
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 20


def test_pipes(tmp_path):
    """Nobody waits for what never comes."""
    config = synthetic.make_config("llama")
    os.mkfifo(tmp_path / "m.gguf")
    refused(tmp_path / "m.gguf", "m.gguf: not a regular file")
    weights = synthetic.make_weights(config)
    for name in ("config.json", "generation_config.json", "tokenizer_config.json", "tokenizer.json",
                 "chat_template.jinja", "model.safetensors", "model.safetensors.index.json"):
        folder = tmp_path / name.replace(".", "_")
        synthetic.write_hf(folder, config, weights)
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
        refused(folder, f"{name}: not a regular file")


def test_what_it_needs(made, tmp_path):
    """Said before the work; weights without kernels with their bytes."""
    _, said, _ = quietly(main, made / "m.gguf", "-o", tmp_path / "out", "--dtype", "f32")
    size = (tmp_path / "out/weights.safetensors").stat().st_size
    first = said.splitlines()[0]
    assert first.startswith(f"m needs {size / 1e6:.1f} MB of disk, as much memory where it runs, and ")
    # Two layers of two heads of 16 elements, keys and values, in f32.
    assert first.endswith(f"{2 * 2 * 2 * 16 * 4 * 1000 / 1e6:.1f} MB of cache per 1,000 tokens (f32)")
    config = synthetic.make_config("llama", hidden=256)
    synthetic.write_gguf(tmp_path / "q.gguf", config, synthetic.make_weights(config), dtype="Q5_0")
    _, _, notes = quietly(main, tmp_path / "q.gguf", "-o", tmp_path / "out")
    elements = (272 + 2 * (64 + 32 + 32 + 64 + 3 * 128)) * 256
    assert (f"which has no kernels (the first: token_embd.weight), are stored dense: {elements * 2 / 1e6:.1f} MB "
            f"instead of {elements // 32 * 22 / 1e6:.1f}") in notes
