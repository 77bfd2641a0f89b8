#!/usr/bin/env python3
"""cycles.py IMAGE [IMAGE...]: predicts how fast attention kernels run.

A model of one streaming multiprocessor (SM) that issues the leaf's instructions of all its warps: four
schedulers, ptxas' stall counts and barriers, a pipe to shared memory, tensor cores,
barriers of the block, asynchronous copies that take a latency and share a bandwidth.
What an SM does with an instruction beyond that is not known here, so a result is a
prediction: nothing of it has been measured yet.
"""

import argparse
import collections
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from check import shape_of
from leaf import GROUP_PRODUCTS, Leaf
from listing import Listing, Problem

CHUNK = 16


@dataclass
class Machine:
    """A GPU, in cycles of its SMs. The defaults are an H200."""

    sms: int = 132
    gigahertz: float = 1.755
    terabytes: float = 4.3  # read from memory in a second, at most
    latency: int = 800  # of a copy from memory that nothing delays
    # Until a result can be used. LDG: from the second-level cache, where plans, lengths, tables
    # and pieces lie.
    results: dict = field(default_factory=lambda: dict(
        LDS=24, LDSM=30, LDC=28, MUFU=20, SHFL=24, I2F=20, F2I=20, LDG=300, STS=12, STSM=12, STG=20,
        S2R=20, HMMA=24, F2FP=6))
    # Cycles that a warp's instruction keeps the pipe of shared memory, and of its scheduler.
    shared: dict = field(default_factory=lambda: dict(LDS=1, LDSM=4, STS=1, STSM=4, LDGSTS=4))
    pipes: dict = field(default_factory=lambda: dict(HMMA=8, MUFU=8, I2F=8, F2I=8, F2FP=2))

    # A warpgroup's product keeps the tensor core of each of its warps for so many cycles a
    # column, of 16 elements of 16 bits or 32 of 8, and so many more until its sums can be read.
    columns: float = 0.5
    products: int = 40

    @property
    def bytes_per_cycle(self):
        """Of memory, for one SM."""
        return self.terabytes * 1e12 / self.sms / (self.gigahertz * 1e9)

    def microseconds(self, cycles):
        return cycles / self.gigahertz / 1000


class Warp:
    def __init__(self, block, number, way):
        self.block, self.way = block, way
        self.scheduler = number % 4
        self.at = self.leaf = self.ready = 0
        self.barriers = [0] * 6
        self.waits_for_block = False
        self.group = number // 4  # of four warps
        self.copies = []  # when the copies of each committed group have come
        self.open = 0  # when those of the group that is open have
        self.products = 0  # when those of its warpgroup are there
        self.commits = []  # and those of each of its groups of products


