#!/usr/bin/env python3
"""steps.py IMAGE: predicts how long a step's attention takes, of decode or, for the kernels
that copy tiles, of a causal prompt.

The steady state of cycles.py, on the parts that include/kv/Definition/Plan.h makes of a batch, with what
comes before a part's first leaf and after its last. All of it is predicted, nothing
measured; the assumptions are the constants here and in cycles.py's Machine.
"""

import argparse

import sys
from pathlib import Path
from typing import NamedTuple

from check import shape_of
from cycles import Machine, Multiprocessor, predict
from leaf import Leaf
from listing import Listing, Problem
from merges import Merge

UNIT_COST, GROUP_PAYLOAD, GROUP = 2, 64, 8  # Plan.h
LAUNCH = 2.5  # microseconds from the last kernel's end to the first instruction
ARRIVAL = 900  # cycles: a barrier, an atomic addition that releases and acquires, a barrier
BEHIND = 1.2  # microseconds from a kernel's end to the next one's begin, which has been launched early
STORE = 150  # cycles: the last piece or row on its way

# Sequences, keys, KV heads; and those of a latent cache.
CASES = ((64, 8192, 8), (16, 4096, 8), (1, 131072, 8), (1, 32768, 8), (1, 8192, 8), (1, 1024, 8))
LATENT_CASES = ((64, 8192, 1), (64, 4096, 1), (16, 4096, 1), (1, 131072, 1), (1, 32768, 1), (1, 8192, 1))


class Time(NamedTuple):
    """Microseconds that a step takes, by what they depend on: nothing, the SMs' clock, and their
    number as well (`leaves`, `uneven`), or how fast memory is read."""
    launch: float = LAUNCH
    around: float = 0  # before the first leaf and after the last one
    leaves: float = 0  # weighing them
    uneven: float = 0  # leaves that the largest part has more than the mean, behind what is read
    read: float = 0

    @property
    def total(self):
        return self.launch + self.around + max(self.leaves, self.read + self.uneven)


