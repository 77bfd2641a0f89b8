"""The ways that a warp takes: through a leaf's loop in the steady state, and to it.

A leaf is the smallest loop with all of the matrix multiplications. The steady
state copies a tile at every place where there is one to copy, and takes the
shortest way otherwise: nothing is masked, no group ends, the scale is positive, and a
decode tile has no more than eight rows.
"""

from listing import Problem

# What every leaf does; what else it does lies on the way. STRONG loads are of
# scratch that blocks exchange.
# HMMA and HGMMA multiply 16 bits, QMMA and QGMMA 8.
GROUP_PRODUCTS = {"HGMMA", "QGMMA"}
MUST = ("LDGSTS", "LDSM", "LDGDEPBAR", "LDG", *GROUP_PRODUCTS)
PRODUCTS = {"HMMA", "QMMA", *GROUP_PRODUCTS}


def operations(listing, block):
    return {i.operation for i in listing.block_instructions(block)}


def shortest_way(listing, begin, inside, musts, ends):
    """The shortest way from a block to one of `ends`, through blocks `inside`, past as many
    of `musts` as there is a way past, none twice. Returns it as blocks, and that number."""
    order, seen = [], {begin}
    stack = [(begin, iter(listing.after[begin]))]
    while stack:
        block, rest = stack[-1]
        following = next((f for f in rest if f in inside and f not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(listing.after[following])))
    order.reverse()
    place = {b: i for i, b in enumerate(order)}
    best = {begin: ((begin in musts, -len(listing.blocks[begin])), None)}
    for block in order:
        if block not in best:
            continue
        passed, length = best[block][0]
        for following in listing.after[block]:
            if place.get(following, -1) <= place[block]:
                continue
            found = (passed + (following in musts), length - len(listing.blocks[following]))
            if following not in best or found > best[following][0]:
                best[following] = (found, block)
    end = max((b for b in best if b in ends), key=lambda b: best[b][0])
    passed, way = best[end][0][0], []
    while end is not None:
        way.append(end)
        end = best[end][1]
    return way[::-1], passed


