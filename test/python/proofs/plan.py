"""What is proved of include/kv/Definition/Plan.h, for all sizes: each row lies in one tile, each leaf of each unit is
computed by one part, and each piece has a slot of its own.

A theorem states assumptions (`t.assume`) and goals (`t.prove`) about calls of the header's functions (`t.value`). The
goals of one theorem are the assumptions of later ones: where that is so, one function states them for both."""

import z3

from cxx import Struct

And, Or, Not, Implies, If = z3.And, z3.Or, z3.Not, z3.Implies, z3.If
MOST = 2**31 - 1
# A step has at most so many units, so that its line fits into 64 bits, and at most MOST packed rows.
UNITS = 2**30


def leading(a, b):
    """Whether a tuple comes before another one."""
    return Or(a[0] < b[0], And(a[0] == b[0], leading(a[1:], b[1:]))) if a else z3.BoolVal(False)


def place(cut):
    return cut["tile"], cut["head"], cut["leaf"]


def shape_of(t):
    ints = {name: t.integer(name, "int32_t", low) for name, low in
            {"heads": 1, "tileRows": 1, "leaf": 2, "mask": 0, "parts": 1, "slots": 0, "trees": 0}.items()}
    longs = {name: t.integer(name, "int64_t", low) for name, low in {"window": 1, "rowsFrom": 0, "rowsTo": 0}.items()}
    t.assume(ints["mask"] <= 5, ints["trees"] <= 1, ints["parts"] < MOST)
    group = Struct("Divisor", {"divisor": t.integer("group", "int32_t", 1)})
    every = ints | longs | {"group": group}
    return Struct("Shape", {name: every[name] for name in t.machine.source.records["Shape"]})


def header_of(t, shape):
    """A header as makePlan() leaves it."""
    total, tiles = t.integer("total", "int64_t", 0), t.integer("tiles", "int32_t", 0)
    t.assume(total <= 2**31 * UNITS, (total == 0) == (tiles == 0))
    payload = t.integer("payload", "int64_t", 1)
    t.assume(*shared(t, total, shape["parts"], payload))
    return Struct("Header", {"total": total, "payload": payload, "tiles": tiles})


def shared(t, total, parts, payload):
    """All parts together are no shorter than the line, and without need no longer."""
    whole = t.machine.product(payload, parts)
    return [payload >= 1, total <= whole, Or(payload == 1, whole < total + parts)]


def parts_fill_the_line(t):
    total, parts = t.integer("total", "int64_t", 0), t.integer("parts", "int32_t", 1)
    t.assume(total <= 2**31 * UNITS)
    t.prove(*shared(t, total, parts, t.value("payloadOf", total, parts)))


def tile_of(t):
    fields = {name: t.integer(name, "int64_t" if name == "start" else "int32_t", 0)
              for name in t.machine.source.records["Tile"]}
    t.assume(fields["leafBegin"] <= fields["leafEnd"], fields["leafEnd"] < 2**31 - 8)
    return Struct("Tile", fields)


def cost(tile):
    return tile["leafEnd"] - tile["leafBegin"] + 2


def end_of(t, shape, tile):
    """Where the last unit of a tile ends on the line."""
    return tile["start"] + t.machine.product(cost(tile), shape["heads"])


def sequence_of(t):
    fields = {name: t.integer(name, "int64_t", 0) for name in t.machine.source.records["Sequence"]}
    t.assume(*clamped(fields, MOST))
    return Struct("Sequence", fields)


def clamped(sequence, tokens):
    return [sequence["token"] >= 0, sequence["added"] >= 0, sequence["token"] + sequence["added"] <= tokens,
            sequence["cached"] >= 0, sequence["cached"] <= MOST, sequence["length"] >= 0, sequence["length"] <= MOST]


# Rows and keys

def lengths_are_clamped(t):
    """Whatever lies in the arrays of lengths, no sequence leaves the step's tokens or its row of the table."""
    batch = batch_of(t)
    index = t.integer("index", "int32_t", 0)
    t.assume(index < batch["sequences"])
    sequence = t.value("sequenceAt", batch, index)
    t.prove(*clamped(sequence, batch["tokens"]), sequence["length"] <= batch["capacity"])
    first, last, cached = batch["rowOffsets"][index], batch["rowOffsets"][index + 1], batch["cacheLengths"][index]
    proper = And(0 <= first, first <= last, last <= batch["tokens"], cached >= 0)
    fits = And(proper, cached + last - first <= batch["capacity"], cached + last - first <= MOST)
    t.prove(Implies(proper, And(sequence["token"] == first, sequence["added"] == last - first)),
            Implies(fits, sequence["length"] == cached + last - first))


