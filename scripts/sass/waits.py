#!/usr/bin/env python3
"""waits.py FOLDER: whether every kernel for 9.0 waits for the kernels before it.

FOLDER has the images that the build made. Such a kernel may begin before the one in
front of it has ended, so it must wait (griddepcontrol.wait, in machine code ACQBULK)
before it touches memory that others see.
"""

import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from listing import Problem, find_disassembler

CHIP = ".sm_90a.cubin"
WAIT = "ACQBULK"
# Loads, stores and atomics of global memory, and copies from it.
MEMORY = {"LD", "LDG", "LDGSTS", "ST", "STG", "ATOM", "ATOMG", "RED", "REDG", "UBLKCP", "UTMALDG"}


def functions(text):
    """(name, operations in the order of their addresses) of each kernel of a listing."""
    for part in re.split(r"\.section\s+\.text\.", text)[1:]:
        name = re.match(r"\w+", part).group(0)
        yield name, re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z0-9]+)", part)


def problems(text):
    """One sentence for each kernel that does not wait first."""
    found = []
    for name, operations in functions(text):
        touching = next((i for i, one in enumerate(operations) if one in MEMORY), len(operations))
        if WAIT not in operations[:touching]:
            found.append(f"{name}: no wait before its first access of memory, which is "
                         f"instruction {touching} of {len(operations)}")
    return found


def check(path):
    text = subprocess.run([find_disassembler(), "-c", str(path)], check=True, capture_output=True,
                          text=True).stdout
    if not any(True for _ in functions(text)):
        return [f"{path.name}: there is no kernel in it"]
    return problems(text)


def main(arguments):
    if len(arguments) != 1:
        raise Problem("one folder of images is needed")
    images = sorted(Path(arguments[0]).glob(f"*{CHIP}"))
    if not images:
        raise Problem(f"{arguments[0]} has no images for 9.0 (*{CHIP})")
    with ProcessPoolExecutor() as pool:
        found = [sentence for sentences in pool.map(check, images) for sentence in sentences]
    print("\n".join(found) or f"{len(images)} images: every kernel waits first")
    return 1 if found else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        sys.exit(f"waits.py: error: {problem}")
