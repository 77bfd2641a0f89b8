"""The theorems of plan.py and addresses.py hold, and a mistake in a header is refuted on the header itself.

KV_PRODUCT=1: every element, leaf and box of the kernel table, every divisor's shift, and every mistake."""

import functools
import itertools
import os
import shutil

import pytest
import z3

import addresses
import device
import plan
import tiles
from cxx import LEMMAS, Source, divided
from prover import Program, Theorem, numbers, value_of
from tools import ROOT

PLAN = '#include "kv/Definition/Plan.h"\n'
PROBE = (ROOT / "test/python/proofs/probe.h").read_text()
PRODUCT = bool(os.environ.get("KV_PRODUCT"))
OF_PLAN = [plan.lengths_are_clamped, plan.masks_are_intervals, plan.rows_have_one_tile, plan.tiles_see_what_rows_see,
           plan.parts_fill_the_line, plan.line_has_no_gap, plan.cuts_are_in_order, plan.units_read_the_cuts,
           plan.parts_walk_from_cut_to_cut, plan.each_leaf_has_one_part, plan.units_know_their_parts,
           plan.pieces_have_slots]
OF_ADDRESSES = [
    (addresses.stores_find_their_place,), (addresses.sequences_are_searched_in_bounds,),
    *((addresses.rows_lie_in_their_page, layout) for layout in addresses.LAYOUTS),
    *((addresses.works_see_their_keys, leaf) for leaf in (64, 128)),
    *((addresses.table_is_read_in_one_row, leaf) for leaf in (64, 128)),
    *((addresses.keys_lie_in_their_pages, element, leaf) for element in (1, 2) for leaf in (64, 128)
      if PRODUCT or element * leaf == 128),
    *((addresses.boxes_lie_in_one_page, leaf, shift, blocks) for leaf in (64, 128) for shift in (3, 4, 5, 6)
      for blocks in (1, 2) if leaf >> shift >= blocks and (PRODUCT or shift == 4)),
    *((addresses.quotients_are_exact, shift) for shift in range(32) if PRODUCT or shift in (0, 4, 7, 31)),
    *((tiles.boxes_bring_their_rows, layout, size, bytes8, leaf, shift, slabs) for layout in ("nhd", "hnd")
      for size, bytes8 in ((2, False), (1, False), (1, True)) for leaf in (64, 128) for shift in (3, 4, 5, 6)
      for slabs in (1, 2, 4) if PRODUCT or (leaf, shift, slabs, layout) == (128, 4, 2, "nhd" if size == 2 else "hnd")),
    *((tiles.pairs_bring_their_halves, layout, 64, shift, slabs, blocks) for layout in ("nhd", "hnd")
      for shift in (3, 4, 5, 6) for slabs in (3, 5, 9) for blocks in (1, 2)
      if 64 >> shift >= blocks and (PRODUCT or (layout, shift, slabs) == ("nhd", 4, 3)))]

OF_TILES = (tiles.boxes_bring_their_rows, tiles.pairs_bring_their_halves)


@functools.cache
def source(of_plan, folder=ROOT, filters=addresses.FILTERS):
    texts = [(PLAN, name) for name in ("kv::plan", "KvMask")] + ([] if of_plan else [(PROBE, name) for name in filters])
    return Source(texts, [folder / "include", folder])


def named(case):
    return "-".join([case[0].__name__, *map(str, case[1:])])


def test_lemmas():
    """What proofs use of products and quotients, and nothing else."""
    x, y, m, a = z3.Ints("x y m a")
    quotient = z3.If(a >= 0, a / m, -(-a / m))
    for formula in (*(lemma(x, y, m, x * m, y * m) for lemma in LEMMAS), divided(a, m, quotient, quotient * m)):
        solver = z3.Solver()
        solver.add(z3.Not(formula))
        assert solver.check() == z3.unsat, formula


@pytest.mark.parametrize("case", [*((each,) for each in OF_PLAN), *OF_ADDRESSES], ids=named)
def test_theorem(case):
    state, *arguments = case
    theorem = Theorem(source(state in OF_PLAN), lambda t: state(t, *arguments))
    assert theorem.machine.goals and not theorem.unproved()


def fixed(**values):
    return values


SMALL_LINE = fixed(heads=2, tileRows=2, group=1, leaf=2, sequences=2,
                   tokens=3, i=0, j=1, k=0, window=2, mask=1, parts=2)
