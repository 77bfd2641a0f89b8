"""What is proved of addresses: from a row of the page table to the bytes of a key, for all sizes and layouts."""

import z3

from cxx import Array, Struct
from plan import MOST, batch_of, touched

And, Or, Not, Implies, If = z3.And, z3.Or, z3.Not, z3.Implies, z3.If
FILTERS = ("kv::cuda::KeyPlaces", "kv::cuda::TileLoader", "kv::cuda::TileBringer", "findStored", "rowAt",
           "kv::cuda::sequenceOf", "kv::cuda::LatentTileLoader", "kv::cuda::TileAt")
# The dimensions from the innermost but one to the outermost, as blockOrder() has them (kv/ABI/CacheGeometry.h).
LAYOUTS = {"nhd": ("head", "token", "layer", "plane", "page"), "hnd": ("token", "head", "layer", "plane", "page"),
           "cpu": ("token", "plane", "head", "layer", "page")}
POOL = 2**61  # a pool, and the address at which it begins, in bytes


def sizes_of(t):
    sizes = {dim: t.integer(f"{dim} count", "int32_t", 1) for dim in LAYOUTS["nhd"]}
    t.assume(sizes["plane"] <= 2)
    return sizes


def indices_of(t, sizes):
    indices = {dim: t.integer(dim, "int32_t", 0) for dim in LAYOUTS["nhd"]}
    t.assume(*(indices[dim] < sizes[dim] for dim in sizes))
    return indices


def view_of(t, layout, row, sizes):
    """A view whose rows of `row` elements lie in the order of a layout without a gap, and the pool's elements."""
    extent, view = row, {"data": t.integer("data", "int64_t", 0), "pages": sizes["page"],
                         "pageSize": Struct("Divisor", {"divisor": sizes["token"]})}
    for dim in LAYOUTS[layout]:
        stride = view[dim + "Stride"] = t.integer(dim + "Stride", "int64_t", 1)
        t.assume(stride == extent)
        extent = t.machine.product(sizes[dim], stride)
    t.assume(view["data"] <= POOL, extent <= POOL)
    return Struct("CacheView", view), extent


def row_of(t, view, at):
    return t.value("rowAt", view, at["page"], at["plane"], at["layer"], at["token"], at["head"])


def rows_lie_in_their_page(t, layout):
    """rowAt() gives rows that lie in the pool, in their page, and apart from each other."""
    sizes, row = sizes_of(t), t.integer("row", "int32_t", 1)
    view, pool = view_of(t, layout, row, sizes)
    one, other = indices_of(t, sizes), indices_of(t, sizes)
    first, second = row_of(t, view, one), row_of(t, view, other)
    begin = t.machine.product(one["page"], view["pageStride"])
    t.prove(0 <= first, begin <= first, first + row <= begin + view["pageStride"], first + row <= pool)
    same = And(*(one[dim] == other[dim] for dim in sizes))
    t.prove(Or(same, first + row <= second, second + row <= first))


def table_of(t, columns):
    """A row of the page table with any entries, and a block whose loads must stay in it."""
    table = t.integers("table")

    def load(path, pointer):
        begin, end = t.bounds[pointer.array]
        t.machine.goal("a load stays in its row", path, And(begin <= pointer.offset, pointer.offset < end))
        return pointer.array[pointer.offset]

    t.bounds = {table: (0, columns)}
    t.machine.members = {"load": load, "thread": lambda path: t.thread, "clusterRank": lambda path: 0}
    return table


def places_of(t, view, leaf, at):
    """A unit, and a KeyPlaces of which nothing has been computed."""
    t.thread = t.integer("thread", "int32_t", 0)
    table_of(t, 0)
    t.machine.constants = {"Leaf": leaf, "Threads": t.integer("Threads", "int32_t", 1), "KeepsFirstKey": True,
                           "Scaled": True, "NoAddress": -2**63, "sizeof": 2}
    t.machine.stubs |= {"opaque": lambda x: x, "opaqueGlobal": lambda x: x, "addressOf": lambda x: x}
    t.assume(t.thread < t.machine.constants["Threads"])
    params = Struct("AttentionParams", {"cache": view, "layer": at["layer"], "scales": Struct(
        "ScalesView", {name: each for name, each in view.items() if name.endswith("Stride")})})
    return (Struct("U", {"b": Struct("probe::B", {"lane": t.thread}), "p": params, "leafBegin": 0,
                        "leafEnd": 0, "rows": Struct("R", {"head": at["head"]})}),
            Struct("KeyPlaces<probe::U>", dict.fromkeys(("firstKey", "firstScale", "keysCount", "scaleAt"), 0)))


NO_VIEW = {"data": 0, "layerStride": 0, "headStride": 0}


def seen_keys(first, count, length):
    """The keys of which a thread looks up pages."""
    return [0 <= first, 0 < count, first + count <= length]


