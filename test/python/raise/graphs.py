"""Graphs without a cache, raised and plain, executed and compared: for test_raise.py."""

import json
import os
import re
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import host
from tools import ROOT, find, manifest

STORED = ROOT / "test/data/raise"


def opt(text, *options):
    """(Module, or None when it is refused; what was printed as errors)."""
    done = subprocess.run([find("kv-opt"), "--allow-unregistered-dialect", *options, "-"],
                          input=text, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), (done.returncode, done.stderr[-2000:])
    return (done.stdout if done.returncode == 0 else None), done.stderr


def compiled(module, path, *options):
    source = Path(path).with_suffix(".mlir")
    source.write_text(module)
    subprocess.run([find("kv-compile"), source, "-o", path, *options], check=True,
                   capture_output=True, timeout=300)
    return path


def raised(text, path, *options):
    module, errors = opt(text, "--kv-raise=dtype=f32 page=4")
    assert module is not None, errors
    return compiled(module, path, *options)


def imported(text, folder, weights, options):
    """model.mlir and weights.safetensors in a folder, as kv-import makes them of a graph and its f32 weights."""
    from kv_import.graphs.raised_weights import write_raised_weights
    module, errors = opt(text, f"--kv-raise={options} tables=true")
    assert module is not None, errors
    (folder / "model.mlir").write_text(module)
    write_weights(folder / "exported", weights)
    write_raised_weights(folder / "exported", folder / "weights.safetensors", folder / "model.mlir")
    return module


def widened(text, sizes, last):
    """A graph of the same model whose static sizes are others: those of `last` at a shape's end."""
    def resized(word, at_end):
        size = word.strip()
        table = last if at_end and size in last else sizes
        return word.replace(size, table[size]) if size in table else word

    def shape(match):
        words = re.split("([x,])", match[2])
        sizes = [i for i in range(0, len(words), 2) if not re.search("^(b?f|i)[0-9]", words[i])]
        for i in sizes:
            words[i] = resized(words[i], i == sizes[-1])
        return match[1] + "".join(words) + match[3]

    for shapes in (r"(tensor<)([0-9?x]+x(?:b?f[0-9]+|i32))(>)", r"(output_shape \[)([^\]]*)(\])",
                   r"(extract_slice [^\[]*\[)([^\]]*)(\])", r"(extract_slice [^\[]*\[[^\]]*\] \[)([^\]]*)(\])"):
        text = re.sub(shapes, shape, text)
    return re.sub(r"((?:arith.constant (?:dense<)?|scale = ))([0-9.e+-]+)(>? : (?:tensor<)?(?:i64|i32|index|f32|f64)\b)",
                  lambda found: found[1] + sizes.get(found[2], found[2]) + found[3], text)


def plain(text, path, *options):
    module, errors = opt(text, "--kv-plain")
    assert module is not None, errors
    return compiled(module, path, "--pipeline", "kv-reference", "-O0", *options)


def weights_of(artifact, seed=1):
    """Random weights for an artifact, by their names; angles of rotations as models have them."""
    random, weights = np.random.default_rng(seed), {}
    for each in manifest(artifact)["entries"][0]["inputs"]:
        if each["kind"] != "weight":
            continue
        shape = each["shape"]
        if each.get("layout") == "n16k":
            shape = [shape[0] * 16, shape[1]]
        if "inv_freq" in each["name"]:
            weights[each["name"]] = (10000.0 ** (-np.arange(shape[0]) / shape[0])).astype(np.float32)
        else:
            # Large biases, final ones above all, would hide the tokens.
            spread = 1.5 / shape[-1] ** 0.5 if len(shape) > 1 else 0.1 if each["name"].endswith(".b") else 1
            weights[each["name"]] = np.asarray(random.standard_normal(shape) * spread, np.float32)
    return weights


def write_weights(path, weights):
    """A safetensors file of f32 and bf16."""
    header, data = {}, b""
    for name, tensor in weights.items():
        begin = len(data)
        data += tensor.tobytes()
        header[name] = {"dtype": "F32" if tensor.dtype == np.float32 else "BF16", "shape": list(tensor.shape),
                        "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_weights(path):
    """The f32 tensors of a file that write_weights has written."""
    data = Path(path).read_bytes()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    return {name: np.frombuffer(data[begin:], np.float32, (last - first) // 4, first).reshape(row["shape"])
            for name, row in json.loads(data[8:begin]).items() for first, last in [row["data_offsets"]]}


def as_wanted(weight, argument):
    """A weight of a file in the form and layout of an artifact's argument."""
    if stored := argument.get("stored"):
        columns = argument["shape"][1]
        weight = np.ascontiguousarray(weight.transpose(stored["order"]).reshape(-1, columns))
    if argument.get("layout") != "n16k":
        return weight
    rows, columns = weight.shape
    return np.ascontiguousarray(weight.reshape(rows // 16, 16, columns).transpose(0, 2, 1))


def plain_logits(artifact, weights, prompt):
    """f32 [T, vocabulary]: the graph itself on a whole prompt."""
    entry = manifest(artifact)["entries"][0]
    arrays = [np.array(prompt, np.int32) if each["name"] == "tokens" else
              as_wanted(weights[each["name"]], each) for each in entry["inputs"]]
    out = np.full((len(prompt), entry["outputs"][0]["shape"][1]), np.nan, np.float32)
    status, message = host.call_runtime(artifact, [*arrays, out], entry="forward")
    assert status == 0, message
    return out


def cached_logits(artifact, weights_file, prompts, chunk, vocab):
    """f32 [tokens, vocabulary] of all prompts, in chunks of at most `chunk` tokens."""
    requests = "".join(json.dumps({"id": str(i), "tokens": prompt, "max_new_tokens": 1}) + "\n"
                       for i, prompt in enumerate(prompts))
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "logits")
        done = subprocess.run([find("kv-run"), artifact, "--weights", weights_file, "--dump-logits", dump,
                               "--max-batch-tokens", str(chunk)], input=requests,
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return np.fromfile(dump, np.float32).reshape(-1, vocab)


def stored(name):
    """The text of a stored graph, which is bytecode."""
    done = subprocess.run([find("kv-opt"), "--allow-unregistered-dialect", STORED / f"{name}.mlirbc"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines_with(text, pattern):
    """Numbers of the lines that match."""
    return [i for i, line in enumerate(text.splitlines()) if re.search(pattern, line)]