UNITS = fixed(payload=70, parts=4, heads=2)
DEFINITION, KEYS_OF, MOVERS = "include/kv/Definition/", "kernels/cuda/attention/mma/", "kernels/cuda/movers/"
CUTS = fixed(payload=10, parts=2, heads=2, part=1)
LOADERS = "kernels/cuda/attention/common/"
# The constants of probe.h's T.
BOXES, PAIRS, PLACE = ("nhd", 2, False, 64, 3, 2), ("nhd", 64, 3, 2, 2), fixed(place=0)
SIZES = {f"{dim} count": 2 for dim in addresses.LAYOUTS["nhd"]}
KEYS = SIZES | fixed(Threads=64, pageSize=4, columns=3, leaf=64)
STORES = SIZES | fixed(columns=2, pitch=2, sequences=2)
# (Name, header, what stands there, what is put in its place, the theorem that it breaks, its arguments, fixed inputs)
MISTAKES = [
    ("a step's last rows have no part", DEFINITION + "Plan.h", "greater<int64_t>(ceilDivide(total, parts), 1)",
     "greater<int64_t>(total / parts, 1)", plan.parts_fill_the_line, (), {}),
    ("a part ends a leaf early", DEFINITION + "Plan.h", "offset + header.payload);\n  return leaves",
     "offset + header.payload - 1);\n  return leaves", plan.units_know_their_parts, (), UNITS),
    ("a unit has one part more", DEFINITION + "Plan.h", "(start + cost - 1) / header", "(start + cost) / header",
     plan.units_know_their_parts, (), UNITS),
    ("a tile that begins at a part is missed", DEFINITION + "Plan.h", "(tiles[middle].start <= place ? low",
     "(tiles[middle].start < place ? low", plan.cuts_are_in_order, (), CUTS),
    ("offsets are not clamped", DEFINITION + "Plan.h", "  first = lesser(first, tokens);\n", "",
     plan.lengths_are_clamped, (), {}),
    ("the last keys have no leaf", DEFINITION + "Plan.h", "ceilDivide(keys.last, shape.leaf)", "keys.last / shape.leaf",
     plan.tiles_see_what_rows_see, (), {}),
    ("a window begins a key late", DEFINITION + "Masks.h", "keys.first = position + 1 - window",
     "keys.first = position + 2 - window",
     plan.masks_are_intervals, (), {}),
    ("nodes of a tree are as far as their tokens", DEFINITION + "Plan.h",
     "lesser(token, tokensBeforeTree(sequence.added))", "token",
     plan.tiles_see_what_rows_see, (), {}),
    ("a tile too many", DEFINITION + "Plan.h", "return ceilDivide(rows, shape.tileRows);",
     "return rows / shape.tileRows + 1;",
     plan.rows_have_one_tile, (), {}),
    ("too few slots", DEFINITION + "Plan.h", "return 2 * LeavesPerGroup + 1 +", "return LeavesPerGroup + 1 +",
     plan.pieces_have_slots, (), {}),
    ("a head too many", DEFINITION + "Plan.h", "(work.head + 1 < shape.heads)", "(work.head + 1 <= shape.heads)",
     plan.parts_walk_from_cut_to_cut, (), {}),
    ("a line of one head", DEFINITION + "Plan.h", "header.total += unitCost(tile) * shape.heads;",
     "header.total += unitCost(tile);",
     plan.line_has_no_gap, (), SMALL_LINE),
    ("a wrong page stride", MOVERS + "MoverBodies.h", "page * view.pageStride", "page * view.planeStride",
     addresses.rows_lie_in_their_page, ("nhd",), SIZES | fixed(row=8)),
    ("a token after the last page", MOVERS + "MoverBodies.h", "place >= kv::plan::lesser<int64_t>(batch",
     "place > kv::plan::lesser<int64_t>(batch", addresses.stores_find_their_place, (), STORES),
    ("the page after the last", MOVERS + "MoverBodies.h", "page < p.cache.pages;", "page <= p.cache.pages;",
     addresses.stores_find_their_place, (), STORES),
    ("a key after the last", KEYS_OF + "KeyPlaces.h", ">= uint32_t(keysCount)", "> uint32_t(keysCount)",
     addresses.table_is_read_in_one_row, (64,), KEYS),
    ("boxes lie over each other", LOADERS + "TileLoader.h", "(box << p.boxShift) * C::CopyRowBytes",
     "box * C::CopyRowBytes", tiles.boxes_bring_their_rows, BOXES, PLACE),
    ("tokens are heads", LOADERS + "TileLoader.h", "TileAt{{column, p.headsFirst ? head : token,",
     "TileAt{{column, p.headsFirst ? token : head,", tiles.boxes_bring_their_rows, BOXES, PLACE),
    ("a slab is left out", LOADERS + "TileLoader.h", "i < boxes() * C::CopySlabs; i += WarpLanes) {\n      int box",
     "i < boxes() * (C::CopySlabs - 1); i += WarpLanes) {\n      int box", tiles.boxes_bring_their_rows, BOXES, PLACE),
    ("both blocks of a pair ask for one half", LOADERS + "TileLoader.h", "box += b.clusterRank() * ownBoxes();",
     "box += b.clusterRank();", tiles.pairs_bring_their_halves, PAIRS, PLACE),
    ("a pair's box lies where another block's does", LOADERS + "LatentTileLoader.h", "box * SlabRowBytes,",
     "(lane << p.boxShift) * SlabRowBytes,", tiles.pairs_bring_their_halves, PAIRS, PLACE),
    ("a page after the last is read", KEYS_OF + "KeyPlaces.h", "uint32_t(page) < uint32_t(p.cache.pages)",
     "uint32_t(page) <= uint32_t(p.cache.pages)", addresses.keys_lie_in_their_pages, (2, 64), KEYS),
]