class Multiprocessor:
    """Runs the ways of a block's warps, `leaves` times each, in `blocks` blocks."""

    DEPTH = 24  # cycles of work that may wait for shared memory

    def __init__(self, machine, ways, blocks, first_turn=4):
        self.machine = machine
        self.warps = [Warp(b, w, way) for b in range(blocks) for w, way in enumerate(ways)]
        self.block_size = len(ways)
        self.shared_free = self.memory_free = 0.0
        self.shared_busy = self.tensor_busy = 0.0
        self.issued = 0
        self.pipe_free = collections.defaultdict(int)
        self.arrived = collections.Counter()
        # Warpgroups' turns: arrivals, and warps that wait for the next one.
        self.turns = collections.Counter({(block, 0): first_turn for block in range(blocks)})
        self.turn_waits = collections.Counter()
        # Warpgroups of a block that multiply; each passes its turn to the next.
        self.groups = max(2, sum(any(i.operation in GROUP_PRODUCTS for i in way) for way in ways) // 4)
        self.met = collections.Counter()  # warps of a warpgroup that wait for the rest of it
        self.waiting = collections.Counter()  # why nothing was issued, by reason

    def run(self, leaves):
        """Cycles until all are through."""
        machine, self.leaves = self.machine, leaves
        by_scheduler = [[w for w in self.warps if w.scheduler == s] for s in range(4)]
        turn = [0] * 4
        left, now = len(self.warps), 0
        while left:
            soonest = None
            for s, warps in enumerate(by_scheduler):
                for j in range(len(warps)):
                    index = (turn[s] + j) % len(warps)
                    warp = warps[index]
                    if warp.leaf == leaves or warp.waits_for_block:
                        continue
                    when, reason = self._when(warp, now)
                    if when <= now:
                        turn[s] = index  # the same warp first
                        self._issue(warp, now)
                        if warp.leaf == leaves:
                            left -= 1
                        when = now + 1
                    else:
                        self.waiting[reason] += 1
                    soonest = when if soonest is None else min(soonest, when)
                    if when == now + 1 and reason is None:
                        break
            if soonest is None:
                if left:
                    raise Problem("the model's warps wait for each other")
                break
            now = max(now + 1, int(soonest + 0.999))
        return now

    def _when(self, warp, now):
        """The cycle from which on the warp can issue, and what it waits for."""
        if warp.ready > now:
            return warp.ready, "stall"
        instruction = warp.way[warp.at]
        barrier = max((warp.barriers[i] for i in range(6) if instruction.waits >> i & 1),
                      default=0)
        if barrier > now:
            return barrier, "result"
        operation = instruction.operation
        if operation == "DEPBAR":
            allowed = int(re.search(r"SB0, (0x[0-9a-f]+)", instruction.text).group(1), 16)
            pending = [t for t in warp.copies if t > now]
            if len(pending) > allowed:
                return sorted(pending)[len(pending) - allowed - 1], "copies"
        if instruction.name.startswith("WARPGROUP.DEPBAR"):
            allowed = int(re.search(r"gsb0, (0x[0-9a-f]+)", instruction.text).group(1), 16)
            if len(warp.commits) > allowed and warp.commits[-1 - allowed] > now:
                return warp.commits[-1 - allowed], "products"
        if operation in self.machine.pipes:
            free = self.pipe_free[warp.scheduler, operation]
            if free > now:
                return free, operation
        if operation in self.machine.shared and self.shared_free - now > self.DEPTH:
            return self.shared_free - self.DEPTH, "shared memory"
        return now, None

    def _issue(self, warp, now):
        machine, instruction = self.machine, warp.way[warp.at]
        operation = instruction.operation
        off = instruction.predicate == "@!PT"
        done = now + machine.results.get(operation, 6)
        read = now + 12
        if operation in machine.pipes:
            self.pipe_free[warp.scheduler, operation] = now + machine.pipes[operation]
        if operation == "HMMA":  # between two of the warpgroups' products
            self.pipe_free[warp.scheduler, "GMMA"] += machine.pipes[operation]
        if operation in GROUP_PRODUCTS:  # it waits in the tensor core, not in the warp
            shape = re.match(r"(?:HGMMA\.64x(\d+)x16|QGMMA\.64x(\d+)x32)", instruction.name)
            cost = machine.columns * int(shape.group(1) or shape.group(2))
            begin = max(self.pipe_free[warp.scheduler, "GMMA"], now)
            self.pipe_free[warp.scheduler, "GMMA"] = begin + cost
            self.tensor_busy += cost / 4
            warp.products = begin + cost + machine.products
            if "gsb0" in instruction.text:  # the last of a group
                warp.commits = [*warp.commits[-8:], warp.products]
        if operation in machine.shared and not off:
            cost = machine.shared[operation]
            self.shared_free = max(self.shared_free, now) + cost
            self.shared_busy += cost
            done = max(done, self.shared_free + machine.results.get(operation, 6) - cost)
            read = self.shared_free
        if operation == "LDGSTS" and not off:
            begin = max(self.memory_free, now)
            self.memory_free = begin + 32 * CHUNK / machine.bytes_per_cycle
            warp.open = max(warp.open, begin + machine.latency)
        elif operation == "LDGDEPBAR":
            warp.copies.append(warp.open)
            warp.copies = warp.copies[-16:]
        if instruction.write_barrier < 6:
            warp.barriers[instruction.write_barrier] = max(
                warp.barriers[instruction.write_barrier], done)
        if instruction.read_barrier < 6:
            warp.barriers[instruction.read_barrier] = max(
                warp.barriers[instruction.read_barrier], read)
        warp.ready = now + max(1, instruction.stall)
        self.issued += 1
        if instruction.operation == "BAR" and self.has_turns(warp):
            self._take_turn(warp, instruction, now)
        elif instruction.operation == "BAR":
            warp.waits_for_block = True
            self.arrived[warp.block] += 1
            if self.arrived[warp.block] == self.block_size:
                self.arrived[warp.block] = 0
                for other in self.warps:
                    if other.block == warp.block:
                        other.waits_for_block = False
                        other.ready = max(other.ready, now + 16)
        warp.at += 1
        if warp.at == len(warp.way):
            warp.at, warp.leaf = 0, warp.leaf + 1
        elif warp.way[warp.at].address != instruction.address + 16:
            warp.ready += 6  # a branch


    @staticmethod
    def has_turns(warp):
        """Whether the kernel's barriers in a leaf are those of warpgroups' turns."""
        return any(i.operation in GROUP_PRODUCTS or i.name.startswith("BAR.ARV") for i in warp.way)

    def _take_turn(self, warp, instruction, now):
        """A warpgroup waits until the one before it has arrived, all warps of both."""
        group = warp.block, warp.group
        if instruction.text.rstrip(" ;").endswith(" 0x80"):  # of one warpgroup
            warp.waits_for_block = True
            self.met[group] += 1
            if self.met[group] == 4:
                self.met[group] = 0
                self._wake(group, now)
            return
        if instruction.name.startswith("BAR.ARV"):
            return self._pass_turn((warp.block, (warp.group + 1) % self.groups), now)
        warp.waits_for_block = True
        self.turn_waits[group] += 1
        self._give_turn(group, now)

    def _pass_turn(self, group, now):
        self.turns[group] += 1
        self._give_turn(group, now)

    def _give_turn(self, group, now):
        if self.turns[group] >= 4 and self.turn_waits[group] == 4:
            self.turns[group] -= 4
            self.turn_waits[group] = 0
            self._wake(group, now)

    def _wake(self, group, now):
        for other in self.warps:
            if (other.block, other.group) == group and other.waits_for_block:
                other.waits_for_block = False
                other.ready = max(other.ready, now + 16)


def ways_of_pairs(leaf):
    """Of the warps of two warpgroups that each have the scores of one of two leaves: both leaves,
    of which one waits for the other's weights."""
    def is_wait(instruction):
        return instruction.operation == "BAR" and instruction.text.rstrip(" ;").endswith(" 0x100") \
            and not instruction.name.startswith("BAR.ARV")

    own, others = leaf.way, leaf.of_others
    first, second = ([i for i in way if not is_wait(i)] for way in (own, others))
    return [first + others] * 4 + [own + second] * 4


@dataclass
class Prediction:
    cycles: float  # a leaf of every block, in the steady state
    blocks: int
    bytes: int  # of KV, a block and leaf
    instructions_per_cycle: float
    shared_busy: float
    tensor_busy: float
    waiting: dict
    tensor_cycles: float  # of all products, a leaf of every block

    @property
    def bytes_per_cycle(self):
        return self.bytes * self.blocks / self.cycles


def predict(listing, kernel, machine, blocks, leaves=12, few=False):
    """The steady state of a kernel with so many blocks on an SM. `few`: of two warpgroups that
    copy tiles, the second one has no rows."""
    leaf, shape = Leaf(listing), shape_of(kernel)
    paired = kernel.startswith(("kv_latent_tiles", "kv_latent_pairs"))
    ways = ways_of_pairs(leaf) if paired else (
        ([leaf.fullest] + [leaf.way] * 3) * (shape.warps // 4))
    if few:
        ways[4:] = [leaf.passed] * 4
    # Beside a warp that copies; of keys and values a slab has 64 elements of a row.
    ways += [leaf.widens * (shape.value // 64)] * 3 if leaf.widens else []
    chunks = shape.value // 16
    if leaf.transposes(chunks):  # by three warps
        ways += [leaf.transposes(len(range(warp, chunks, 3))) for warp in range(3)]
    runs = []
    for count in (leaves // 3, leaves):  # the first leaves fill the ring
        sm = Multiprocessor(machine, ways, blocks, first_turn=0 if paired else 4)
        runs.append((sm.run(count), sm))
    leaves *= 1 + paired
    cycles = (runs[1][0] - runs[0][0]) / (leaves - leaves // 3)
    total, sm = runs[1]
    return Prediction(cycles, blocks, shape.bytes, sm.issued / total, sm.shared_busy / total,
                      sm.tensor_busy / total, dict(sm.waiting), sm.tensor_busy / leaves)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("images", type=Path, nargs="+")
    parser.add_argument("--blocks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--terabytes", type=float, default=Machine.terabytes)
    parser.add_argument("--gigahertz", type=float, default=Machine.gigahertz)
    arguments = parser.parse_args()
    machine = Machine(terabytes=arguments.terabytes, gigahertz=arguments.gigahertz)
    unbound = Machine(terabytes=1000, gigahertz=arguments.gigahertz)
    for image in arguments.images:
        listing, kernel = Listing(image), image.name.split(".")[0]
        for blocks in arguments.blocks:
            alone = predict(listing, kernel, unbound, blocks)
            bound = predict(listing, kernel, machine, blocks)
            if bound.tensor_busy:
                print(f"{kernel}: {alone.cycles:.0f} cycles a leaf, of which its products need "
                      f"{alone.tensor_cycles:.0f}; "
                      f"{alone.instructions_per_cycle:.2f} instructions a cycle; {bound.waiting}")
                continue
            print(f"{kernel}, {blocks} blocks an SM: {alone.cycles:.0f} cycles a leaf, "
                  f"{alone.bytes_per_cycle:.1f} bytes of KV a cycle and SM, "
                  f"{alone.instructions_per_cycle:.2f} instructions a cycle, shared memory busy "
                  f"{alone.shared_busy:.2f}; with {machine.terabytes} TB/s {bound.cycles:.0f} "
                  f"cycles, {bound.bytes_per_cycle / machine.bytes_per_cycle:.2f} of it")


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"cycles.py: {problem}")
