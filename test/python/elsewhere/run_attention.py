"""run_attention.py TARGET [KIND:DTYPE...]: modules of kv-to-attention=target=TARGET, compiled and run by the wheels of IREE
or torch-mlir, give the logits of kv-mlir. Without kinds: models of two layers of each kind that is known to run."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# A bf16 cache rounds keys and values whose last bits differ.
MOST = {"f32": 1e-5, "bf16": 3e-3}
CASES = ("llama:f32", "llama:bf16", *(f"{kind}:f32" for kind in (
    "gemma3", "granite", "mistral", "phi3", "qwen2", "qwen3", "qwen3_moe")))
# What is installed where, what runs the module, and what must be in it.
TARGETS = {"iree": ("iree.txt", "build/iree", "use_iree.py", "iree_linalg_ext.attention"),
           "tm_tensor": ("builders.txt", "build/builders", "use_torch_mlir.py", "tm_tensor.attention")}


def compare(python, target, kind, dtype):
    from elsewhere import steps
    _, _, program, operation = TARGETS[target]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        model = steps.imported(folder, kind, dtype)
        text = steps.lowered(model, target)
        assert f'"{operation}"(' in text
        (folder / "m.mlir").write_text(text)
        given = {"names": steps.argument_names(text), "steps": steps.TURNS, **steps.weights(model)}
        wanted = []
        for step, (arguments, logits) in enumerate(steps.own_steps(model)):
            given |= {f"{step}:{name}": value for name, value in arguments.items()}
            wanted.append(logits)
        np.savez(folder / "steps.npz", given=np.array(given, dtype=object))
        subprocess.run([python, HERE / program, folder / "m.mlir", folder / "steps.npz", folder / "out.npz"],
                       check=True)
        out = np.load(folder / "out.npz")
        gap = steps.gap([out[str(step)] for step in range(steps.TURNS)], wanted)
        largest = max(np.abs(one).max() for one in wanted)
        print(f"{kind}, {dtype}: {sum(map(len, wanted))} rows of logits, the largest {largest:.1f}, differ by "
              f"{gap:.1e} of it at most, allowed: {MOST[dtype]:.0e}", flush=True)
        return gap <= MOST[dtype]  # not so for NaN


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    import conftest  # noqa: F401  where the packages are
    from tools import pinned_environment
    target, *cases = sys.argv[1:]
    requirements, folder, *_ = TARGETS[target]
    python = pinned_environment(HERE / requirements, ROOT / folder)
    results = [compare(python, target, *case.split(":")) for case in cases or CASES]
    sys.exit(not all(results))
