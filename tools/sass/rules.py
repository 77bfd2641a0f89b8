"""What must hold for the machine code of every kernel: `problems(image, listing)`.

- No local memory: a register that is spilled costs more than the budget saves.
- One wait for a chain of `wgmma`: a compiler that cannot prove that nobody touches the
  accumulator in between waits for each one alone.
- A warp's lanes are together where they come to a barrier. ptxas puts a WARPSYNC before
  it unless it knows that they are. The listing does not say which branches are the same in
  all lanes, so a few barriers of a kernel stay unproven; more than most_unproven() are
  an error.
"""

import re


def most_unproven(image):
    """Pairs of blocks decide by the cluster's sizes, which a listing cannot know, whether
    they go through nearly all of their code. ptxas marks more regions for 10.0 and 12.0."""
    if image.startswith("kv_latent_pairs_"):
        return 13
    return 12 if ".sm_1" in image else 4


def local_accesses(listing):
    return sum(each.operation in ("LDL", "STL") for each in listing.instructions)


def lone_products(listing):
    """Waits for a single product, in the order of the addresses."""
    count = products = 0
    for each in listing.instructions:
        if each.operation in ("HGMMA", "QGMMA"):
            products += 1
        elif each.name.startswith("WARPGROUP.DEPBAR"):
            count += products == 1
            products = 0
    return count


class _Lanes:
    """Whether a warp's lanes are together, and were where each region that they may leave
    one by one begins (BSSY), in which convergence register."""

    def __init__(self, together=True, regions=()):
        self.together, self.regions = together, dict(regions)

    def key(self):
        return self.together, tuple(sorted(self.regions.items()))

    def after(self, instruction):
        """Goes on behind it; whether it is a barrier that lanes may reach alone."""
        name, operation = instruction.name, instruction.operation
        words = instruction.text.removeprefix(instruction.predicate).split()
        if operation == "BSSY":
            self.regions[words[1].rstrip(",")] = self.together
        elif operation == "BSYNC" and not instruction.predicate:
            self.together = self.regions.pop(words[-1], self.together)
        elif operation == "WARPSYNC":
            self.together = True
        elif operation == "BRA" and self.regions and _by_lane(instruction):
            self.together = False
        return operation == "BAR" and re.search("SYNC|ARV", name) and not self.together

    def merged(self, other):
        """Of two ways to one place."""
        regions = {name: self.regions.get(name, True) and other.regions.get(name, True)
                   for name in self.regions.keys() | other.regions.keys()}
        return _Lanes(self.together and other.together, regions)


def _by_lane(branch):
    """Whether each lane has a predicate of its own for it."""
    if ".DIV" in branch.name or branch.predicate.lstrip("@!").startswith("UP"):
        return False
    return bool(branch.predicate) or bool(re.match(r"BRA\S* !?P\d", branch.text))


def unproven_barriers(listing):
    """Barriers to which the lanes of a warp may come one by one, as far as is known."""
    before, work, found = {0: _Lanes()}, [0], set()
    while work:
        block = work.pop()
        lanes = _Lanes(*before[block].key())
        for i in listing.blocks[block]:
            if lanes.after(listing.instructions[i]):
                found.add(i)
        for following in listing.after[block]:
            known = before.get(following)
            merged = known.merged(lanes) if known else _Lanes(*lanes.key())
            if known is None or merged.key() != known.key():
                before[following] = merged
                work.append(following)
    return len(found)


def problems(image, listing):
    """One sentence for each rule that an image of that name breaks."""
    found = []
    if count := local_accesses(listing):
        found.append(f"{count} accesses of local memory, allowed: none")
    if count := lone_products(listing):
        found.append(f"{count} products are waited for one by one: a wait belongs to a chain")
    if (count := unproven_barriers(listing)) > (most := most_unproven(image)):
        found.append(f"{count} barriers behind branches that may part a warp's lanes, "
                     f"allowed: {most}")
    return found
