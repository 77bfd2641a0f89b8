"""Models that an exporter writes as a graph without a cache, which kv-raise gives one."""

import dataclasses
import os
import re
import subprocess
import tempfile
from pathlib import Path

from ..model.errors import ImportFailure
from ..readers.hf_reader import read_json
from .programs import ROOT, first_error, how_it_ended, output_of, program
from .raise_check import check_raised, check_runs
from .raised_weights import write_raised_weights
from ..model.schema import AnyModel, checked
from ..readers.text_side import write_text_side

EXPORTERS = ROOT / "tools/kv-import/exporters"
LONGEST = 2048  # of a model that does not say
REFUSED = 3  # the status of an exporter whose last line is one sentence about the model


@dataclasses.dataclass
class Facts:
    """What model.json says of a model; `vocab` is None until the graph is written."""
    name: str
    architecture: str
    vocab: int | None
    max_seq: int


class TorchSource:
    """A Hugging Face folder of any architecture that transformers knows."""
    script, needs = "torch_export.py", "PyTorch and torch-mlir"

    def __init__(self, folder, options):
        self.path = str(folder)
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ImportFailure(f"{folder}: no such folder; --from torch needs a Hugging Face folder")
        if options.tensors:
            raise ImportFailure(f"--tensors {options.tensors}: a Hugging Face folder has its weights")
        self.raw = read_json(self.folder / "config.json")
        self.files = [str(self.folder / "config.json"),
                      *map(str, sorted(self.folder.glob("*.safetensors")))]
        text = self.raw.get("text_config")
        facts = checked(AnyModel, {**self.raw, **(text if isinstance(text, dict) else {})},
                        self.folder / "config.json")
        most = facts.get("max_position_embeddings") or facts.get("n_positions") or LONGEST
        if options.max_seq is not None and not 1 < options.max_seq <= most:
            raise ImportFailure(f"--max-seq {options.max_seq}: {self.folder.name} takes 2 to {most} "
                                "tokens")
        self.config = Facts(options.name or self.folder.name, facts.get("model_type", "unknown"),
                            facts.get("vocab_size"), options.max_seq or most)


class FileSource:
    """A file that somebody has exported; without a tokenizer."""
    folder = None

    def __init__(self, path, options):
        self.path, self.files = str(path), [str(path)]
        if not Path(path).is_file():
            raise ImportFailure(f"{path}: no such file; --from {options.source} needs {self.takes}")
        beside = Path(path).with_suffix(".safetensors")
        if not options.tensors and beside.exists():
            options.tensors = str(beside)
        if options.max_seq is not None and options.max_seq < 2:
            raise ImportFailure(f"--max-seq {options.max_seq}: 2 tokens at least are needed")
        self.config = Facts(options.name or Path(path).stem, options.source, None,
                            options.max_seq or LONGEST)


class JaxSource(FileSource):
    """StableHLO as jax.export writes it."""
    script, needs, takes = "stablehlo_export.py", "torch-mlir", "StableHLO that jax.export has written"


class OnnxSource(FileSource):
    """An ONNX model of one sequence."""
    script, needs, takes = "onnx_export.py", "onnx and torch-mlir", "an ONNX model"


SOURCES = {"torch": TorchSource, "jax": JaxSource, "onnx": OnnxSource}


def find_exporter(source):
    """The Python that has exporters/SOURCE.txt installed; None where there is none."""
    built = "build/exporters" if source == "torch" else f"build/exporters-{source}"
    python = os.environ.get("KV_EXPORTER_PYTHON", ROOT / built / "bin/python")
    return str(python) if os.access(python, os.X_OK) else None


def exporter_python(source):
    if python := find_exporter(source):
        return python
    raise ImportFailure(f"--from {source} needs {SOURCES[source].needs}: python3 -m venv DIR; DIR/bin/pip "
                        f"install -r {EXPORTERS / source}.txt; export KV_EXPORTER_PYTHON=DIR/bin/python")


def export(source, options, folder):
    """FOLDER/graph.mlir, and FOLDER/weights.safetensors where their values are known."""
    command = [exporter_python(options.source), str(EXPORTERS / source.script), source.path, "-o",
               str(folder), "--name", source.config.name, "--max-seq", str(source.config.max_seq)]
    if options.tensors:
        command += ["--tensors", options.tensors]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == REFUSED:
        raise ImportFailure(f"{source.path}: {first_error(done.stderr)}")
    if done.returncode != 0:
        raise ImportFailure(f"{source.path}: the exporter gave up: {how_it_ended(done)}")
    return folder / "graph.mlir", folder / "weights.safetensors"


def run_exporter(options):
    source = SOURCES[options.source](options.model, options)
    for name in ("kv-opt", "kv-compile", "kv-run"):
        program(name)  # before minutes of work
    options.output.mkdir(parents=True, exist_ok=True)
    # In the output's folder: the file of weights may be larger than what is elsewhere.
    with tempfile.TemporaryDirectory(prefix=".export-", dir=options.output) as folder:
        _raise_graph(source, options, *export(source, options, Path(folder)))


def _raise_graph(source, options, graph, exported):
    """The output's files from those of the exporter."""
    config, module = source.config, options.output / "model.mlir"
    weights = options.output / "weights.safetensors"
    if config.vocab is None:
        config.vocab = vocabulary_of(graph)
    if options.check and not exported.exists():
        raise ImportFailure("--check needs the weights: --tensors FILE.safetensors")
    write_text_side(options.output, source, config, options)
    output_of([program("kv-opt"), "--allow-unregistered-dialect",
               f"--kv-raise=dtype={options.dtype} weights={options.dtype} page={options.page} tables=true",
               graph, "-o",
               module], f"{source.path}: kv-raise")
    if options.check:  # in f32: of the graph, before anything is rounded
        checked = check_raised(graph, exported, config.vocab, config.max_seq)
    if exported.exists():
        write_raised_weights(exported, weights, module)
        check_runs(module, weights)
    else:
        weights.unlink(missing_ok=True)
    print(f"{config.name}: {config.architecture}, raised from a graph, {options.dtype}, at most "
          f"{config.max_seq} tokens -> {options.output}")
    if options.check:
        print(checked)
    if not exported.exists():
        print(f"weights: none, a safetensors file with the kv.weight names of {module} is needed")


def vocabulary_of(graph):
    """The exporters write it into kv.model."""
    with open(graph, encoding="utf-8") as file:
        for line in file:
            if found := re.search(r"vocab_size = (\d+) : i64", line):
                return int(found[1])
    raise ImportFailure(f"{graph}: says no vocab_size")