def works_see_their_keys(t, leaf):
    """KeyPlaces: of a work that has leaves, keys are looked up of those that its tile sees."""
    length = t.integer("length", "int32_t", 0)
    keys, tile, work = ({name: t.integer(name, "int32_t", 0) for name in names} for names in (
        ("first", "last"), ("leafBegin", "leafEnd"), ("begin", "end")))
    t.assume(keys["first"] < keys["last"], *touched(t, keys, tile, leaf, length), tile["leafBegin"] <= work["begin"],
             work["begin"] < work["end"], work["end"] <= tile["leafEnd"])
    unit, places = places_of(t, Struct("CacheView", NO_VIEW), leaf, {"layer": 0, "head": 0})
    t.machine.members["lookUp"] = lambda *_: -1
    places = Struct(places.type, places | {"tableRow": Array(lambda index: 0),
                    "keysFirst": keys["first"], "keysLast": keys["last"]})
    t.machine.call("firstPages", unit, Struct("Work", {"leafBegin": work["begin"], "leafEnd": work["end"]}),
                   Array(lambda index: -1), this=places)
    t.prove(*seen_keys(t.machine.this["keysFirst"], t.machine.this["keysCount"], length))


def table_is_read_in_one_row(t, leaf):
    """KeyPlaces: a thread reads only entries of its sequence's row of the table."""
    length, columns, size = (t.integer(name, "int32_t", low)
                             for name, low in (("length", 0), ("columns", 0), ("pageSize", 1)))
    first, count, number = (t.integer(name, "int32_t", 0) for name in ("first", "count", "the leaf"))
    t.assume(length <= t.machine.product(columns, size), * \
             seen_keys(first, count, length), number * leaf <= MOST + 4 * leaf)
    view = Struct("CacheView", {"pageSize": Struct("Divisor", {"divisor": size})})
    unit, places = places_of(t, view, leaf, {"layer": 0, "head": 0})
    places = Struct(places.type, places | {"tableRow": table_of(t, columns), "keysFirst": first, "keysCount": count})
    t.value("lookUp", unit, number, this=places)


def keys_lie_in_their_pages(t, element, leaf):
    """KeyPlaces: of any entry of the table, a key's address is that of its row in the page that it names, or none.
    Where rows are, rows_lie_in_their_page() says."""
    sizes = sizes_of(t)
    at = indices_of(t, sizes)
    view = Struct("CacheView", {"data": t.integer("data", "int64_t", 0), "pages": sizes["page"],
                                "pageSize": Struct("Divisor", {"divisor": sizes["token"]})}
                  | {dim + "Stride": t.integer(dim + "Stride", "int64_t", 1) for dim in sizes})
    unit, places = places_of(t, view, leaf, at)
    t.machine.constants["sizeof"] = element
    number, page = t.integer("the leaf", "int32_t", 0), t.integer("entry", "int32_t", -2**31)
    position = number * leaf + t.thread
    slot = position - t.machine.product(t.machine.quotient(position, sizes["token"]), sizes["token"])
    valid = And(0 <= page, page < sizes["page"])
    mine = row_of(t, view, at | {"plane": 0, "page": If(valid, page, 0), "token": slot})
    first = row_of(t, view, at | {"plane": 0, "page": 0, "token": 0})
    t.assume(position <= MOST, view["data"] <= POOL)
    t.know(*(0 <= each for each in (mine, first)), *(each * element <= POOL for each in (mine, first)))
    places = Struct(places.type, places | {"firstKey": t.value("firstAddress", unit, this=places),
                                           "firstScale": t.value("firstPlace", unit, view, this=places)})
    t.prove(places["firstKey"] == view["data"] + element * first, places["firstScale"] == first)
    place = t.value("keyPlace", unit, number, page, this=places)
    scale = t.machine.this["scaleAt"]
    t.prove(Implies(valid, And(place == view["data"] + element * mine, scale == mine)),
            Implies(Not(valid), And(place == -2**63, scale == -1)))


def stores_find_their_place(t):
    """findStored(), whatever the arrays hold, reads one row of the table, and gives a slot of a page to write."""
    sizes, batch = sizes_of(t), batch_of(t)
    columns, pitch, token = t.integer("columns", "int32_t", 0), t.integer(
        "pitch", "int64_t", 0), t.integer("token", "int64_t", 0)
    table = table_of(t, 0)
    index = t.integer("index", "int32_t", 0)
    if t.machine.unroll:  # else what sequences_are_searched_in_bounds() says of it
        t.bounds[batch["rowOffsets"]] = (0, batch["sequences"] + 1)
        t.assume(index == t.value("sequenceOf", Struct("probe::B", {
                 "lane": 0}), batch, token, given=[batch["sequences"] > 0]))
    else:
        t.machine.stubs["sequenceOf"] = lambda *_: index
    begin = t.machine.product(index, pitch)
    t.bounds[table] = (begin, begin + columns)
    t.assume(batch["capacity"] == t.machine.product(columns, sizes["token"]),
             index < batch["sequences"], columns <= pitch)
    params = Struct("StoreParams", {"table": table, "tablePitch": pitch,
                                    "firstPage": t.integer("firstPage", "int32_t", 0),
                                    "cache": Struct("CacheView", {"pages": sizes["page"], "pageSize": Struct(
                                        "Divisor", {"divisor": sizes["token"]})})})
    t.assume(pitch <= MOST, token < batch["tokens"])
    found, (*_, page, slot) = t.machine.call("findStored", Struct("probe::B", {"lane": 0}), params, batch, token, 0, 0)
    t.prove(Implies(found, And(params["firstPage"] <= page, page < sizes["page"], 0 <= slot, slot < sizes["token"])))


