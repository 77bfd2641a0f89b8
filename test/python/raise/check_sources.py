"""Models of exporters other than PyTorch's, through `kv-import --from SOURCE --check` and compared with
the framework itself, on random small weights. Run by scripts/check-raise.sh in the source's environment.

    python check_sources.py jax|onnx [NAME...]

A model passes when --check does (equal to its graph at every cut, equal bits among cuts), and the
logits of every prompt position are within LIMIT of the framework's relative to the largest, with equal
argmax. With KV_KEEP what is made stays in that folder."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/kv-import"), str(ROOT / "test/python")]
os.environ.setdefault("KV_EXPORTER_PYTHON", sys.executable)
from kv_import.graphs import raise_check  # noqa: E402
from kv_import.model.errors import ImportFailure  # noqa: E402
from each_model import check_each  # noqa: E402
from tools import KV_IMPORT, find  # noqa: E402

LIMIT = 1e-4
LENGTHS = (1, 2, 17, 50)


def check(source, models, name, folder):
    """(Sentence, whether it passes)."""
    weights = models.parameters(name)
    file = models.write(name, weights, folder)
    if source == "jax":
        save_file(weights, folder / f"{name}.safetensors")
    done = subprocess.run([ROOT / ".venv/bin/python", KV_IMPORT, "--from", source, file, "-o",
                           folder / "model", "--check", "--max-seq", str(models.MAX), "--page", "16",
                           "--dtype", "f32"], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        return done.stderr.strip(), False
    random = np.random.default_rng(3)
    prompts = [random.integers(0, models.VOCAB, length).tolist() for length in LENGTHS]
    expected = np.concatenate([models.logits(name, weights, each) for each in prompts])
    artifact = folder / "model.so"
    raise_check.ran([find("kv-compile"), folder / "model/model.mlir", "-o", artifact], "kv-compile")
    got = raise_check.cached_logits(artifact, folder / "model/weights.safetensors", prompts, 7,
                                    models.VOCAB, folder)
    gap = float(np.abs(got - expected).max() / np.abs(expected).max())
    same = int((got.argmax(1) == expected.argmax(1)).sum())
    varied = len(set(expected.argmax(1).tolist())) > 4
    return (f"{done.stdout.splitlines()[-1]}; within {gap:.1e} of the framework's, argmax of {same} of "
            f"{len(expected)} rows", gap < LIMIT and same == len(expected) and varied)


def main():
    source, names = sys.argv[1], sys.argv[2:]
    models = importlib.import_module(f"{source}_models")
    names = names or list(models.MODELS)
    unknown = [name for name in names if name not in models.MODELS]
    if unknown:
        sys.exit(f"check-raise: {unknown[0]!r} is none of {', '.join(models.MODELS)}")

    def verdict(name, folder):
        try:
            return check(source, models, name, folder)
        except ImportFailure as failure:
            return str(failure), False

    check_each(names, verdict)


if __name__ == "__main__":
    main()