LOADER = ("TileBringer", "TileLoader", "LatentTileLoader", "TileAt", "rowAt")
READS = {addresses.rows_lie_in_their_page: ("rowAt",), addresses.stores_find_their_place: ("findStored", "sequenceOf"),
         tiles.boxes_bring_their_rows: LOADER, tiles.pairs_bring_their_halves: LOADER,
         addresses.table_is_read_in_one_row: ("KeyPlaces",), addresses.keys_lie_in_their_pages: ("KeyPlaces", "rowAt")}


def test_divisors_have_the_assumed_multipliers():
    """What quotients_are_exact() assumes of the constructor."""
    program = Program("#define private public\n" + PLAN)
    program.lines.append("""bool right = true;
      for (int64_t d = 1; d <= INT32_MAX; d += 1 + d / 1000) {
        Divisor by(d);
        int64_t above = int64_t(by.multiplier) * d - (int64_t(1) << (31 + by.shift));
        right &= above >= 0 && above < d && d <= int64_t(1) << by.shift && 2 * d > int64_t(1) << by.shift;
      }""")
    program.show("right", True)
    assert program.run([ROOT / "include", ROOT]) == [1]


def test_descriptions_are_those_of_the_header():
    """tiles.describe() is describeTiles(), with what tileParams() gives."""
    program, expected = Program(PROBE), []
    program.lines.append("int64_t heads, tokens, pages;")
    for number, (layout, size, bytes8, page, blocks) in enumerate(itertools.product(
            ("nhd", "hnd", "cpu"), (1, 2), (False, True), (8, 24, 64, 160), (1, 2))):
        heads, dim, layer, plane, counts = 3, 64 * (1 + number % 4), number % 2, number // 2 % 2, {
            "head": 3, "token": page, "layer": 2, "plane": 2, "page": 5}
        view, extent = {"data": 0, "tokens": page, "pages": 5}, dim
        for each in addresses.LAYOUTS[layout]:
            view[each + "Stride"] = extent
            extent *= counts[each]
        rows, name = tiles.box_tokens(page, blocks), f"v{number}"
        first, *lists = tiles.describe(view, size, heads, dim, layer, plane, rows, bytes8,
                                       view["headStride"] <= view["tokenStride"])
        strides = ", ".join(str(view[each + "Stride"]) for each in ("page", "plane", "layer", "token", "head"))
        program.lines.append(f"""AttentionParams p{number}{{}}; p{number}.cache = {{nullptr, {strides}, 5, {page}}};
            auto d{number} = describeTiles(p{number}.cache, {size}, {heads}, {dim}, {layer}, {plane}, {blocks}, {int(bytes8)});
            auto t{number} = tileParams(p{number}, {blocks});""")
        for place, value in [(f"(int64_t)d{number}.data", first), (f"1 << t{number}.boxShift", rows),
                             (f"t{number}.headsFirst", int(view["headStride"] <= view["tokenStride"])),
                             *((f"d{number}.{field}[{i}]", each) for field, values in
                               zip(("sizes", "strides", "box"), lists) for i, each in enumerate(values))]:
            program.show(place, value)
            expected.append(value)
    assert program.run([ROOT / "include", ROOT]) == expected


@pytest.mark.parametrize("case", [*((each,) for each in OF_PLAN), *OF_ADDRESSES], ids=named)
def test_assumptions_can_hold(case):
    """No theorem is proved of nothing."""
    state, *arguments = case
    inputs = next((each[-1] for each in MISTAKES if each[4] is state), {})
    if state is addresses.quotients_are_exact:
        inputs = fixed(divisor=2**arguments[0] - (arguments[0] == 31), multiplier=2**31 + 2 * (arguments[0] == 31))
    unroll = 4
    if state in OF_TILES:  # pages of whole boxes; a pair's loop is of slabs, of which there are at most nine
        inputs, unroll = inputs | {"token count": 64}, 10
    theorem = Theorem(source(state in OF_PLAN), lambda t: state(t, *arguments), unroll=unroll, fixed=inputs)
    solver = z3.Solver()
    solver.add(*theorem.machine.facts, *theorem.assumptions, *theorem.machine.assumed)
    assert solver.check() == z3.sat


