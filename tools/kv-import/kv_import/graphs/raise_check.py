"""--check: a raised module beside the graph that it was made of, both compiled and executed.

The graph is compiled by the reference pipeline as an entry without a cache, the module with a cache
of f32; prompts are cut into chunks of several sizes. Logits must be the graph's within LIMIT of the
largest, and their bits the same for all cuts."""

import json
import random
import sys
import tempfile
from pathlib import Path

from ..model.errors import ImportFailure
from .programs import ROOT, output_of, program
from .raised_weights import write_raised_weights

LIMIT = 1e-4
LENGTHS = (1, 2, 17, 50)
CHUNKS = (256, 7, 1)


def ran(command, what, **options):
    output_of(command, f"--check: {what}", **options)


def check_runs(module, weights):
    """Whether the module and its weights give a token, which is what an import is for."""
    request = json.dumps({"id": "a", "tokens": [0], "max_new_tokens": 1}) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        artifact = Path(folder) / "model.so"
        output_of([program("kv-compile"), "-O0", module, "-o", artifact], "kv-compile of the imported module")
        said = output_of([program("kv-run"), artifact, "--weights", weights],
                         "a run of one token of the imported module", input=request)
    if '"token":' not in said:
        raise ImportFailure(f"a run of one token of the imported module gave none: {said.strip()[:200]}")


def _compiled(graph, folder, name, pipeline, *options):
    module, artifact = folder / f"{name}.mlir", folder / f"{name}.so"
    ran([program("kv-opt"), "--allow-unregistered-dialect", pipeline, graph, "-o", module],
         "kv-opt")
    # Bits are the same at every level of LLVM's optimisation, which is most of what compiling takes.
    ran([program("kv-compile"), "-O0", module, "-o", artifact, *options], "kv-compile")
    return artifact


def _graph_logits(artifact, weights, prompts):
    sys.path.append(str(ROOT / "build/release/python"))
    try:
        import kvmlir
        import numpy
    except ImportError as error:
        raise ImportFailure(f"--check needs the Python packages numpy and kvmlir: {error}")
    model = kvmlir.load(artifact, weights)
    rows = []
    for prompt in prompts:
        result = model.execute({"tokens": numpy.array(prompt, numpy.int32)})
        rows.append(numpy.from_dlpack(result["logits"]).copy())
    return numpy.concatenate(rows)


def cached_logits(artifact, weights, prompts, chunk, vocab, folder):
    """f32 [tokens, vocab] of all prompts, at most `chunk` tokens a step."""
    import numpy
    requests = "".join(json.dumps({"id": str(i), "tokens": prompt, "max_new_tokens": 1}) + "\n"
                       for i, prompt in enumerate(prompts))
    ran([program("kv-run"), artifact, "--weights", weights, "--dump-logits", folder / "logits",
          "--max-batch-tokens", chunk], "kv-run", input=requests)
    return numpy.fromfile(folder / "logits", numpy.float32).reshape(-1, vocab)


def check_raised(graph, weights, vocab, max_seq):
    """One sentence that says how near the two are; a failure where they are not."""
    chosen = random.Random(1)
    prompts = [[chosen.randrange(vocab) for _ in range(length)]
               for length in LENGTHS if length < max_seq]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = _compiled(graph, folder, "plain", "--kv-plain", "--pipeline", "kv-reference")
        cached = _compiled(graph, folder, "cached", "--kv-raise=dtype=f32 page=16 tables=true")
        expected = _graph_logits(plain, weights, prompts)
        write_raised_weights(weights, folder / "weights", folder / "cached.mlir")
        runs = [cached_logits(cached, folder / "weights", prompts, chunk, vocab, folder) for chunk in CHUNKS]
    largest = float(abs(expected).max())
    gap = max(float(abs(run - expected).max()) for run in runs)
    if not gap <= LIMIT * largest:
        raise ImportFailure(f"--check: logits differ from the graph's by {gap:.1e}, the largest is "
                            f"{largest:.1e}: the raised module is wrong")
    if any(run.tobytes() != runs[0].tobytes() for run in runs):
        raise ImportFailure("--check: logits have other bits when prompts are cut otherwise")
    return (f"checked: {len(expected)} rows of logits within {gap / largest:.1e} of the graph's, equal "
            f"bits in chunks of {', '.join(map(str, CHUNKS))}")
