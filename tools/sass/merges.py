"""How long the kernel `merge` takes, by the model of cycles.py; steps.py uses it."""

from cycles import Multiprocessor
from leaf import shortest_way
from listing import Listing, Problem

GROUPS, COLUMNS, WARPS = 32, 128, 8  # MergeBody.h
BLOCKS = 2  # of 128 registers, on an SM


class Merge:
    """Of an image with `kv_merge`. One chunk of GROUPS groups is a round of the smallest loop
    with barriers; in it a warp reads and folds the groups that are its own in an inner loop,
    and folds all of them in another."""

    def __init__(self, image, machine):
        self.listing = listing = Listing(image, kernel="kv_merge")
        self.machine = machine
        self.loops = loops = listing.loops()
        by_size = sorted(loops, key=lambda h: len(loops[h]))
        self.chunk = self._first(by_size, lambda i: i.operation == "BAR", 3)
        inner = [h for h in by_size if loops[h] < loops[self.chunk]]
        self.reads = self._first(inner, lambda i: i.operation == "LDG" and "128" in i.name, 8)
        self.folds = self._first(inner, lambda i: i.operation == "LDS", 3)
        item = self._first([h for h in by_size if loops[h] > loops[self.chunk]],
                           lambda i: i.operation == "STG", 1)
        every = range(len(listing.blocks))
        # From the begin to the first item, and round an item with one chunk.
        self.begin = self._code(self._way(0, set(every), {item}, {"LDG", "BAR"})[:-1])
        self.item = self._round(item)

    def _code(self, blocks):
        return [i for b in blocks for i in self.listing.block_instructions(b)]

    def _first(self, headers, wanted, count):
        for header in headers:
            if sum(map(wanted, self._code(self.loops[header]))) >= count:
                return header
        raise Problem(f"{self.listing.path}: kv_merge has not the loops that are looked for")

    def _way(self, begin, inside, ends, operations):
        musts = {b for b in inside if operations & {
            i.operation for i in self.listing.block_instructions(b)}}
        return shortest_way(self.listing, begin, inside, musts, ends)[0]

    def _round(self, header):
        body = self.loops[header]
        ends = {b for b in body if header in self.listing.after[b]}
        return self._code(self._way(header, body, ends, {"LDG", "BAR", "LDS", "STS", "STG", "MUFU"}))

    def _cycles(self, code, blocks):
        return Multiprocessor(self.machine, [code] * WARPS, blocks).run(1)

    def cycles(self, units, rows, columns, groups):
        """Of so many units of so many groups, from the kernel's begin to its end."""
        of_unit = rows * -(-columns // COLUMNS)
        items = units * of_unit
        blocks = BLOCKS if items > self.machine.sms else 1
        share = -(-items // (self.machine.sms * blocks))  # items of a block, neighbours
        item = self._cycles(self.item, blocks)
        found = next(i for i, each in enumerate(self.item) if each.operation == "BAR") + 1
        known = self._cycles(self.item[:found], blocks)  # of a unit whose pieces are known
        looks = share if groups > GROUPS else -(-share // of_unit)
        # An item's way goes round each loop once; these are the other rounds.
        reads = self._cycles(self._round(self.reads), blocks)
        folds = self._cycles(self._round(self.folds), blocks)
        read = WARPS * sum(i.operation == "LDG" for i in self._code(self.loops[self.reads])) // 8
        folded = sum(i.operation == "FFMA" for i in self._code(self.loops[self.folds])) // 3
        for first in range(0, groups, GROUPS):
            count = min(GROUPS, groups - first)
            item += (first > 0) * self._cycles(self._round(self.chunk), blocks)
            item += (-(-count // read) - 1) * reads + (-(-count // folded) - 1) * folds
        return self._cycles(self.begin, blocks) + share * item - (share - looks) * known