class Leaf:
    """`way` are the instructions of a warp, `fullest` those of one that also
    sums weights up."""

    def __init__(self, listing):
        self.listing = listing
        products = {b for b in range(len(listing.blocks)) if PRODUCTS & operations(listing, b)}
        self.loops = loops = listing.loops()
        products = self._of_leaves(products)
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

    def _of_leaves(self, products):
        """Without those of a piece's first scores, where a kernel has the next ones under way:
        they lie before the loop that has most."""
        listing, inner = self.listing, {}
        for header, body in self.loops.items():
            if body & products and not any(other < body and other & products
                                           for other in self.loops.values()):
                inner[header] = sum(i.operation in GROUP_PRODUCTS for b in body
                                    for i in listing.block_instructions(b))
        if not any(inner.values()):
            return products
        most = self.loops[max(inner, key=inner.get)]
        before = {b for b in products - most if "QGMMA" in operations(listing, b)}
        return products - before

    @property
    def of_others(self):
        """Round the loop where another warpgroup has the leaf's scores: past the products of
        values (whose operand is transposed) alone."""
        listing = self.listing
        of_scores, of_values = set(), set()
        for b in self.body:
            for i in listing.block_instructions(b):
                if i.operation == "HGMMA":
                    (of_values if "tnspB" in i.text else of_scores).add(b)
        return self._way(of_values, self.body - of_scores)

    def _way(self, musts, body=None):
        """Round the loop, past all of `musts`, as instructions."""
        listing, body = self.listing, body or self.body
        ends = {b for b in body if self.header in listing.after[b]}
        way, passed = shortest_way(listing, self.header, body, musts, ends)
        if passed < len(musts):
            raise Problem(f"{listing.path}: no way round the leaf's loop passes all of "
                          f"{', '.join(MUST)}")
        return self._instructions(way)

    def _instructions(self, way):
        return [i for b in way for i in self.listing.block_instructions(b)]

    @property
    def passed(self):
        """A leaf of a warpgroup that takes its turns and gives tiles back, and multiplies nothing;
        nothing where none does."""
        def turns(body):
            return {b for b in body if "BAR" in operations(self.listing, b)}

        def way_in(header, body):
            ends = {b for b in body if header in self.listing.after[b]}
            return self._instructions(shortest_way(self.listing, header, body, turns(body), ends)[0])

        loops = [(len(body), header) for header, body in self.loops.items()
                 if not body & self.body and len(turns(body)) > 0
                 and any(i.name.startswith("BAR.ARV") for b in body
                         for i in self.listing.block_instructions(b))]
        if loops:
            header = min(loops)[1]
            return way_in(header, self.loops[header])
        # Of products of 8 bits, in the leaf's own loop, beside them.
        products = {b for b in self.body if "QGMMA" in operations(self.listing, b)}
        return way_in(self.header, self.body - products) if products else []

    @property
    def start(self):
        """From the kernel's begin to its first leaf: every load and copy on the way, once, but
        those of paths of trees: behind the first copies, of two words each."""
        listing = self.listing
        blocks = range(len(listing.blocks))
        copies = min((b for b in blocks if "LDGSTS" in operations(listing, b)), default=len(blocks))

        def of_paths(block):
            names = [i.name for i in listing.block_instructions(block) if i.operation == "LDG"]
            return block > copies and names and all(n == "LDG.E.64" for n in names)

        musts = {b for b in blocks
                 if operations(listing, b) & {"LDG", "LDGSTS", "BAR"} and not of_paths(b)}
        way, _ = shortest_way(listing, 0, set(range(len(listing.blocks))), musts, {self.header})
        return self._instructions(way[:-1])

    @property
    def merges(self):
        """A round of each loop that reads values of others' pieces, beside the leaf's."""
        return self._rounds(lambda widths: "128" in widths)

    @property
    def weighs(self):
        """The same of loops that read their states alone."""
        return self._rounds(lambda widths: widths == {"64"})

    @property
    def widens(self):
        """What a warp of those that widen 8-bit elements does for a slab of keys and one of
        values; nothing where none does."""
        listing, way = self.listing, []

        def moves(body):
            names = [i.name for b in body for i in listing.block_instructions(b)]
            return (not body & self.body and "LDS.128" in names and "STS.128" in names
                    and not any("STRONG" in n or n.startswith(("HGMMA", "SHFL")) for n in names))

        for header, body in self.loops.items():
            if moves(body) and not any(other < body and moves(other) for other in self.loops.values()):
                musts = {b for b in body if "STS.128" in
                         [i.name for i in listing.block_instructions(b)]}
                ends = {b for b in body if header in listing.after[b]}
                once = self._instructions(shortest_way(listing, header, body, musts, ends)[0])
                way += [i for i in once if i.operation not in ("BAR", "WARPSYNC")]
        return way

    def transposes(self, chunks):
        """What a warp of those that transpose 8-bit values does for a leaf, of whose rows it has
        so many chunks of 16 elements; nothing where none does."""
        listing = self.listing
        rounds = []  # one where keys are looked at, one where all are seen
        for header, body in self.loops.items():
            if any("STSM" in operations(listing, b) for b in body):
                rounds.append((len(body), header))
        if not rounds:
            return []
        ways = {}
        for _, header in rounds:
            body = self.loops[header]
            if any(other != header and self.loops[other] < body for _, other in rounds):
                continue
            ends = {b for b in body if header in listing.after[b]}
            musts = {b for b in body if "STSM" in operations(listing, b)}
            ways[header] = self._instructions(shortest_way(listing, header, body, musts, ends)[0])
        chunk = min(ways, key=lambda header: len(ways[header]))
        around = min((r for r in rounds if r[1] not in ways), default=None)
        if around is None:
            raise Problem(f"{listing.path}: values are transposed, and no loop has a leaf's")
        body = self.loops[around[1]]
        others = {b for header in ways if header != chunk for b in self.loops[header]}
        ends = {b for b in body if around[1] in listing.after[b]}
        way, _ = shortest_way(listing, around[1], body - others, {chunk}, ends)
        once = self._instructions(way) + ways[chunk] * (chunks - 1)
        return [i for i in once if i.operation not in ("BAR", "WARPSYNC")]

    def _rounds(self, wanted):
        listing = self.listing
        rounds = []
        for header, body in self.loops.items():
            widths = {next((w for w in ("128", "64") if w in i.name.split(".")), "")
                      for b in body for i in listing.block_instructions(b)
                      if i.operation == "LDG" and "STRONG" in i.name}
            reads = wanted(widths)
            if reads and not body & self.body and not any(
                    other < body for other in self.loops.values()):
                musts = {b for b in body if operations(listing, b) & {"LDG", "LDS", "MUFU"}}
                ends = {b for b in body if header in listing.after[b]}
                rounds.append(self._instructions(
                    shortest_way(listing, header, body, musts, ends)[0]))
        return rounds

    @property
    def per_warp(self):
        """Instructions of a warp, the mean of four: one in four sums a row tile up."""
        return len(self.way) + (len(self.fullest) - len(self.way)) / 4