def batch_of(t):
    return Struct("Batch", {"cacheLengths": t.integers("cacheLengths"), "rowOffsets": t.integers("rowOffsets"),
                            "sequences": t.integer("sequences", "int32_t", 0),
                            "tokens": t.integer("tokens", "int32_t", 0),
                            "capacity": t.integer("capacity", "int64_t", 0)})


def masks_are_intervals(t):
    """visibleKeys() gives the keys that the definition of each mask names (kv/ABI/Context.h)."""
    mask, window = t.integer("mask", "int32_t", 0), t.integer("window", "int64_t", 1)
    position, length, key = (t.integer(name, "int64_t", 0) for name in ("position", "length", "key"))
    t.assume(mask <= 5, position <= 2 * MOST, length <= MOST, key < length)
    keys = t.value("visibleKeys", mask, window, position, length)
    causal, near = key <= position, position - key < window
    same = t.machine.quotient(key, window) == t.machine.quotient(position, window)
    definitions = [True, causal, And(causal, near), same, near, And(causal, same)]
    sees = And(keys["first"] <= key, key < keys["last"])
    t.prove(*(Implies(mask == number, sees == each) for number, each in enumerate(definitions)))


def rows_have_one_tile(t):
    """Packed row r lies in tile r / tileRows, which tilesOf() counts, and in no other."""
    shape, sequence = shape_of(t), sequence_of(t)
    row, number = t.integer("row", "int64_t", 0), t.integer("number", "int64_t", 0)
    rows = t.machine.product(sequence["added"], shape["group"]["divisor"])
    t.assume(row < rows, rows <= MOST)
    count = t.value("tilesOf", shape, sequence)
    covered = And(shape["rowsFrom"] <= rows, rows < shape["rowsTo"])
    begin = t.machine.product(number, shape["tileRows"])
    owner = t.machine.quotient(row, shape["tileRows"])
    t.prove(Implies(Not(covered), count == 0))
    inside = And(begin <= row, row < begin + shape["tileRows"])
    t.prove(Implies(covered, And(0 <= owner, owner < count)), Implies(inside, number == owner),
            Implies(number == owner, inside), Implies(And(covered, number < count), begin < rows))


def touched(t, keys, tile, leaf, length):
    """A tile that sees keys has the leaves that these touch."""
    begin, end = (t.machine.product(tile[name], leaf) for name in ("leafBegin", "leafEnd"))
    return [0 <= keys["first"], keys["last"] <= length, begin <= keys["first"], keys["first"] < begin + leaf,
            end - leaf < keys["last"], keys["last"] <= end]


def tiles_see_what_rows_see(t):
    """A key that a row of a tile sees lies in the tile's leaves. A node of a tree is at most as far as its token."""
    shape, sequence = shape_of(t), sequence_of(t)
    number, row, key = (t.integer(name, "int64_t", 0) for name in ("number", "row", "key"))
    rows = t.machine.product(sequence["added"], shape["group"]["divisor"])
    begin = t.machine.product(number, shape["tileRows"])
    t.assume(row < rows, rows <= MOST, begin <= row, row < begin + shape["tileRows"])
    tile = t.value("makeTile", shape, sequence, t.integer(
        "index", "int32_t", 0), number, t.integer("start", "int64_t", 0))
    token = t.machine.quotient(row, shape["group"]["divisor"])
    seen = t.value("tileKeys", shape, sequence, begin)
    t.prove(0 <= tile["leafBegin"], tile["leafBegin"] <= tile["leafEnd"], tile["row"] == begin, Implies(
        seen["first"] < seen["last"], And(*touched(t, seen, tile, shape["leaf"], sequence["length"]))))
    # The first key by the position along the path, the last one by the place among the tokens.
    position = t.integer("position", "int64_t", 0)
    before = t.value("tokensBeforeTree", sequence["added"])
    t.assume(If(And(shape["trees"] == 1, token >= before),
                And(sequence["cached"] + before <= position, position <= sequence["cached"] + token),
                position == sequence["cached"] + token))
    first = t.value("visibleKeys", shape["mask"], shape["window"], position, sequence["length"])["first"]
    last = t.value("visibleKeys", shape["mask"], shape["window"],
                   sequence["cached"] + token, sequence["length"])["last"]
    t.assume(first <= key, key < last)
    t.prove(t.machine.product(tile["leafBegin"], shape["leaf"]) <= key,
            key < t.machine.product(tile["leafEnd"], shape["leaf"]))


# The line

