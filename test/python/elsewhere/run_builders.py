"""run_builders.py: the example of README.md, built with the bindings in the wheels of IREE and torch-mlir (builders.txt, in
build/builders), is the module that kv-opt reads from README.md; compiled, it computes attention."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PACKAGES = ("iree.compiler", "torch_mlir")
ENTRY = """
  func.func @forward(%q: tensor<?x9x64xf32> {kv.dims = ["T"]}, %k: tensor<?x3x64xf32> {kv.dims = ["T"]},
                     %v: tensor<?x3x64xf32> {kv.dims = ["T"]}, %kv: !kv, %rows: tensor<?xi32>)
      -> (tensor<?x9x64xf32> {kv.dims = ["T"]}) attributes {kv.entry} {
    %layer = arith.constant 2 : index
    %o = call @attend(%q, %k, %v, %kv, %layer, %rows)
        : (tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>, !kv, index, tensor<?xi32>) -> tensor<?x9x64xf32>
    return %o : tensor<?x9x64xf32>
  }
}"""


def canonical(text):
    from tools import find
    return subprocess.run([find("kv-opt")], input=text, text=True, check=True, capture_output=True).stdout


def check_numbers(text):
    """One sequence of five rows, through an entry that calls the function; keys are rounded to the cache's bf16."""
    import kvmlir
    from host import rounded
    with tempfile.TemporaryDirectory() as folder:
        model = kvmlir.load(kvmlir.compile(text, Path(folder) / "attend.so"))
        manager = model.create_manager(1, 128, num_pages=4, warn=False)
        request = kvmlir.TextGenerationContext(range(5))
        manager.claim(request.request_id)
        manager.alloc(request)
        manager.get_runtime_inputs([request])
        random = np.random.default_rng(3)
        q, k, v = (random.standard_normal((5, heads, 64), np.float32) for heads in (9, 3, 3))
        names = [one.name for one in model.manifest.entries["forward"].inputs if one.kind == "input"]
        given = dict(zip(names, (q, k, v, np.array([0, 5], np.int32)), strict=True))
        out = model.execute(given, manager=manager)
        computed = next(iter(out.values())).numpy()
    k, v = (np.repeat(rounded(x, "bf16")[1], 3, axis=1).astype(np.float64) for x in (k, v))
    scores = np.einsum("thd,shd->hts", q, k) * 0.125 + np.where(np.tri(5), 0, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    wanted = np.einsum("hts,shd->thd", weights / weights.sum(axis=2, keepdims=True), v)
    assert np.abs(computed - wanted).max() < 1e-5, np.abs(computed - wanted).max()


def main():
    from tools import pinned_environment
    python = pinned_environment(HERE / "builders.txt", ROOT / "build/builders")
    example = re.search(r"```mlir\n(!kv = .*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    wanted = canonical(example)
    for package in PACKAGES:
        built = subprocess.run([python, HERE / "use_builders.py", package], check=True, text=True,
                               stdout=subprocess.PIPE,
                               env={**os.environ, "PYTHONPATH": str(ROOT / "build/release/python")}).stdout
        assert canonical(built) == wanted, canonical(built)
        collection = example.split("\n")[0] + "\n"
        check_numbers(collection + built.rstrip().removesuffix("}") + ENTRY)
        print(f"{package}: the module of README.md, and its numbers")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    import conftest  # noqa: F401  where the packages are
    main()
