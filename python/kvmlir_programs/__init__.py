"""The commands of the wheel: each becomes the program of its name, which lies in the package kvmlir. This module is apart from that
package, so that a program starts without the runtime and numpy."""

import os
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1] / "kvmlir"
# Programs with LLVM are one file, which looks at its name (tools/kv-compile/AllTools.cpp).
_IN_COMPILER = ("kv-opt", "kv-reduce", "kv-lsp-server")


def main():
    name = Path(sys.argv[0]).name
    script = _ROOT / "libexec" / name / name
    program = _ROOT / "bin" / ("kv-compile" if name in _IN_COMPILER else name)
    if script.is_file():
        os.execv(sys.executable, [sys.executable, str(script), *sys.argv[1:]])
    if not program.is_file():
        sys.exit(f"{name}: this package was built without it: scripts/wheel.sh builds one that has it")
    os.execv(program, [name, *sys.argv[1:]])
