"""use_iree.py MODULE STEPS.npz OUT.npz: compiles MODULE for this CPU, and runs its entry once for each step. STEPS has
`names`, those of the arguments in order, the number of `steps`, and each argument as NAME or, of one step alone,
STEP:NAME. What an argument NAME.blocks becomes is the result of the step before. OUT has the logits."""

import sys

import ml_dtypes  # noqa: F401  numpy's bfloat16
import numpy as np
from iree import compiler, runtime


def main(module, steps, out):
    binary = compiler.compile_file(module, target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"])
    forward = runtime.load_vm_flatbuffer(binary, driver="local-task").forward
    given = np.load(steps, allow_pickle=True)["given"].item()
    logits, blocks = {}, []
    for step in range(given["steps"]):
        kept = iter(blocks)
        arguments = []
        for name in given["names"]:
            value = given.get(f"{step}:{name}", given.get(name))
            arguments.append(next(kept) if value is None else value)
        first, *blocks = forward(*arguments)
        logits[str(step)] = first.to_host()
    np.savez(out, **logits)


main(*sys.argv[1:])
