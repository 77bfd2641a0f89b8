#!/usr/bin/env python3
"""check.py FOLDER TABLE [--record]: what must hold for the kernels' machine code.

FOLDER has the images that the build made. Each line of TABLE has an attention kernel,
a chip and the most instructions that a warp may need for a leaf of its keys; a kernel
that needs more, or is not in the table, is an error. --record writes what is measured.
Every kernel for 9.0 must wait for the kernels before it (waits.py), and every attention
kernel follow rules.py.
"""

import argparse
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from leaf import Leaf
from listing import Listing, Problem, disassemble
import rules
import waits

HEAD = """# Instructions of a warp for a leaf in the steady state, at most: of 128 keys and, in decode, at most
# eight rows; of 64 latent rows. Held against the machine code by the test KernelInstructions, and written anew by
# tools/sass/check.py build/release/lib/kv-cuda kernels/cuda/instructions.txt --record
# kernel chip instructions
"""


@dataclass(frozen=True)
class Shape:
    """What a kernel's name says of it."""

    keys: int  # of a leaf
    warps: int
    bytes: int  # of K and V that a block reads for a leaf
    value: int  # elements of a row of the result
    blocks: int = 1  # that have a unit together, each its own rows, and read a leaf once


# Of a latent row of so many elements.
VALUES = {192: 128, 320: 256, 576: 512}


def shape_of(kernel):
    found = re.match(r"kv_(attention|latent)_(\w+)_([a-z0-9]+)_(\d+)$", kernel)
    dim = int(found.group(4))
    if found.group(1) == "latent":
        return Shape(64, 4 if found.group(2) == "decode" else 8, 64 * 2 * dim, VALUES[dim],
                     2 if found.group(2) == "pairs" else 1)
    element = 2 if found.group(3) in ("bf16", "f16") else 1
    # Of 8 bits and 256 elements, one warpgroup multiplies (AttentionTiles.h).
    tiles = found.group(2) == "tiles" and (element, dim) != (1, 256)
    warps = 12 if tiles and found.group(3) == "f8p" else 8 if tiles else 4
    return Shape(128, warps, 128 * 2 * dim * element, dim)


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
    """{(kernel, chip): instructions} of every attention image whose leaves can be counted, and
    what else is wrong."""
    images = sorted(folder.glob("*.cubin"))
    if not images:
        raise Problem(f"{folder} has no images of kernels (*.cubin)")
    with ProcessPoolExecutor() as pool:
        read = list(zip(images, pool.map(look, images)))
    return ({tuple(image.name.split(".")[:2]): count for image, (count, _) in read
             if count is not None},
            [f"{image.name}: {sentence}" for image, (_, wrong) in read for sentence in wrong])


def look(image):
    """An attention kernel's instructions, or None for movers, and sentences about what it
    does wrong."""
    text = disassemble(image)  # which takes longer than all else
    wrong = waits.problems(text) if image.name.endswith(waits.CHIP) else []
    if not image.name.startswith(("kv_attention_", "kv_latent_")):
        return None, wrong
    listing = Listing(image, text)
    wrong += rules.problems(image.name, listing)
    # Leaves of kernels with tensor memory have loops within, and no products.
    if image.name.startswith(("kv_attention_tensor_", "kv_latent_tensor_")):
        return None, wrong
    return Leaf(listing).per_warp, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    measured, problems = measure(arguments.folder)
    if arguments.record:
        lines = [f"{kernel} {chip} {count:.0f}\n" for (kernel, chip), count in measured.items()]
        arguments.table.write_text(HEAD + "".join(lines))
    table = read_table(arguments.table)
    problems += [f"{kernel} ({chip}) has no image" for kernel, chip in table.keys() - measured.keys()]
    for (kernel, chip), count in measured.items():
        print(f"{kernel:34} {chip:7} {count:6.0f} instructions a warp and leaf, "
              f"{shape_of(kernel).bytes / shape_of(kernel).warps / count:5.1f} bytes of KV each")
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
