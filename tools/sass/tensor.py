#!/usr/bin/env python3
"""tensor.py IMAGE [IMAGE...]: predicts how fast the kernels with tensor memory run, on a B200.

The warps that weigh and fold run their machine code as in cycles.py; beside them a thread issues
products in the kernel's order, each when what it waits for has happened, to one tensor core,
and a ring of tiles is filled. Nothing of it has been measured.
"""

import argparse
import collections
import sys
from dataclasses import dataclass, field
from pathlib import Path

from check import shape_of
from cycles import Machine, Multiprocessor
from leaf import operations, shortest_way
from listing import Listing, Problem
from steps import FEW, LAUNCH, UNIT, predict_few

PARTS = 2  # in which a leaf's weights are passed on


@dataclass
class Blackwell(Machine):
    """A B200. Of SMs, clock, memory: its makers' 2.25 PFLOP/s of bf16 are 148 SMs of 8192 a cycle.
    That products whose operands come from shared memory read 128 bytes of it a cycle, and that the
    exponential unit is Hopper's, are published by measurements
    (https://newsletter.semianalysis.com/p/dissecting-nvidia-blackwell-tensor,
    https://www.together.ai/blog/flashattention-4). Assumed: a product of 64 rows takes the time of one of
    128; a warp's loads and stores move 128 bytes of tensor memory a cycle; latencies."""

    sms: int = 148
    gigahertz: float = 1.85
    terabytes: float = 7.7
    results: dict = field(default_factory=lambda: dict(Machine().results, LDTM=48, STTM=32))
    pipes: dict = field(default_factory=lambda: dict(
        Machine().pipes, LDTM=32, STTM=16, FMNMX=2, FMNMX3=2, FFMA2=2, FMUL2=2, FADD2=2))
    operands: int = 128  # bytes a cycle, of shared memory
    told: int = 60  # cycles from a product's end, or an arrival, until somebody goes on
    issue: int = 10  # from one product to the next, of the thread that issues
    least: int = 16  # of a product
    cache_bytes: float = 40  # of the second-level cache, a cycle and SM

    def product(self, rows, columns, from_tensor=False):
        """Cycles of 32 bytes summed over: sixteen elements, or 32 of 8 bits."""
        read = columns * 32 + (0 if from_tensor else rows * 32)
        return max(columns / 2, read / self.operands, self.least)


class Consumer:
    """What a warp with rows does for a leaf: `own`, and, of kernels whose warpgroups share
    the rows of a latent cache, `others` where the weights are the other one's."""

    def __init__(self, listing):
        self.listing, loops = listing, listing.loops()
        has = {b: operations(listing, b) for b in range(len(listing.blocks))}
        loads = {b for b in has if "LDTM" in has[b]}
        around = [(len(body), h) for h, body in loops.items() if loads <= body]
        if not loads or not around:
            raise Problem(f"{listing.path}: no loop has all loads of tensor memory")
        self.header = min(around)[1]
        self.body = loops[self.header]
        # Loops within are of leaves whose scores are not weighed as they are: none of the steady state.
        seldom = set().union(*(body for h, body in loops.items()
                               if h in self.body and h != self.header))
        weighs = {b for b in self.body if "HMMA" in has[b]}
        musts = {b for b in self.body - seldom if has[b] & {"LDTM", "STTM", "HMMA"} or any(
            i.name.startswith("SYNCS.ARRIVE") for i in listing.block_instructions(b))}
        self.own = self._way(musts, self.body - seldom)
        self.others = []
        if weighs:  # without what computes weights: from the first load to the first arrival
            begin = lambda b: listing.blocks[b][0]
            first = begin(min(loads & self.body, key=begin))
            last = min(begin(b) for b in musts if begin(b) > max(map(begin, weighs)))
            between = {b for b in self.body if first <= begin(b) <= last}
            self.others = self._way(musts - between, self.body - between - seldom)

    def _way(self, musts, body):
        listing = self.listing
        ends = {b for b in body if self.header in listing.after[b]}
        blocks, passed = shortest_way(listing, self.header, body, musts, ends)
        if passed < len(musts):
            raise Problem(f"{listing.path}: no way round the leaf's loop passes all that it must")
        return [i for b in blocks for i in listing.block_instructions(b)]


