"""The way that a warp takes through a leaf's loop in the steady state.

A leaf is the smallest loop with all of the matrix multiplications. The steady
state copies a tile at every place where there is one to copy, and takes the
shortest way otherwise: nothing is masked, no group ends, the scale is positive.
"""

from listing import Problem

# What every leaf does; what else it does lies on the way. STRONG loads are of
# scratch that blocks exchange.
MUST = ("LDGSTS", "LDSM", "LDGDEPBAR", "LDG")


def operations(listing, block):
    return {i.operation for i in listing.block_instructions(block)}


class Leaf:
    """`way` are the instructions of a warp, `fullest` those of one that also
    sums weights up."""

    def __init__(self, listing):
        self.listing = listing
        products = {b for b in range(len(listing.blocks)) if "HMMA" in operations(listing, b)}
        loops = listing.loops()
        around = [(len(body), header) for header, body in loops.items() if products <= body]
        if not products or not around:
            raise Problem(f"{listing.path}: no loop has all matrix multiplications")
        self.header = min(around)[1]
        self.body = loops[self.header]
        inner = [h for h, body in loops.items() if h in self.body and h != self.header]
        musts = {b for b in self.body
                 if any(i.operation in MUST and "STRONG" not in i.name
                        for i in listing.block_instructions(b))}
        for h in inner:
            if loops[h] & (musts | products):
                raise Problem(f"{listing.path}: a loop within the leaf's, at "
                              f"{listing.instructions[listing.blocks[h][0]].address:#x}, "
                              "hides how often its instructions run")
        self.way = self._way(musts)
        self.fullest = self._way(musts | products)

    def _length(self, block):
        return len(self.listing.blocks[block])

    def _way(self, musts):
        """The shortest way round through all of `musts`, as instructions."""
        body, after = self.body, self.listing.after
        order, seen = [], set()

        def visit(root):
            stack = [(root, iter(after[root]))]
            seen.add(root)
            while stack:
                block, rest = stack[-1]
                following = next((f for f in rest if f in body and f != self.header
                                  and f not in seen), None)
                if following is None:
                    order.append(block)
                    stack.pop()
                else:
                    seen.add(following)
                    stack.append((following, iter(after[following])))

        visit(self.header)
        order.reverse()
        place = {b: i for i, b in enumerate(order)}
        wanted = sorted((b for b in musts if b in place), key=place.get)
        # best[b]: (musts passed, -length), the way to b
        best = {self.header: ((self.header in musts, -self._length(self.header)), None)}
        for block in order:
            if block not in best:
                continue
            (passed, length), _ = best[block]
            for following in after[block]:
                if following not in body or place.get(following, -1) <= place[block]:
                    continue
                found = (passed + (following in musts), length - self._length(following))
                if following not in best or found > best[following][0]:
                    best[following] = (found, block)
        ends = [b for b in best if self.header in after[b]]
        end = max(ends, key=lambda b: best[b][0])
        if best[end][0][0] < len(wanted):
            raise Problem(f"{self.listing.path}: no way round the leaf's loop passes all of "
                          f"{', '.join(MUST)}")
        way = []
        block = end
        while block is not None:
            way.append(block)
            block = best[block][1]
        way.reverse()
        return [i for b in way for i in self.listing.block_instructions(b)]

    @property
    def per_warp(self):
        """Instructions of a warp, the mean of four: one in four sums a row tile up."""
        return len(self.way) + (len(self.fullest) - len(self.way)) / 4