def chained(tiles, heads, product, total, count, i, j):
    """Tiles i < j of the line: it begins at 0, has no gap, and ends at `total`."""
    before = tiles[i]["start"] + product(cost(tiles[i]), heads)
    return And(Implies(count == 0, total == 0), Implies(And(0 <= i, i < count), And(
        0 <= tiles[i]["leafBegin"], tiles[i]["leafBegin"] <= tiles[i]["leafEnd"], tiles[i]["leafEnd"] < 2**31 - 8,
        tiles[i]["start"] >= 0, Implies(i == 0, tiles[i]["start"] == 0), before <= total,
        Implies(i == count - 1, before == total),
        Implies(And(i < j, j < count), before <= tiles[j]["start"]),
        Implies(And(i < count - 1, j == i + 1), before == tiles[j]["start"]))))


def line_has_no_gap(t):
    """makePlan() writes no more tiles than there is room for, each begins where the one before ends, and cut p is
    partBegin(p)."""
    shape, batch = shape_of(t), batch_of(t)
    product = t.machine.product
    room = t.value("maxTiles", shape, batch["sequences"], batch["tokens"])
    t.assume(product(batch["tokens"], shape["group"]["divisor"]) <=
             MOST, room < MOST, product(room, shape["heads"]) <= UNITS)
    i, j, k = (t.integer(name, "int32_t", 0) for name in "ijk")
    tiles = t.machine.array("tiles", t.machine.zero("Tile"))
    cuts = t.machine.array("cuts", t.machine.zero("Cut"))
    cut = t.machine.array("cut", t.machine.zero("Cut"))
    t.machine.stubs["partBegin"] = lambda shape, header, tiles, part: cut[part]

    def line(v):
        count = v.header["tiles"]
        return And(0 <= count, count <= v.room, v.header["total"] >= 0,
                   v.header["total"] <= 2**31 * product(count, shape["heads"]),
                   chained(v.tiles, shape["heads"], product, v.header["total"], count, i, j),
                   chained(v.tiles, shape["heads"], product, v.header["total"], count, i, count - 1))

    t.machine.loops["makePlan"] = [
        (lambda v: And(line(v), v.b >= 0, v.b <= batch["sequences"]), lambda v: batch["sequences"] - v.b),
        (lambda v: And(line(v), v.i >= 0, v.b >= 0, v.b < batch["sequences"]), lambda v: v.count - v.i),
        (lambda v: And(v.part >= 0, v.part <= shape["parts"] + 1,
                       Implies(k < v.part, And(*(v.cuts[k][name] == cut[k][name] for name in cut[k])))),
         lambda v: shape["parts"] + 1 - v.part)]
    header, (_, _, tiles, cuts) = t.machine.call("makePlan", shape, batch, tiles, cuts)
    t.prove(chained(tiles, shape["heads"], product, header["total"], header["tiles"], i, j),
            Implies(k <= shape["parts"], And(*(cuts[k][name] == cut[k][name] for name in cut[k]))))


# Cuts

def line_of(t):
    return t.machine.array("tiles", t.machine.zero("Tile"))


def cuts_of(t, shape, header, tiles, *numbers, also=()):
    """partBegin() of some parts of a line of which line_has_no_gap() holds, which is assumed where it is needed."""
    def chain(*indices):
        t.know(*(chained(tiles, shape["heads"], t.machine.product, header["total"], header["tiles"], i, j)
                 for i in indices for j in indices))

    chain(*range(4 if t.machine.unroll else 1))
    t.machine.loops["partBegin"] = [(
        lambda v: And(0 <= v.low, v.low < v.high, v.high <= header["tiles"], tiles[v.low]["start"] <= v.place,
                      Implies(v.high < header["tiles"], tiles[v.high]["start"] > v.place)),
        lambda v: v.high - v.low)]
    cuts = [t.value("partBegin", shape, header, tiles, number) for number in numbers]
    chain(0, *(each for left in t.machine.left for each in (left.low, left.low + 1)), header["tiles"] - 1, *also)
    return cuts


def cuts_are_in_order(t):
    """Each cut is a place of the line, cut 0 its beginning, the last its end, and none lies before an earlier one."""
    t.machine.alike = True
    shape = shape_of(t)
    header, tiles = header_of(t, shape), line_of(t)
    part = t.integer("part", "int32_t", 0)
    t.assume(part < shape["parts"])
    cuts = cuts_of(t, shape, header, tiles, part, part + 1)
    for cut in cuts:
        tile = tiles[cut["tile"]]
        inside = And(0 <= cut["tile"], cut["tile"] < header["tiles"])
        t.prove(Or(inside, And(cut["tile"] == header["tiles"], cut["head"] == 0, cut["leaf"] == 0)),
                Implies(inside, And(0 <= cut["head"], cut["head"] < shape["heads"], tile["leafBegin"] <= cut["leaf"],
                                    Or(cut["leaf"] == tile["leafBegin"], cut["leaf"] < tile["leafEnd"]))))
    t.prove(Not(leading(place(cuts[1]), place(cuts[0]))))
    t.prove(Implies(And(part == 0, header["tiles"] > 0), And(cuts[0]["tile"] ==
            0, cuts[0]["head"] == 0, cuts[0]["leaf"] == tiles[0]["leafBegin"])))
    t.prove(Implies(part + 1 == shape["parts"], cuts[1]["tile"] == header["tiles"]))