@dataclass
class Product:
    cycles: float
    count: int  # of instructions
    waits: list
    done: object
    reads: object = None  # what of the ring it is the first to read: a number, and which part
    frees: tuple = ()  # and the last


class TensorMultiprocessor(Multiprocessor):
    """`events` of a warp's way are what its waits wait for and its arrivals say, by leaf."""

    def __init__(self, machine, ways, waits, arrivals, program, parts, part_bytes, stages):
        super().__init__(machine, ways, 1)
        self.waits_of, self.arrivals_of = waits, arrivals  # (group, leaf) -> events in order
        self.program, self.next = program, 0
        self.times, self.blocked = {}, collections.defaultdict(list)
        self.came = collections.Counter()
        self.tensor_free = self.issuer = self.issued_for = 0.0
        self.parts, self.part_bytes, self.stages = parts, part_bytes, stages
        self.freed, self.landed, self.link = {}, {}, 0.0
        self.go_on()

    def _land(self, wanted):
        """When a part of a tile is there; parts are copied in their order, each once that of the
        tile `stages` before has been read. None: that is not known yet."""
        while wanted not in self.landed:
            tile, part = divmod(len(self.landed), self.parts)
            before = (tile - self.stages, part)
            if before[0] >= 0 and before not in self.freed:
                return None
            self.link = max(self.link, self.freed.get(before, 0)) + (
                self.part_bytes / self.machine.cache_bytes)
            self.landed[tile, part] = self.link + self.machine.latency
        return self.landed[wanted]

    def go_on(self):
        """The issuing thread, as far as is known what it waits for."""
        machine = self.machine
        while self.next < len(self.program):
            product = self.program[self.next]
            if any(w not in self.times for w in product.waits):
                return
            ready = max([self.issuer] + [self.times[w] + machine.told for w in product.waits])
            if product.reads is not None:
                landed = self._land(product.reads)
                if landed is None:
                    raise Problem("the ring's tiles wait for products behind those that wait for them")
                ready = max(ready, landed)
            self.issuer = ready + machine.issue * product.count
            begin = max(self.tensor_free, ready)
            self.tensor_free = max(begin + product.cycles, self.issuer)
            self.tensor_busy += product.cycles
            self.freed.update((part, self.tensor_free) for part in product.frees)
            if product.done:
                self._tell(product.done, self.tensor_free)
            self.next += 1

    def _tell(self, event, time):
        self.times[event] = time
        for warp in self.blocked.pop(event, []):
            warp.waits_for_block = False
            warp.ready = max(warp.ready, time + self.machine.told)

    def _issue(self, warp, now):
        instruction, leaf = warp.way[warp.at], warp.leaf
        place = warp.at
        super()._issue(warp, now)
        if instruction.name.startswith("SYNCS.PHASECHK"):
            event = self.waits_of(warp.group, leaf)[self._count(warp, place, "SYNCS.PHASECHK")]
            if event in self.times:
                warp.ready = max(warp.ready, self.times[event] + self.machine.told)
            else:
                warp.waits_for_block = True
                self.blocked[event].append(warp)
        elif instruction.name.startswith("SYNCS.ARRIVE"):
            event = self.arrivals_of(warp.group, leaf)[self._count(warp, place, "SYNCS.ARRIVE")]
            self.came[event] += 1
            if self.came[event] == 4:
                self._tell(event, now + 12)
                self.go_on()

    @staticmethod
    def _count(warp, place, name):
        return sum(i.name.startswith(name) for i in warp.way[:place])


