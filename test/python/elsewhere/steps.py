"""Steps of a small model by kv-mlir, as another compiler takes them: arguments by their names, and the logits."""

import re
import subprocess

import ml_dtypes
import numpy as np

import kvmlir
from kv_import import synthetic
from kv_import.weights.weights_writer import unpack_n16k
from test_weights import read_file
from tools import KV_IMPORT, QUICK, find, run

PROMPTS = (5, 1, 37)  # the page holds 16
TURNS = 3


def imported(path, kind, dtype):
    """A folder with model.mlir, model.so and weights."""
    config = synthetic.make_config(kind)
    synthetic.write_hf(path / "hf", config, synthetic.make_weights(config, seed=7))
    done = run(KV_IMPORT, path / "hf", "-o", path / "model", "--page", "16", "--dtype", dtype,
               "--keep-all")
    assert done.returncode == 0, done.stderr
    kvmlir.compile(path / "model", layout="nhd", options=(QUICK,))
    return path / "model"


def lowered(folder, target, *options):
    """The text of kv-to-attention in generic form, which every version of MLIR reads."""
    return subprocess.run(
        [find("kv-opt"), f"--kv-to-attention=target={target}", "--allow-unregistered-dialect",
         "--mlir-print-op-generic", *options, folder / "model.mlir"], check=True, text=True, capture_output=True).stdout


def argument_names(text):
    """Of the entry, in their order."""
    attributes = re.search(r"arg_attrs = \[(.*?)\], function_type", text, re.S)[1]
    return re.findall(r'kv\.(?:name|weight) = "([^"]+)"', attributes)


def weights(folder):
    """As the module has them: {name: array}."""
    metadata, stored = read_file(folder / "weights.safetensors")
    found = {}
    for name, (kind, values) in stored.items():
        values = unpack_n16k(values) if metadata.get(f"layout.{name}") == "n16k" else values
        found[name] = values.view(ml_dtypes.bfloat16) if kind == "BF16" else values
    return found


def own_steps(folder):
    """Yields (arguments, logits) of each step: three prompts, then their next tokens and, once, a fourth prompt. The
    blocks are among the arguments of the first step only. They hold NaN: nothing may be read that was not stored."""
    model = kvmlir.load(folder, num_threads=2)
    manager = model.create_manager(4, num_pages=40, warn=False)
    forward = model.prepare("forward")
    forward.set_manager(manager)
    random = np.random.default_rng(5)
    contexts = []
    names = [one["name"] for one in model.manifest.collections]
    for turn in range(TURNS):
        for count in PROMPTS if turn == 0 else (20,) * (turn == 1):
            contexts.append(kvmlir.TextGenerationContext(random.integers(0, 256, count)))
            manager.claim(contexts[-1].request_id)
        manager.alloc_batch(contexts)
        given = {}
        for name, inputs in zip(names, manager.get_runtime_inputs(contexts), strict=True):
            if turn == 0:
                dtype = {2: ml_dtypes.bfloat16, 4: np.float32}[inputs.blocks.dtype.size_in_bytes]
                given[f"{name}.blocks"] = np.full(inputs.blocks.shape, np.nan, dtype)
            for component in ("cache_lengths", "lookup_table", "max_lengths"):
                given[f"{name}.{component}"] = getattr(inputs, component).numpy().copy()
        active = [one.tokens[one.processed_length:] for one in contexts]
        offsets = np.cumsum([0, *map(len, active)], dtype=np.int32)
        given |= {"tokens": np.concatenate(active).astype(np.int32), "row_offsets": offsets,
                  "logit_rows": np.arange(offsets[-1], dtype=np.int32)}
        for name in ("tokens", "row_offsets", "logit_rows"):
            forward.bind(name, given[name])
        forward.execute()
        logits = forward.output("logits").numpy().copy()
        yield given, logits
        kvmlir.update_batch(contexts, logits[offsets[1:] - 1].argmax(axis=1).astype(np.int32))
        manager.step(contexts)


def gap(logits, wanted):
    """The largest difference, as a part of the largest logit; NaN if a logit is NaN."""
    return float(np.max([np.abs(one - other).max() for one, other in zip(logits, wanted, strict=True)])
                 / max(np.abs(one).max() for one in wanted))