def plant(folder, name, old, new):
    """Copies the headers to the folder, one of them with a mistake."""
    for each in ("include", "kernels"):
        shutil.copytree(ROOT / each, folder / each)
    header = folder / name
    text = header.read_text()
    assert text.count(old) == 1, f"{name} has changed: plant this mistake anew"
    header.write_text(text.replace(old, new))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each[0].replace(" ", "-"))
def test_mistake_is_refuted(mistake, tmp_path):
    """z3 finds values that break the theorem, and the header with the mistake gives what z3 says that it gives."""
    _, name, old, new, state, arguments, inputs = mistake
    plant(tmp_path, name, old, new)
    filters = [name for name in addresses.FILTERS if name.split("::")[-1] in READS.get(state, ())]
    theorem = Theorem(source(state in OF_PLAN, tmp_path, tuple(filters)),
                      lambda t: state(t, *arguments), unroll=4, fixed=inputs)
    model, goal = theorem.counterexample()
    print(f"{goal} does not hold for", {name: value_of(model, value) for name, value in theorem.inputs})
    program, expected = Program(PLAN if state in OF_PLAN else PROBE), []
    if state in OF_TILES:
        theorem.copies.confirm(program, expected, lambda value: value_of(model, value), *theorem.machine.calls[-1][:2])
        assert program.run([tmp_path / "include", tmp_path]) == expected
        return
    for function, values, this, result, after, given in theorem.machine.calls:
        if not all(value_of(model, each) for each in given):
            continue
        place, names = program.call(function, [value_of(model, each)
                                    for each in values], this and value_of(model, this))
        changed = [(where, now) for where, old, now in zip(names, values, after)
                   if now is not old and not theorem.machine.stubs and where[0] != "u"]
        for where, value in [(place, result), *changed] if result is not None else changed:
            program.show(where, value_of(model, value))
            expected += numbers(value_of(model, value))
    assert program.run([tmp_path / "include", tmp_path]) == expected


OF_DEVICE = [device.sums_are_of_threads_before, device.device_plan_is_the_line]
# (What stands in PlanBody.h, what is put in its place, the theorem that it breaks)
DEVICE_MISTAKES = {
    "a round too few": ("distance < MoverThreads;", "distance < MoverThreads / 2;", OF_DEVICE[0]),
    "a thread counts itself": ("t ? sums.load(from + t - 1) : 0", "sums.load(from + t)", OF_DEVICE[0]),
    "a tile of the sequence before": ("ends.load(middle) > i ?", "ends.load(middle) >= i ?", OF_DEVICE[1]),
    "rounds begin at one place": ("costBefore += cost;", "", OF_DEVICE[1]),
    "tiles are left out": ("first += MoverThreads)", "first += 2 * MoverThreads)", OF_DEVICE[1]),
    "a cut of the next part": ("partBegin(p.shape, header, p.tiles, part)",
                               "partBegin(p.shape, header, p.tiles, part + 1)", OF_DEVICE[1])}


def device_plan(state, folder=ROOT):
    return Theorem(source(False, folder, ("sumBefore", "planBody")), state)


def makes_the_line(folder):
    program = Program(device.PROGRAM)
    program.show("isLine()", True)
    return program.run([folder / "include", folder]) == [1]


@pytest.mark.parametrize("state", OF_DEVICE)
def test_device_plan(state):
    theorem = device_plan(state)
    assert theorem.machine.goals and not theorem.unproved()
    for name, path, _, exits, assumptions in theorem.machine.goals:
        if "planBody: " not in name:  # no goal about values is proved of nothing
            solver = z3.Solver()
            solver.add(*theorem.machine.facts, *theorem.machine.exits[:exits], *theorem.assumptions[:assumptions], *path)
            assert solver.check() == z3.sat, name


def test_device_plan_of_threads():
    assert makes_the_line(ROOT)


@pytest.mark.parametrize("mistake", DEVICE_MISTAKES)
def test_mistake_in_the_device_plan_is_refuted(mistake, tmp_path):
    """z3 finds values for which a thread's step does not do what the theorem says, and threads make another plan."""
    old, new, state = DEVICE_MISTAKES[mistake]
    plant(tmp_path, f"{MOVERS}/PlanBody.h", old, new)
    found = device_plan(state, tmp_path).unproved()
    assert any(result == "sat" for _, result, _ in found), found
    assert not makes_the_line(tmp_path)