def prompts(machine, dim, leaves, element=2, tiles=2):
    """Of kernels with up to two tiles of 128 rows (AttentionTensor.h) and elements of so many bytes: the
    program, and a warpgroup's waits and arrivals by leaf."""
    slab = 128 // element  # columns
    steps, part_steps = dim * element // 32, 128 * element // 32 // PARTS
    scores = steps * machine.product(128, 128)
    sums, values = (part_steps * machine.product(128, columns, True) for columns in (16, slab))
    slices = range(-(-dim // slab))

    def multiply_queries(tile, leaf, waits=[]):
        return Product(scores, steps, waits, ("scored", tile, leaf),
                       (2 * leaf, 0) if tile == 0 else None, ((2 * leaf, 0),) if tile == tiles - 1 else ())

    order = [(tile, leaf) for leaf in range(leaves) for tile in range(tiles)]
    program = [multiply_queries(*each) for each in order[:2]]
    for n, (tile, leaf) in enumerate(order):
        before = lambda what, slice: [(what, *order[n - 1], slice)] if n else []
        if n + 2 < len(order):
            program.append(multiply_queries(
                *order[n + 2], before("folded", 0) + before("multiplied", slices[-1])))
        for part in range(PARTS):
            last = part == PARTS - 1
            program.append(Product(sums, part_steps, [("weighed", tile, leaf, part)] + before("folded", 0),
                                   None, (2 * leaf + 1, 0) if tile == 0 and part == 0 else None))
            for slice in slices:
                program.append(Product(values, part_steps, before("folded", slice),
                                       ("multiplied", tile, leaf, slice) if last else None,
                                       frees=((2 * leaf + 1, 0),) if tile == tiles - 1 and last else ()))
    return (program, lambda tile, leaf: [("scored", tile, leaf),
                                         *(("multiplied", tile, leaf, slice) for slice in slices)],
            lambda tile, leaf: [*(("weighed", tile, leaf, part) for part in range(PARTS)),
                                *(("folded", tile, leaf, slice) for slice in slices)])


def latent(machine, dim, value, pairs):
    """The same of those whose warpgroups share latent rows (LatentTensor.h), by pairs of leaves."""
    columns = min(value // 2, 128)
    slices = value // 2 // columns
    part = 4 * machine.product(64, columns)
    slabs, held = dim // 64, columns // 64  # of a row; of a slice
    program, order = [], []
    for pair in range(pairs):
        for leaf in (2 * pair, 2 * pair + 1):
            for slab in range(slabs):
                program.append(Product(
                    4 * machine.product(64, 64), 4,
                    [("weighed", leaf - 2)] if leaf > 1 and slab == 0 else [],
                    ("scored", leaf) if slab == slabs - 1 else None, (leaf, slab)))
        for leaf in (2 * pair, 2 * pair + 1):
            for i in range(2 * slices):
                waits = [("weighed", leaf)] + ([("folded", order[-3])] if len(order) > 2 else [])
                order.append((i % 2, leaf * slices + i // 2))
                first = i % 2 * (value // 128) + i // 2 * held
                frees = [(leaf, first + j) for j in range(held)]
                if i == 2 * slices - 1:
                    frees.append((leaf, slabs - 1))
                program.append(Product(part, 4, waits, ("multiplied", order[-1]),
                                       frees=tuple(frees)))

    def slices_of(group, pair, second):
        return [(group, (2 * pair + second) * slices + i) for i in range(slices)]

    def waits(group, pair):
        return [("scored", 2 * pair + group), ("weighed", 2 * pair),
                *(("multiplied", s) for s in slices_of(group, pair, 0)), ("weighed", 2 * pair + 1),
                *(("multiplied", s) for s in slices_of(group, pair, 1))]

    def arrivals(group, pair):
        return [("weighed", 2 * pair + group), *(("folded", s) for s in slices_of(group, pair, 0)),
                *(("folded", s) for s in slices_of(group, pair, 1))]

    return program, waits, arrivals


@dataclass
class Prediction:
    cycles: float  # a leaf
    tensor: float  # of which the tensor core is busy
    instructions: int  # of a warp
    per_cycle: float


def predict(listing, kernel, machine, leaves=24, tiles=2):
    """`tiles` of rows, of kernels whose warpgroups do not share rows."""
    consumer, shape = Consumer(listing), shape_of(kernel)
    is_latent = kernel.startswith("kv_latent")
    way = consumer.own + consumer.others
    runs = []
    for count in (leaves // 3, leaves):
        if is_latent:
            program, waits, arrivals = latent(machine, shape.bytes // (2 * shape.keys), shape.value,
                                              count)
            ring = shape.bytes // 8192, 8192, 2
        else:
            element = shape.bytes // (2 * shape.keys * shape.value)
            program, waits, arrivals = prompts(machine, shape.value, count, element, tiles)
            ring = 1, shape.bytes // 2, 8 if element == 1 else 5 if shape.value == 128 else 6
        warps = 4 * (2 if is_latent else tiles)
        sm = TensorMultiprocessor(machine, [way] * warps, waits, arrivals, program, *ring)
        expected = len(waits(0, 0)), len(arrivals(0, 0))
        found = tuple(sum(i.name.startswith(n) for i in way) for n in ("SYNCS.PHASECHK", "SYNCS.ARRIVE"))
        if found != expected:
            raise Problem(f"{kernel}: {found[0]} waits and {found[1]} arrivals in a leaf, "
                          f"not {expected[0]} and {expected[1]}")
        runs.append((sm.run(count), sm))
    steps = (leaves - leaves // 3) * (2 if is_latent else 1)
    cycles = (runs[1][0] - runs[0][0]) / steps
    busy = (runs[1][1].tensor_busy - runs[0][1].tensor_busy) / steps
    return Prediction(cycles, busy, len(way) // (2 if is_latent else 1),
                      runs[1][1].issued / runs[1][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("images", type=Path, nargs="+")
    parser.add_argument("--issue", type=int, default=Blackwell.issue,
                        help="cycles between two products of the thread that issues")
    arguments = parser.parse_args()
    machine = Blackwell(issue=arguments.issue)
    for image in arguments.images:
        kernel = image.name.split(".")[0]
        leaf, shape = predict(Listing(image), kernel, machine), shape_of(kernel)
        print(f"{kernel}: PREDICTED {leaf.cycles:.0f} cycles a leaf, of which its products need "
              f"{leaf.tensor:.0f}; {leaf.instructions} instructions of a warp, "
              f"{leaf.per_cycle:.2f} a cycle; reads {shape.bytes / leaf.cycles:.1f} bytes a cycle")
        if kernel.startswith("kv_latent"):
            key = shape.bytes // (2 * shape.keys)
            for sequences, keys, heads in ((128, 4096, 128), (148, 8192, 128)):
                units = -(-sequences * heads // 64)
                time = LAUNCH + machine.microseconds(
                    -(-units // machine.sms) * (-(-keys // shape.keys) * leaf.cycles + UNIT))
                rate = 2 * sequences * keys * heads * (key + shape.value) / time / 1e6
                print(f"  {sequences} x {keys} keys, {heads} query heads: {time:.0f} us, {rate:.0f} TFLOP/s")
        else:
            for query_heads, heads, tokens in ((64, 8, 8192),):
                group, rows = query_heads // heads, 256
                tiles = -(-tokens * group // rows)
                leaves = sum(-(-min((t + 1) * rows // group, tokens) // shape.keys)
                             for t in range(tiles)) * heads
                time = LAUNCH + machine.microseconds(
                    (leaves * leaf.cycles + tiles * heads * UNIT) / machine.sms)
                rate = 2 * tokens * tokens * shape.value * query_heads / time / 1e6
                print(f"  {tokens} tokens causal, {query_heads}/{heads} heads: {time:.0f} us, "
                      f"{rate:.0f} TFLOP/s")
            few = predict(Listing(image), kernel, machine, tiles=1)
            time, read = predict_few(few.cycles, shape, machine)
            print(f"  at most 128 rows a sequence: {few.cycles:.0f} cycles a leaf; {FEW[0]} x {FEW[1]} keys, "
                  f"{FEW[2]} KV heads: {time:.0f} us predicted, {read:.0f} to read the cache")


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"tensor.py: {problem}")
