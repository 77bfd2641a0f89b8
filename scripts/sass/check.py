#!/usr/bin/env python3
"""check.py FOLDER TABLE [--record]: the attention kernels' instructions a leaf.

FOLDER has the images that the build made. Each line of TABLE has a kernel, a chip
and the most instructions that a warp may need for a leaf of 128 keys; a kernel that
needs more, or is not in the table, is an error. --record writes what is measured.
"""

import argparse
import re
import sys
from pathlib import Path

from leaf import Leaf
from listing import Listing, Problem

LEAF_KEYS, WARPS = 128, 4
HEAD = """# Instructions of a warp for a leaf of 128 keys in the steady state, at most. Held
# against the machine code by the test KernelInstructions, and written anew by
# scripts/sass/check.py build/release/lib/kv-cuda kernels/cuda/instructions.txt --record
# kernel chip instructions
"""


def leaf_bytes(kernel):
    """Of K and V that a block reads for a leaf."""
    found = re.match(r"kv_attention_\w+?_(\w+?)_(\d+)$", kernel)
    return LEAF_KEYS * 2 * int(found.group(2)) * (2 if found.group(1) in ("bf16", "f16") else 1)


def read_table(path):
    table = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        fields = line.split()
        if fields and not line.startswith("#"):
            if len(fields) != 3 or not fields[2].isdigit():
                raise Problem(f"{path}: '{line}' is not: kernel chip instructions")
            table[fields[0], fields[1]] = int(fields[2])
    return table


def measure(folder):
    """{(kernel, chip): instructions} of every attention image."""
    images = sorted(folder.glob("kv_attention_*.cubin"))
    if not images:
        raise Problem(f"{folder} has no images of attention kernels (*.cubin)")
    measured = {}
    for image in images:
        kernel, chip, _ = image.name.split(".")
        measured[kernel, chip] = Leaf(Listing(image)).per_warp
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    measured = measure(arguments.folder)
    if arguments.record:
        lines = [f"{kernel} {chip} {count:.0f}\n" for (kernel, chip), count in measured.items()]
        arguments.table.write_text(HEAD + "".join(lines))
    table = read_table(arguments.table)
    problems = [f"{kernel} ({chip}) has no image" for kernel, chip in table.keys() - measured.keys()]
    for (kernel, chip), count in measured.items():
        print(f"{kernel:34} {chip:7} {count:6.0f} instructions a warp and leaf, "
              f"{leaf_bytes(kernel) / WARPS / count:5.1f} bytes of KV each")
        most = table.get((kernel, chip))
        if most is None:
            problems.append(f"{kernel} ({chip}) is not in {arguments.table}")
        elif round(count) > most:
            problems.append(f"{kernel} ({chip}): {count:.0f} instructions a leaf, "
                            f"at most {most} are allowed")
    if problems:
        raise Problem("\n".join(problems))


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"check.py: {problem}")