def parts_walk_from_cut_to_cut(t):
    """With workAt() and cutAfter(), a part computes once each leaf from its cut to the next, and no other: a step
    computes what lies between its place and the place after it."""
    shape, tile = shape_of(t), tile_of(t)
    at, end, leaf = ([t.integer(f"{name} {field}", "int32_t", -1 if field == "leaf" else 0)
                      for field in ("tile", "head", "leaf")] for name in ("at", "end", "the"))
    t.assume(at[0] < MOST, at[1] < shape["heads"], leaf[2] >= 0, leaf[2] <= MOST)
    begin = If(at[2] == -1, tile["leafBegin"], at[2])
    first = [at[0], at[1], begin]
    # `at` is a place of `tile`, `end` a cut, and `the leaf` lies in its unit; MOST stands for the end of a unit.
    t.assume(tile["leafBegin"] <= begin, Or(begin == tile["leafBegin"], begin < tile["leafEnd"]),
             Not(leading(end, first)), end[2] >= 0, end[1] < shape["heads"],
             Implies(end[0] == at[0], And(tile["leafBegin"] <= end[2], Or(
                 end[2] == tile["leafBegin"], end[2] < tile["leafEnd"]))),
             Implies(leaf[0] == at[0], And(tile["leafBegin"] <= leaf[2], leaf[1] < shape["heads"], Or(
                 leaf[2] == tile["leafBegin"], leaf[2] < tile["leafEnd"], leaf[2] == MOST))), leaf[1] < shape["heads"])
    cuts = [Struct("Cut", dict(zip(("tile", "head", "leaf"), values))) for values in (at, end)]
    work = t.machine.zero("Work")
    goes, (_, _, _, work) = t.machine.call("workAt", tile, *cuts, work)
    after = t.value("cutAfter", shape, work)
    then = [after["tile"], after["head"], after["leaf"]]
    same = And(work["tile"] == leaf[0], work["head"] == leaf[1])
    computed = Or(And(same, work["leafBegin"] <= leaf[2], leaf[2] < work["leafEnd"]),
                  And(same, leaf[2] == tile["leafBegin"], work["starts"]), And(same, leaf[2] == MOST, work["ends"]))
    t.prove(Not(goes) == And(*(a == b for a, b in zip(first, end))),
            Implies(goes, And(then[1] < shape["heads"], Not(leading(end, then)), leading(first, then),
                              computed == And(Not(leading(leaf, first)), leading(leaf, then)))))


def each_leaf_has_one_part(t):
    """If parts go from cut to cut and cuts are in order, part by part: a leaf has been computed once if it lies
    before the cut, else never. The last cut is the end of the line, so each has been computed once there."""
    cut, following, leaf = ([t.integer(f"{name} {field}", "int32_t", 0) for field in ("tile", "head", "leaf")]
                            for name in ("cut", "next", "the"))
    times = lambda place: If(leading(leaf, place), 1, 0)
    t.assume(Not(leading(following, cut)))
    t.prove(times(cut) + If(And(Not(leading(leaf, cut)), leading(leaf, following)), 1, 0) == times(following))


# Units

