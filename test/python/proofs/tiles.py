"""What is proved of tile copies: the coordinates of a box, and its place in shared memory, bring the rows of the keys
that are multiplied from there.

A copy's meaning is that of the driver's manual: element c of row r of a box lies at the coordinates of its first element
plus c and r, and where these leave a size of the tensor, it is zero. describe() is the text of describeTiles() and
tileParams() (kernels/cuda/parameters/AttentionTiles.h); test_descriptions_are_those_of_the_header() compares both."""

import math

import z3

from addresses import sizes_of, view_of
from cxx import Array, Struct

And, Or, Not, Implies, If = z3.And, z3.Or, z3.Not, z3.Implies, z3.If
SLAB = 128  # bytes of a row of a slab: SlabRowBytes
LANES = 32


def box_tokens(page_size, blocks):
    tokens = math.gcd(page_size, 64 // blocks)
    return tokens if tokens >= 8 else 0


def describe(view, size, heads, dim, layer, plane, rows, bytes8, heads_first, product=lambda a, b: a * b):
    """(First byte, sizes, strides, box) of boxes of `rows` tokens; dim * size is even."""
    inner, outer = (heads, view["headStride"], 1), (view["tokens"], view["tokenStride"], rows)
    if not heads_first:
        inner, outer = outer, inner
    first = view["data"] + size * (product(layer, view["layerStride"]) + product(plane, view["planeStride"]))
    row = dim * size / 2 if z3.is_expr(dim) else dim * size // 2
    return (first, [row, inner[0], outer[0], view["pages"]],
            [inner[1] * size, outer[1] * size, view["pageStride"] * size],
            [SLAB // 2 if bytes8 else 32 * size, inner[2], outer[2], 1])


class Copies:
    """A cache in pages of whole boxes, and what a loader's calls of copyTile() must bring."""

    def __init__(self, t, layout, size, bytes8, leaf, shift, slabs, blocks=1):
        t.copies = self
        self.t, self.size, self.leaf, self.slabs, self.blocks, self.shift = t, size, leaf, slabs, blocks, shift
        self.rows, self.boxes = 2**shift, leaf >> shift
        self.row_bytes = SLAB if bytes8 else 64 * size
        self.slab_bytes = leaf * self.row_bytes
        self.sizes, self.dim = sizes_of(t), t.integer("row", "int32_t", 1)
        self.view, _ = view_of(t, layout, self.dim, self.sizes)
        tokens = t.integer("boxesOfPage", "int32_t", 1) * self.rows
        t.assume(self.dim * size % 2 == 0, self.sizes["token"] == tokens)
        self.sizes["token"] = self.view["pageSize"]["divisor"] = tokens
        self.layer, self.plane, self.head = (t.integer(name, "int32_t", 0) for name in ("layer", "plane", "head"))
        t.assume(*(each < self.sizes[name] for name, each in
                   (("layer", self.layer), ("plane", self.plane), ("head", self.head))))
        self.number, self.page, self.lane, self.rank, self.place = (
            t.integer(name, "int32_t", 0) for name in ("the leaf", "page", "lane", "rank", "place"))
        t.assume(self.page <= self.sizes["page"], self.lane < LANES, self.rank < blocks,
                 self.number * leaf <= 2**31 - 1 - 4 * leaf, self.place <= 2**20)
        self.heads_first = layout == "nhd"
        t.prove((self.view["headStride"] <= self.view["tokenStride"]) == self.heads_first)
        self.described = describe(self.view | {"tokens": self.sizes["token"]}, size, self.sizes["head"], self.dim,
                                  self.layer, self.plane, self.rows, bytes8, self.heads_first, t.machine.product)
        params = Struct("TileParams", {"boxShift": shift, "headsFirst": self.heads_first, "cache": self.view,
                                       "maps": Array(lambda index: 0)})
        first, last = (t.integer(name, "int32_t", 0) for name in ("first", "last"))
        self.loader = {"b": Struct("probe::B", {"lane": self.lane}), "p": params, "lane": self.lane, "first": first,
                       "last": last, "stage": 0, "phase": 0}
        self.element, self.line = t.integer("element", "int32_t", 0), t.integer("line", "int32_t", 0)
        t.assume(self.element < self.row_bytes / 2, self.line < self.rows)
        t.machine.constants = {"Leaf": leaf, "PartBlocks": blocks, "CopySlabs": slabs, "Slabs": slabs,
                               "CopyRowBytes": self.row_bytes, "CopySlabBytes": self.slab_bytes, "WarpLanes": LANES,
                               "SlabBytes": self.slab_bytes, "TileBytes": slabs * self.slab_bytes, "SlabRowBytes": SLAB,
                               "CopyBytes": slabs * self.slab_bytes, "OffsetOf": self.place, "Stages": 2}
        nothing = lambda *_: 0
        t.machine.members = {name: nothing for name in ("expectBytes", "awaitPhase", "barrier", "nextStage")} | {
            "clusterRank": lambda path: self.rank,
            "copyTile": lambda path, map, *box: self.copied(path, *box),
            "copyBox": self.copied}
        t.machine.stubs |= dict.fromkeys(("full", "empty", "landed"), nothing)
        self.asked = []

    def copied(self, path, target, at, barrier):
        """Element `element` of row `line` of a box, by its place, is that of the key that is multiplied from there."""
        t, at, (first, sizes, strides, box) = self.t, at["at"], self.described
        self.asked.append((path, target - self.place, at))
        goal = lambda formula: t.machine.goal("a box brings its rows", path, formula)
        behind = target - self.place + self.line * self.row_bytes
        slab, key = behind / self.slab_bytes, behind % self.slab_bytes / self.row_bytes
        goal(And(0 <= behind, behind % self.row_bytes == 0, slab < self.slabs, box[0] == self.row_bytes // 2,
                 key / self.rows == (key - self.line) / self.rows, target % 128 == self.place % 128))
        head, token = (at[1], at[2]) if self.heads_first else (at[2], at[1])
        position = self.number * self.leaf + key
        slot = position - t.machine.product(t.machine.quotient(position, self.sizes["token"]), self.sizes["token"])
        goal(token + self.line == slot)
        goal(And(0 <= token, token + self.line < self.sizes["token"], head == self.head, at[3] == self.page))
        column = at[0] + self.element
        goal(column == (self.part * self.slabs + slab) * (self.row_bytes // 2) + self.element)
        places = [head, token + self.line] if self.heads_first else [token + self.line, head]
        address = first + 2 * column + sum(map(t.machine.product, [*places, at[3]], strides))
        valid = self.page < self.sizes["page"]
        row = t.value("rowAt", self.view, If(valid, self.page, 0), self.plane, self.layer, slot, self.head, given=path)
        goal(Implies(And(valid, column < sizes[0]),
                     address == self.view["data"] + self.size * row + 2 * column))
        return 0

    part = 0

    def all_are_asked(self):
        """Of each slab each box is brought, by a lane of a block of the part."""
        slab, box = self.t.integer("slab", "int32_t", 0), self.t.integer("box", "int32_t", 0)
        self.t.assume(slab < self.slabs, box < self.boxes)
        own = self.boxes // self.blocks
        mine = If(self.blocks == 1, self.lane == (slab * self.boxes + box) % LANES,
                  And(self.lane == box % own, self.rank == box / own))
        self.t.prove(Implies(mine, Or(*(And(*path, target == slab * self.slab_bytes + box * self.rows * self.row_bytes)
                                        for path, target, _ in self.asked))))


    def confirm(self, program, expected, value_of, function, arguments):
        """What a loader in a program asks for must be what a model says."""
        lane, rank, *given = map(value_of, (self.lane, self.rank, *arguments))
        loader = "TileLoader" if function == "copyBoxes" else "LatentTileLoader"
        program.lines.append(f"""probe::B b{{{lane}, {rank}}}; TileParams p{{}}; p.boxShift = {self.shift};
            p.headsFirst = {int(self.heads_first)}; p.cache.pageSize = {value_of(self.sizes["token"])};
            {loader}<probe::B, probe::T>(b, p).{function}({", ".join(map(str, given))});""")
        for path, target, at in self.asked:
            if all(map(value_of, path)):
                expected += map(value_of, (target, *(at[i] for i in range(4))))


def boxes_bring_their_rows(t, layout, size, bytes8, leaf, shift, slabs):
    """TileLoader: the boxes of a tile of keys or values."""
    copies = Copies(t, layout, size, bytes8, leaf, shift, slabs)
    copies.part = t.integer("part", "int32_t", 0)
    t.assume(copies.part < 4)
    t.machine.call("copyBoxes", copies.number, copies.head, copies.page, copies.plane, copies.part, copies.place, 0,
                   this=Struct("TileLoader", copies.loader))
    copies.all_are_asked()


def pairs_bring_their_halves(t, layout, leaf, shift, slabs, blocks):
    """LatentTileLoader: a slab's boxes, of which each block of a part has asked for its share."""
    copies = Copies(t, layout, 2, False, leaf, shift, slabs, blocks)
    t.assume(copies.head == 0, copies.sizes["head"] == 1, copies.lane < copies.boxes // blocks)
    t.machine.call("copyTile", copies.number, copies.page, this=Struct("LatentTileLoader", copies.loader))
    copies.all_are_asked()