def sequences_are_searched_in_bounds(t):
    """sequenceOf() reads entries of row_offsets, and gives a sequence of the batch."""
    batch = batch_of(t)
    t.assume(batch["sequences"] >= 1)
    table_of(t, 0)
    t.bounds[batch["rowOffsets"]] = (0, batch["sequences"] + 1)
    t.machine.loops["sequenceOf"] = [(lambda v: And(0 <= v.low, v.low < v.high, v.high <= batch["sequences"]),
                                      lambda v: v.high - v.low)]
    index = t.value("sequenceOf", Struct("probe::B", {"lane": 0}), batch, t.integer("token", "int64_t", 0))
    t.prove(0 <= index, index < batch["sequences"])


def boxes_lie_in_one_page(t, leaf, shift, blocks):
    """TileLoader: a lane of one of a part's blocks asks for the box of the page that its sequence's row names, where
    rows see a key of it, or of the page after the last, which is zeros; a box ends where its page does, or before. The
    blocks together ask for each box once."""
    length, columns = t.integer("length", "int32_t", 0), t.integer("columns", "int32_t", 0)
    first, last, boxes = t.integer("first", "int32_t", 0), t.integer(
        "last", "int32_t", 0), t.integer("boxesOfPage", "int32_t", 1)
    size = boxes * 2**shift
    begin, end, pages = t.integer("begin", "int32_t", 0), t.integer(
        "end", "int32_t", 0), t.integer("pages", "int32_t", 1)
    number, lane = t.integer("the leaf", "int32_t", 0), t.integer("lane", "int32_t", 0)
    rank, own = t.integer("rank", "int32_t", 0), (leaf >> shift) // blocks
    t.assume(length <= t.machine.product(columns, size), first < last, last <= length, size <= MOST,
             begin < end, begin <= number, number <= end, lane < 32, rank < blocks, end * leaf < last + leaf,
             begin * leaf > first - leaf)
    table = table_of(t, columns)
    t.machine.members["clusterRank"] = lambda path: rank
    t.machine.constants = {"Leaf": leaf, "PartBlocks": blocks}
    params = Struct("TileParams", {"boxShift": shift, "cache": Struct("CacheView", {"pages": pages, "pageSize": Struct(
        "Divisor", {"divisor": size})})})
    loader = Struct("TileLoader", {"b": Struct("probe::B", {"lane": lane}), "p": params,
                    "lane": lane, "tableRow": table, "first": first, "last": last})
    page = t.value("lookUp", number, Struct("Work", {"leafBegin": begin, "leafEnd": end}), this=loader)
    number_of_box = t.value("ownBox", this=loader)
    box = number_of_box * 2**shift + number * leaf
    slot = box - t.machine.product(t.machine.quotient(box, size), size)
    t.prove(0 <= page, page <= pages, slot + 2**shift <= size)
    key = t.integer("key", "int32_t", 0)
    entry = table[t.machine.quotient(key, size)]
    t.prove(Implies(And(box <= key, key < box + 2**shift, first <= key, key < last, number < end),
                    page == If(And(0 <= entry, entry < pages), entry, pages)),
            Implies(lane < own, And(number_of_box / own == rank, number_of_box % own == lane)))


def quotients_are_exact(t, shift):
    """Divisor::quotient() is the quotient, with the multiplier that the constructor computes for a shift."""
    divisor, dividend = t.integer("divisor", "int32_t", 1), t.integer("dividend", "int32_t", 0)
    multiplier, above = t.integer("multiplier", "int64_t", 0), t.integer("above", "int64_t", 0)
    quotient, rest = t.integer("quotient", "int32_t", 0), t.integer("rest", "int32_t", 0)
    power = 2**(31 + shift)
    t.assume(divisor <= 2**shift, 2 * divisor > 2**shift, above < divisor, divisor * multiplier == power + above,
             dividend == quotient * divisor + rest, rest < divisor)
    # Of both sides times the divisor: what z3 does not find by itself.
    whole = dividend * multiplier
    t.assume(divisor * whole == dividend * power + dividend * above)
    t.prove(dividend * above < power, dividend * power + dividend * above >= quotient * divisor * power)
    this = Struct("Divisor", {"divisor": divisor, "multiplier": multiplier, "shift": shift})
    t.machine.unroll = 1
    t.prove(t.value("quotient", dividend, this=this) == quotient)