def parts_of(sequences, keys, heads, parts, leaf_keys=128):
    """Leaves of each part, and the payload."""
    leaves = -(-keys // leaf_keys)
    cost = leaves + UNIT_COST
    total = sequences * heads * cost
    payload = max(-(-total // parts), 1)

    def place(part):
        """Leaves before the part's begin."""
        at = min(part * payload, total) if part < parts else total
        unit, offset = divmod(at, cost)
        leaf = max(offset - UNIT_COST, 0)
        if payload >= GROUP_PAYLOAD:
            leaf = leaf // GROUP * GROUP
        return unit * leaves + leaf

    return [place(p + 1) - place(p) for p in range(parts)], payload


class Model:
    def __init__(self, image, blocks, machine, apart):
        """`apart`: an image with the kernel that merges units, or none."""
        self.machine, self.blocks = machine, blocks
        listing = Listing(image)
        kernel = image.name.split(".")[0]
        self.shape = shape_of(kernel)
        self.apart = Merge(apart, Machine(terabytes=1000, gigahertz=machine.gigahertz)) if apart else None
        self.quads = self.shape.value // 4  # four columns of a row are an item
        unbound = Machine(terabytes=1000, gigahertz=machine.gigahertz)
        self.alone = predict(listing, kernel, unbound, 1).cycles
        self.together = predict(listing, kernel, unbound, blocks).cycles
        leaf = Leaf(listing)
        self.start = Multiprocessor(unbound, [leaf.start] * self.shape.warps, 1).run(1)
        # The longest round of those that have so many loads or more: the first, and one more.
        def longest(rounds, loads):
            def cycles(way, times):
                return Multiprocessor(unbound, [way] * self.shape.warps, 1).run(times)

            times = [(cycles(r, 2) - cycles(r, 1), cycles(r, 1), count) for r in rounds
                     if (count := sum(i.operation == "LDG" for i in r)) >= loads]
            if not times:
                raise Problem(f"{image}: no loop reads {loads} pieces at a time")
            return max(times)

        # A warp weighs so many rows of 32 pieces in a round; a thread folds four columns of GROUP,
        # of which the first have come while it weighed.
        self.weigh, _, self.weighed = longest(leaf.weighs, 1)
        self.round, self.first_round, _ = longest(leaf.merges, GROUP)

    def merge(self, pieces, rows):
        """Cycles of a block that folds so many pieces of a unit or a group."""
        warps = self.shape.warps
        items = -(-rows * self.quads // (32 * warps))  # of a thread
        turns = -(-rows // (warps * self.weighed))  # of a warp
        rounds = items * -(-pieces // GROUP)
        return (turns * -(-pieces // 32) * self.weigh + self.first_round
                + (rounds - 1) * self.round)

    def predict(self, sequences, keys, heads, rows):
        """Microseconds, and those of reading the cache alone. `rows` of a tile are live."""
        time = self.time(sequences, keys, heads, rows)
        return time.total, time.read

    def time(self, sequences, keys, heads, rows):
        machine = self.machine
        parts, payload = parts_of(sequences, keys, heads, machine.sms * self.blocks, self.shape.keys)
        largest, busy = max(parts), sum(n > 0 for n in parts)
        size = sum(parts) * self.shape.bytes
        read = size / (machine.terabytes * 1e6)
        # Blocks that share an SM share its schedulers.
        each = self.together if busy > machine.sms else self.alone
        leaves = machine.microseconds(largest * each)
        # The memory's time, then what the largest part has more than the mean, alone.
        mean = sum(parts) / max(busy, 1)
        uneven = machine.microseconds((largest - mean) * self.alone)
        before = machine.microseconds(self.start)
        groups = -(-keys // self.shape.keys // GROUP)
        merge = STORE
        units = sequences * heads
        if self.apart and groups > 1 and units * 8 <= machine.sms * self.blocks:  # KernelTable.h
            merge += BEHIND * machine.gigahertz * 1000
            merge += self.apart.cycles(units, rows, self.shape.value, groups)
        elif largest < -(-keys // self.shape.keys):  # units are shared
            merge += ARRIVAL + self.merge(groups if groups > 1 else -(-keys // self.shape.keys), rows)
            if payload < GROUP_PAYLOAD and groups > 1:
                merge += ARRIVAL + self.merge(GROUP, rows)  # of a group's leaves
        return Time(LAUNCH, before + machine.microseconds(merge), leaves, uneven, read)


# A prompt by the kernel that copies tiles: query and KV heads, tokens.
PROMPTS = ((64, 8, 4096), (64, 8, 8192), (64, 8, 16384))
UNIT = 3000  # cycles between two units of a block: plan, lengths, queries, results
CACHE_TERABYTES = 5.5  # that the second-level cache gives in a second
# TFLOP/s of cuDNN 9.19 on an H200 for these prompts, contiguous, as its makers publish.
CUDNN = {4096: 591, 8192: 644, 16384: 673}


def predict_prompt(cycles, shape, machine, query_heads, heads, tokens):
    """Microseconds of a causal prompt whose leaf takes so many cycles, and those that its
    reads of the second-level cache take at least."""
    group = query_heads // heads
    rows = 16 * shape.warps  # of a tile
    tiles = -(-tokens * group // rows)
    leaves = sum(-(-min((t + 1) * rows // group, tokens) // shape.keys)
                 for t in range(tiles)) * heads
    units = tiles * heads
    time = machine.microseconds((leaves * cycles + units * UNIT) / machine.sms)
    return LAUNCH + time, leaves * shape.bytes / (CACHE_TERABYTES * 1e6)


FEW = (64, 8192, 8)  # sequences of up to FEW_ROWS rows each, keys, KV heads
FEW_ROWS = 64


def few_time(cycles, shape, machine, blocks=1):
    """Of FEW where a leaf of each of an SM's blocks takes so many cycles."""
    sequences, keys, heads = FEW
    parts, _ = parts_of(sequences, keys, heads, machine.sms * blocks, shape.keys)
    return Time(leaves=machine.microseconds(max(parts) * cycles),
                read=sum(parts) * shape.bytes / (machine.terabytes * 1e6))


def predict_few(cycles, shape, machine, blocks=1):
    """Its microseconds, and those of reading the cache."""
    time = few_time(cycles, shape, machine, blocks)
    return time.total, time.read


def print_prompts(image, machine):
    kernel = image.name.split(".")[0]
    shape, listing = shape_of(kernel), Listing(image)
    cycles = predict(listing, kernel, machine, 1).cycles
    print(f"PREDICTED, {machine.sms} SMs at {machine.gigahertz} GHz: {cycles:.0f} cycles a leaf")
    for query_heads, heads, tokens in PROMPTS:
        time, read = predict_prompt(cycles, shape, machine, query_heads, heads, tokens)
        time = max(time, read)
        rate = 2 * tokens * tokens * shape.value * query_heads / time / 1e6
        peer = f", {rate / CUDNN[tokens]:.2f} of cuDNN's {CUDNN[tokens]}" if shape.value == 128 else ""
        print(f"{tokens} tokens, {query_heads}/{heads} heads: {time:.0f} us predicted, of which "
              f"reading takes {read:.0f}; {rate:.0f} TFLOP/s{peer}")
    if shape.warps * 16 > FEW_ROWS and Leaf(listing).passed:
        few = predict(listing, kernel, machine, 1, few=True).cycles
        times = [predict_few(each, shape, machine) for each in (cycles, few)]
        print(f"at most {FEW_ROWS} rows a sequence: {few:.0f} cycles a leaf; {FEW[0]} x {FEW[1]} keys, "
              f"{FEW[2]} KV heads: {times[1][0]:.0f} us predicted, {times[0][0]:.0f} if all warpgroups "
              f"multiplied, {times[1][1]:.0f} to read the cache")


def print_few(image, machine, blocks):
    kernel = image.name.split(".")[0]
    cycles = predict(Listing(image), kernel, machine, blocks).cycles
    time, read = predict_few(cycles, shape_of(kernel), machine, blocks)
    print(f"PREDICTED, {machine.sms} SMs at {machine.gigahertz} GHz: {cycles / blocks:.0f} cycles a leaf; "
          f"{FEW[0]} x {FEW[1]} keys, {FEW[2]} KV heads, at most {FEW_ROWS} rows a sequence: "
          f"{time:.0f} us predicted, {read:.0f} to read the cache")


# Decoding over latent rows by tile copies: sequences, keys, tokens and query heads of each.
LATENT_DECODES = ((128, 4096, 1, 128), (128, 8192, 2, 128), (64, 32768, 1, 128))
LATENT_ROWS = 64  # of a block
FLASH_MLA = 660  # TFLOP/s on an H800 where it is bound by products, as its makers publish


def predict_latent(cycles, shape, machine, sequences, keys, rows):
    """Microseconds of a decode whose leaf takes so many cycles, and of what it reads of the
    second-level cache: the rows for each tile of queries, and a total of f32 for each group."""
    unit_rows = LATENT_ROWS * shape.blocks
    units = sequences * -(-rows // unit_rows)
    leaves = -(-keys // shape.keys)
    totals = max(-(-leaves // GROUP) - 1, 0) * unit_rows * shape.value * 4
    time = machine.microseconds(-(-units // (machine.sms // shape.blocks)) * (leaves * cycles + UNIT))
    return LAUNCH + time, units * (leaves * shape.bytes + totals) / (CACHE_TERABYTES * 1e6)


def print_latent(image, machine):
    kernel = image.name.split(".")[0]
    shape = shape_of(kernel)
    cycles = predict(Listing(image), kernel, machine, 1).cycles
    key = shape.bytes // (2 * shape.keys)
    print(f"PREDICTED, {machine.sms} SMs at {machine.gigahertz} GHz: {cycles:.0f} cycles a leaf")
    for sequences, keys, tokens, heads in LATENT_DECODES:
        time, read = predict_latent(cycles, shape, machine, sequences, keys, tokens * heads)
        time = max(time, read)
        rate = 2 * sequences * keys * tokens * heads * (key + shape.value) / time / 1e6
        print(f"{sequences} x {keys} keys, {tokens} x {heads} query heads: {time:.0f} us predicted, of "
              f"which reading takes {read:.0f}; {rate:.0f} TFLOP/s, {rate / FLASH_MLA:.2f} of "
              f"FlashMLA's {FLASH_MLA}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("image", type=Path)
    parser.add_argument("--blocks", type=int, default=2, help="that an SM has room for")
    parser.add_argument("--rows", type=int, default=4, help="query heads of a KV head")
    parser.add_argument("--apart", type=Path,
                        help="the image of kv_merge, which merges the units of latent caches")
    parser.add_argument("--terabytes", type=float, default=Machine.terabytes)
    parser.add_argument("--gigahertz", type=float, default=Machine.gigahertz)
    arguments = parser.parse_args()
    machine = Machine(terabytes=arguments.terabytes, gigahertz=arguments.gigahertz)
    if arguments.image.name.startswith(("kv_latent_tiles", "kv_latent_pairs")):
        print_latent(arguments.image, machine)
        return
    if "draft_tiles" in arguments.image.name:
        print_few(arguments.image, machine, arguments.blocks)
        return
    if "tiles" in arguments.image.name:
        print_prompts(arguments.image, machine)
        return
    model = Model(arguments.image, arguments.blocks, machine, arguments.apart)
    print(f"PREDICTED, {machine.sms} SMs at {machine.gigahertz} GHz, {machine.terabytes} TB/s: "
          f"{model.start} cycles to the first leaf, {model.alone:.0f} a leaf alone, "
          f"{model.together:.0f} with {model.blocks} blocks an SM, {model.weigh} the weights of 32 pieces, "
          f"{model.round} the values of {GROUP}")
    for sequences, keys, heads in LATENT_CASES if "latent" in arguments.image.name else CASES:
        time, read = model.predict(sequences, keys, heads, arguments.rows)
        print(f"{sequences:3} x {keys:6} keys, {heads} KV heads: {time:7.1f} us predicted, "
              f"{read:6.1f} to read the cache, {read / time:.2f} of the ceiling")


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"steps.py: {problem}")
