"""A model through its own PyTorch code: exported without a cache, and given one by kv-raise."""

import dataclasses
import os
import subprocess
from pathlib import Path

from .errors import ImportFailure
from .hf_reader import read_json
from .programs import ROOT, program
from .raise_check import check_raised
from .text_side import write_text_side

EXPORTERS = ROOT / "tools/kv-import/exporters"


@dataclasses.dataclass
class Facts:
    """What model.json says of a model."""
    name: str
    architecture: str
    vocab: int
    max_seq: int


class TorchSource:
    """A Hugging Face folder of any architecture that transformers knows."""

    def __init__(self, folder, options):
        self.path = str(folder)
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ImportFailure(f"{folder}: no such folder; --from torch needs a Hugging Face folder")
        self.raw = read_json(self.folder / "config.json")
        self.files = [str(self.folder / "config.json"),
                      *map(str, sorted(self.folder.glob("*.safetensors")))]
        facts = {**self.raw, **self.raw.get("text_config", {})}
        most = facts.get("max_position_embeddings") or facts.get("n_positions") or 2048
        if options.max_seq is not None and not 1 < options.max_seq <= most:
            raise ImportFailure(f"--max-seq {options.max_seq}: {self.folder.name} takes 2 to {most} "
                                "tokens")
        self.config = Facts(options.name or self.folder.name, facts.get("model_type", "unknown"),
                            facts.get("vocab_size"), options.max_seq or most)


def exporter_python():
    """The Python that has exporters/torch.txt installed."""
    named = os.environ.get("KV_EXPORTER_PYTHON")
    for python in (named, ROOT / "build/exporters/bin/python"):
        if python and os.access(python, os.X_OK):
            return str(python)
    raise ImportFailure("--from torch needs PyTorch and torch-mlir: python3 -m venv DIR; DIR/bin/pip "
                        f"install -r {EXPORTERS / 'torch.txt'}; export KV_EXPORTER_PYTHON=DIR/bin/python")


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if " error: " in line]
    return (errors or lines or ["no message"])[0 if errors else -1].strip()


def run_torch(options):
    source = TorchSource(options.model, options)
    python, opt = exporter_python(), program("kv-opt")
    options.output.mkdir(parents=True, exist_ok=True)
    write_text_side(options.output, source, source.config, options)
    done = subprocess.run([python, str(EXPORTERS / "torch_export.py"), options.model, "-o",
                           str(options.output), "--name", source.config.name, "--max-seq",
                           str(source.config.max_seq)], capture_output=True, text=True)
    if done.returncode != 0:
        raise ImportFailure(f"{source.path}: the exporter gave up: {last_line(done.stderr)}")
    graph = options.output / "graph.mlir"
    raised = subprocess.run([opt, "--allow-unregistered-dialect",
                             f"--kv-raise=dtype={options.dtype} page={options.page}", str(graph), "-o",
                             str(options.output / "model.mlir")], capture_output=True, text=True)
    if raised.returncode != 0:
        raise ImportFailure(f"{source.path}: {last_line(raised.stderr)}")
    print(f"{source.config.name}: {source.config.architecture}, raised from {graph}, f32, at most "
          f"{source.config.max_seq} tokens -> {options.output}")
    if options.check:
        print(check_raised(graph, options.output / "weights.safetensors", source.config.vocab,
                           source.config.max_seq))