def units_know_their_parts(t):
    """unitParts(), partLeaves() and partOf() say what cuts say: part p has the unit's leaves from cut p to the next."""
    product = t.machine.product
    shape, tile = shape_of(t), tile_of(t)
    header = header_of(t, shape)
    head, part, leaf = t.integer("head", "int32_t", 0), t.integer(
        "part", "int32_t", 0), t.integer("the leaf", "int32_t", 0)
    t.assume(head < shape["heads"], part < shape["parts"], end_of(t, shape, tile) <= header["total"])
    start = t.value("unitStart", tile, head)

    def clip(number):
        offset = product(number, header["payload"]) - start
        inside = And(0 <= offset, offset < cost(tile))
        return If(offset < 0, tile["leafBegin"], If(offset >= cost(tile), tile["leafEnd"], t.value(
            "cutLeaf", shape, header, tile, If(inside, offset, 0))))

    t.machine.loops["unitParts"] = [(
        lambda v: And(first_of(v) <= v.first, v.first <= v.last,
                      *(Implies(And(first_of(v) < number, number <= v.first), clip(number) == tile["leafBegin"])
                        for number in (part, part + 1))),
        lambda v: v.last - v.first)]
    first_of = lambda v: t.machine.quotient(v.start, header["payload"])
    parts = t.value("unitParts", shape, header, tile, head)
    mine = And(parts["first"] <= part, part <= parts["last"])
    leaves = t.value("partLeaves", shape, header, tile, head, parts, part, given=[mine])
    begin, end = clip(part), clip(part + 1)
    empty = tile["leafBegin"] == tile["leafEnd"]
    t.prove(0 <= parts["first"], parts["first"] <= parts["last"], parts["last"] < shape["parts"])
    t.prove(Implies(mine, And(leaves["begin"] == begin, leaves["end"] == end)))
    t.prove(Implies(Not(empty), mine == (begin < end)))
    inside = And(tile["leafBegin"] <= leaf, leaf < tile["leafEnd"])
    owner = t.value("partOf", shape, header, tile, head, parts, leaf, given=[inside])
    t.prove(Implies(And(inside, owner == part), And(begin <= leaf, leaf < end)),
            Implies(And(inside, begin <= leaf, leaf < end), owner == part))


def pieces_have_slots(t):
    """The pieces of the unit that a part continues, from the front, and of the unit that it leaves to others, from
    the back, meet in no slot; nor does a part of one unit need more than it has."""
    shape = shape_of(t)
    header = Struct("Header", {"total": 0, "payload": t.integer("payload", "int64_t", 1), "tiles": 0})
    t.assume(header["payload"] <= 2**31 * UNITS, shape["slots"] <= MOST // 4)
    tile, other = tile_of(t), tile_of(t)
    offset, behind = t.integer("offset", "int64_t", 0), t.integer("behind", "int64_t", 0)
    end, may = offset + header["payload"], [t.value("mayCut", shape, header, cost(each)) for each in (tile, other)]
    t.assume(offset < cost(tile), behind < cost(other))
    cut = lambda of, at, given: t.value("cutLeaf", shape, header, of, at, given=[given])
    pieces = lambda first, last: t.value("pieceCount", first, last)
    stays, leaves = And(may[0], end < cost(tile)), end >= cost(tile)
    begin = cut(tile, offset, may[0])
    inner = pieces(begin, If(stays, cut(tile, end, stays), begin))
    front = If(may[0], pieces(begin, tile["leafEnd"]), 0)
    # The other unit begins on the line where this one has ended, or later.
    back = If(may[1], pieces(other["leafBegin"], cut(other, behind, may[1])), 0)
    t.prove(inner <= shape["slots"], Implies(And(leaves, behind <= end - cost(tile)), front + back <= shape["slots"]),
            Implies(behind <= header["payload"], back <= shape["slots"]))
    # Pieces are numbered without a gap, and each ends where the next begins.
    leaf, last = t.integer("the leaf", "int32_t", 0), t.integer("last", "int32_t", 0)
    t.assume(begin <= leaf, leaf < last, last <= tile["leafEnd"])
    following = t.value("pieceEnd", leaf, last)
    span = Struct("Leaves", {"begin": begin, "end": last})
    t.prove(Implies(t.value("pieceBegins", span, leaf), And(
        leaf < following, following <= last, pieces(begin, following) == pieces(begin, leaf) + 1,
        leaf / 8 == (following - 1) / 8, Or(following == last, t.value("pieceBegins", span, following)))),
            t.value("pieceBegins", span, begin))


def units_read_the_cuts(t):
    """Where a cut lies in a unit is what its place on the line says: before, at a leaf, or after."""
    t.machine.alike = True
    shape = shape_of(t)
    header, tiles = header_of(t, shape), line_of(t)
    part, unit, head = (t.integer(name, "int32_t", 0) for name in ("part", "unit", "head"))
    t.assume(part <= shape["parts"], unit < header["tiles"], head < shape["heads"])
    cut = cuts_of(t, shape, header, tiles, part, also=(unit,))[0]
    tile = tiles[unit]
    offset = t.machine.product(part, header["payload"]) - t.value("unitStart", tile, head)
    ours, here = (unit, head), (cut["tile"], cut["head"])
    inside = And(0 <= offset, offset < cost(tile))
    t.prove(leading(here, ours) == (offset < 0), leading(ours, here) == (offset >= cost(tile)),
            Implies(inside, cut["leaf"] == t.value("cutLeaf", shape, header, tile, If(inside, offset, 0))))
