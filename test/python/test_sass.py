"""tools/sass: what it reads of a listing, which way it takes, what it predicts."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/sass"))

import check  # noqa: E402
import cycles  # noqa: E402
import listing  # noqa: E402
import merges  # noqa: E402
import predictions  # noqa: E402
import rules  # noqa: E402
import steps  # noqa: E402
import tensor  # noqa: E402
import waits  # noqa: E402
from leaf import Leaf  # noqa: E402
from listing import Listing, Problem  # noqa: E402


def text_of(lines):
    """A listing as nvdisasm writes it. A line is a label, or (text, stall, barrier that the
    result sets, barriers waited for)."""
    text, address = [], 0
    for line in lines:
        if isinstance(line, str):
            text.append(f"{line}:")
            continue
        what, stall, sets, waits = (*line, *(1, 7, ())[len(line) - 1:])
        control = stall | sets << 5 | 7 << 8 | sum(1 << w for w in waits) << 11
        text.append(f"        /*{address:04x}*/   {what} ;   /* 0x{0:016x} */")
        text.append(f"                              /* 0x{control << 41:016x} */")
        address += 16
    return "\n".join(text)


@pytest.fixture
def listed(tmp_path):
    def write(*lines):
        path = tmp_path / "kernel.sass"
        path.write_text(text_of(lines))
        return Listing(path)
    return write


LOOP = (
    ("MOV R1, c[0x0][0x28]",),
    ".L_x_0",
    ("LDG.E R2, desc[UR4][R4.64]", 1, 0),
    ("@P0 BRA `(.L_x_1)", 5),
    ("FSEL R3, R3, -INF , P1",),  # a mask: few leaves have one
    ("FSEL R5, R5, -INF , P1",),
    ".L_x_1",
    ("LDGSTS.E.BYPASS.128 [R9], desc[UR4][R4.64], P2",),
    ("LDGDEPBAR",),
    ("DEPBAR.LE SB0, 0x1",),
    ("BAR.SYNC.DEFER_BLOCKING 0x0", 6),
    ("LDSM.16.M88.4 R12, [R7]", 1, 1),
    ("HMMA.16816.F32.BF16 R16, R12, R20, R16", 4, 7, (1,)),
    ("@P3 BRA `(.L_x_2)", 5),
    ("HMMA.16816.F32.BF16 R16, R12, R20, R16", 4),  # of one warp only
    ".L_x_2",
    ("@!P4 BRA `(.L_x_0)", 5),
    ("EXIT",),
)


def test_control_words(listed):
    code = listed(("MOV R1, R2", 3), ("LDS R4, [R1]", 1, 2), ("FADD R5, R4, R4", 5, 7, (2, 4)),
                  ("EXIT",)).instructions
    assert [i.stall for i in code] == [3, 1, 5, 1]
    assert [i.write_barrier for i in code] == [7, 2, 7, 7]
    assert code[2].waits == 0b10100 and code[2].address == 0x20
    assert code[1].operation == "LDS" and code[1].name == "LDS"


def test_the_way_round_a_leaf(listed):
    leaf = Leaf(listed(*LOOP))
    assert [i.operation for i in leaf.way].count("FSEL") == 0
    assert [i.operation for i in leaf.way].count("HMMA") == 1
    assert [i.operation for i in leaf.fullest].count("HMMA") == 2
    assert len(leaf.way) == 10 and leaf.per_warp == 10.25


def test_counts_that_are_not_known_are_refused(listed):
    inner = list(LOOP)
    at = inner.index(("LDSM.16.M88.4 R12, [R7]", 1, 1))
    inner[at:at + 1] = [".L_x_9", LOOP[at], ("@P5 BRA `(.L_x_9)", 5)]
    with pytest.raises(Problem, match="a loop within the leaf's"):
        Leaf(listed(*inner))
    with pytest.raises(Problem, match="no loop has all matrix"):
        Leaf(listed(("MOV R1, R2",), ("EXIT",)))


def run(listed, lines, warps=1, leaves=1, **machine):
    ways = [listed(*lines).instructions] * warps
    return cycles.Multiprocessor(cycles.Machine(**machine), ways, blocks=1).run(leaves)


def test_one_warp_waits_as_it_is_told(listed):
    # 0: MOV, 4: LDS, whose result comes 24 later, then FADD.
    alone = run(listed, (("MOV R1, R2", 4), ("LDS R4, [R1]", 1, 0),
                         ("FADD R5, R4, R4", 2, 7, (0,))))
    assert 4 + 24 <= alone <= 4 + 24 + 3
    free = run(listed, (("MOV R1, R2", 4), ("LDS R4, [R1]", 1, 0), ("FADD R5, R4, R4", 2)))
    assert free < 10


def test_four_warps_issue_side_by_side_and_eight_in_turn(listed):
    lines = tuple(("IADD3 R1, R1, R2, RZ", 1) for _ in range(100))
    one, four, eight = (run(listed, lines, warps) for warps in (1, 4, 8))
    assert four == one and 195 <= eight <= 205


def test_copies_share_the_bandwidth(listed):
    lines = (("LDGSTS.E.BYPASS.128 [R9], desc[UR4][R4.64], P2",), ("LDGDEPBAR",),
             ("DEPBAR.LE SB0, 0x0",))
    slow = run(listed, lines, warps=4, leaves=50, terabytes=0.1, latency=100)
    fast = run(listed, lines, warps=4, leaves=50, terabytes=100, latency=100)
    # 4 warps, 50 leaves, 512 bytes each, at 0.43 bytes a cycle.
    assert slow == pytest.approx(4 * 50 * 512 / (0.1e12 / 132 / 1.755e9), rel=0.02)
    assert 50 * 100 <= fast < 50 * 130


def test_parts_are_those_of_the_plan():
    # As in test/kernels/PlanTest.cpp.
    short, payload = steps.parts_of(1, 1024, heads=8, parts=264)
    assert payload == 1 and sum(short) == 64 and max(short) == 1
    shared, payload = steps.parts_of(1, 2048, heads=2, parts=16)
    assert payload == 3 and sum(shared) == 32 and max(shared) == 3
    long, payload = steps.parts_of(64, 8192, heads=8, parts=264)
    assert payload == 128 and sum(long) == 64 * 8 * 64 and all(n % 8 == 0 for n in long)


def test_shapes_by_the_kernels_names():
    from check import shape_of
    plain, narrow = shape_of("kv_attention_decode_bf16_128"), shape_of("kv_attention_prefill_f8_64")
    assert (plain.keys, plain.warps, plain.bytes, plain.value) == (128, 4, 65536, 128)
    assert (narrow.keys, narrow.warps, narrow.bytes, narrow.value) == (128, 4, 16384, 64)
    decode, prefill = shape_of("kv_latent_decode_bf16_576"), shape_of("kv_latent_prefill_f16_192")
    assert (decode.keys, decode.warps, decode.bytes, decode.value) == (64, 4, 73728, 512)
    assert (prefill.keys, prefill.warps, prefill.bytes, prefill.value) == (64, 8, 24576, 128)
    drafts = shape_of("kv_attention_draft_tiles_f8s_128")
    assert (drafts.keys, drafts.warps, drafts.bytes, drafts.value) == (128, 4, 32768, 128)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one image, and a disassembler for it."""
    (tmp_path / "listing").write_text(text_of(LOOP))
    tool = tmp_path / "nvdisasm"
    tool.write_text(f"#!/bin/sh\ncat {tmp_path}/listing\n")
    tool.chmod(0o755)
    monkeypatch.setattr(listing, "find_disassembler", lambda: str(tool))
    (tmp_path / "kv_attention_decode_bf16_128.sm_80.cubin").touch()
    return tmp_path


def checked(folder, monkeypatch, *more):
    monkeypatch.setattr(sys, "argv", ["check.py", str(folder), str(folder / "table"), *more])
    check.main()


def test_more_instructions_than_recorded_fail(folder, monkeypatch, capsys):
    checked(folder, monkeypatch, "--record")
    assert "bytes of KV" in capsys.readouterr().out
    checked(folder, monkeypatch)
    table = folder / "table"
    table.write_text("kv_attention_decode_bf16_128 sm_80 9\n")
    with pytest.raises(Problem, match="10 instructions a leaf, at most 9 are allowed"):
        checked(folder, monkeypatch)
    table.write_text("")
    with pytest.raises(Problem, match="is not in"):
        checked(folder, monkeypatch)
    table.write_text("kv_attention_decode_bf16_128 sm_80 10\nkv_other sm_90a 5\n")
    with pytest.raises(Problem, match="kv_other .sm_90a. has no image"):
        checked(folder, monkeypatch)
    table.write_text("kv_other sm_90a\n")
    with pytest.raises(Problem, match="is not: kernel chip instructions"):
        checked(folder, monkeypatch)


def test_an_image_without_a_wait_fails(folder, monkeypatch):
    (folder / "kv_movers.sm_90a.cubin").touch()
    with pytest.raises(Problem, match="^kv_movers.sm_90a.cubin: there is no kernel in it$"):
        checked(folder, monkeypatch, "--record")


def test_no_disassembler_is_said(monkeypatch):
    monkeypatch.setattr(listing.sys, "prefix", "/nowhere")
    monkeypatch.setattr(listing.shutil, "which", lambda *_, **__: None)
    with pytest.raises(Problem, match="there is no nvdisasm: scripts/setup.sh installs it"):
        listing.find_disassembler()


def test_kernels_that_do_not_wait():
    """A wait behind an access, and none, are named; a kernel that waits first is not."""
    def kernel(name, *operations):
        return f'\t.section\t.text.{name},"ax",@progbits\n' + "".join(
            f"        /*{16 * i:04x}*/                   {one} ;\n" for i, one in enumerate(operations))

    text = kernel("kv_first", "LDC R1, c[0x0][0x28]", "ACQBULK", "@P0 LDG.E R2, [R2.64]", "EXIT")
    text += kernel("kv_late", "@!P1 LDG.E R2, [R2.64]", "ACQBULK", "EXIT")
    text += kernel("kv_never", "STS [R1], R2", "EXIT")
    assert waits.problems(text) == [
        "kv_late: no wait before its first access of memory, which is instruction 0 of 3",
        "kv_never: no wait before its first access of memory, which is instruction 2 of 2"]


def test_local_memory_is_seen(listed):
    found = rules.problems("kv_attention_decode_x", listed(
        ("STL [R1], R2",), ("LDL.64 R2, [R1]",), ("EXIT",)))
    assert found == ["2 accesses of local memory, allowed: none"]


def test_products_that_are_waited_for_alone_are_seen(listed):
    chain = [("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT",),
             ("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24, gsb0",),
             ("WARPGROUP.DEPBAR.LE gsb0, 0x0",)]
    assert rules.problems("kv_attention_tiles_x", listed(*chain, *chain, ("EXIT",))) == []
    assert rules.problems("kv_attention_tiles_x", listed(*chain, *chain[1:], ("EXIT",))) == [
        "1 products are waited for one by one: a wait belongs to a chain"]


def test_barriers_that_lanes_reach_alone_are_seen(listed):
    """A branch by a predicate of each lane parts them until their region ends or they meet."""
    def meets(*before):
        return rules.unproven_barriers(listed(
            ("BSSY B0, `(.L_x_2)",), ("@P0 BRA `(.L_x_1)",), *before,
            ("BAR.SYNC.DEFER_BLOCKING R3, 0x100",), ".L_x_1", ".L_x_2", ("BSYNC B0",),
            ("BAR.SYNC.DEFER_BLOCKING 0x1, 0x100",), ("EXIT",)))

    assert meets() == 1
    assert meets(("WARPSYNC.ALL",)) == 0
    uniform = rules.unproven_barriers(listed(
        ("BSSY B0, `(.L_x_2)",), ("@UP0 BRA `(.L_x_1)",), ("BAR.ARV R3, 0x100",), ".L_x_1",
        ".L_x_2", ("BSYNC B0",), ("EXIT",)))
    assert uniform == 0
    five = listed(("BSSY B0, `(.L_x_2)",), ("@P0 BRA `(.L_x_1)",),
                  *[("BAR.SYNC.DEFER_BLOCKING R3, 0x100",)] * 5, ".L_x_1", ".L_x_2", ("EXIT",))
    sentence = "5 barriers behind branches that may part a warp's lanes, allowed: 4"
    assert rules.problems("kv_attention_tiles_x", five) == [sentence]
    assert rules.problems("kv_latent_pairs_x", five) == []


def test_warpgroups_multiply_in_turn(listed):
    way = listed(
        ("BAR.SYNC.DEFER_BLOCKING R3, 0x100", 5),
        ("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0",),
        ("BAR.ARV R4, 0x100", 5),
        ("WARPGROUP.DEPBAR.LE gsb0, 0x0",),
        ("FADD R2, R24, R25", 30),
    ).instructions
    sm = cycles.Multiprocessor(cycles.Machine(), [way] * 8, 1)
    leaves = 50
    total = sm.run(leaves)
    # Two warpgroups of 64 cycles each: the tensor cores never wait for both.
    assert sm.tensor_busy == 2 * 64 * leaves
    assert 128 * leaves <= total < 150 * leaves


def test_blocks_have_barriers_of_their_own(listed):
    meet = (("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0",),
            ("BAR.SYNC.DEFER_BLOCKING R3, 0x80", 5))
    work = (("MOV R1, R2", 15),) * 20
    late, early = listed(*work, *meet).instructions, listed(*meet, *work).instructions
    # Were they one, the early ones of four blocks would be enough for three barriers.
    assert cycles.Multiprocessor(cycles.Machine(), [late, early, early, early], 4).run(1) >= 2 * 20 * 15


def test_warpgroups_share_leaves(listed):
    scores = ("HGMMA.64x64x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0",)
    values = ("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4].tnspB, RZ, !UPT, gsb0",)
    own = listed(scores, ("WARPGROUP.DEPBAR.LE gsb0, 0x0",), ("BAR.SYNC.DEFER_BLOCKING R3, 0x80", 5),
                 ("BAR.ARV R4, 0x100", 5), ("@P1 BAR.SYNC.DEFER_BLOCKING R5, 0x100", 5), values,
                 ("WARPGROUP.DEPBAR.LE gsb0, 0x0",)).instructions
    others = own[4:]

    class Leaf:
        way, of_others = own, others

    ways = cycles.ways_of_pairs(Leaf)
    assert [len(way) for way in ways] == [len(own) + len(others) - 1] * 8
    sm = cycles.Multiprocessor(cycles.Machine(), ways, 1, first_turn=0)
    pairs = 40
    total = sm.run(pairs)
    # Of each pair both have scores of one leaf and values of two.
    assert sm.tensor_busy == 2 * (32 + 2 * 64) * pairs
    assert total >= sm.tensor_busy


def test_a_warpgroup_without_rows(listed):
    code = listed(
        ("MOV R1, c[0x0][0x28]",),
        ".L_x_0",
        ("LDG.E R2, desc[UR4][R4.64]", 1, 0),
        ("@P0 BRA `(.L_x_1)", 5),
        ("QGMMA.64x128x32.F32.E4M3.E4M3 R24, gdesc[UR4], RZ, !UPT",),
        ("BAR.ARV R4, 0x100", 5),
        ("BRA `(.L_x_2)", 5),
        ".L_x_1",
        ("BAR.SYNC.DEFER_BLOCKING R3, 0x100", 5),
        ("BAR.ARV R6, 0x100", 5),
        ".L_x_2",
        ("@!P4 BRA `(.L_x_0)", 5),
        ("EXIT",))
    assert [i.name for i in Leaf(code).passed if i.operation in ("QGMMA", "BAR")] == [
        "BAR.SYNC.DEFER_BLOCKING", "BAR.ARV"]
    assert [i.text for i in Leaf(code).passed if i.operation == "BAR"][1].startswith("BAR.ARV R6")
    assert Leaf(listed(*LOOP)).passed == []  # of which no warp does without


def test_latent_decode():
    shape = check.shape_of("kv_latent_tiles_bf16_576")
    assert (shape.keys, shape.warps, shape.bytes, shape.value) == (64, 8, 73728, 512)
    machine = cycles.Machine(sms=1, gigahertz=1.0)
    # 128 query heads are two units; of 1024 keys, 16 leaves in two groups, of which one is read.
    time, read = steps.predict_latent(1000, shape, machine, 1, 1024, 128)
    assert time == steps.LAUNCH + 2 * (16 * 1000 + steps.UNIT) / 1000
    assert read == 2 * (16 * 73728 + 64 * 512 * 4) / (steps.CACHE_TERABYTES * 1e6)
    # Or one of two blocks, which read the rows once, and each its totals.
    pair = check.shape_of("kv_latent_pairs_bf16_576")
    assert (pair.keys, pair.warps, pair.bytes, pair.value, pair.blocks) == (64, 8, 73728, 512, 2)
    machine = cycles.Machine(sms=4, gigahertz=1.0)
    time, read = steps.predict_latent(1000, pair, machine, 3, 1024, 128)
    assert time == steps.LAUNCH + 2 * (16 * 1000 + steps.UNIT) / 1000
    assert read == 3 * (16 * 73728 + 128 * 512 * 4) / (steps.CACHE_TERABYTES * 1e6)


def test_warps_that_widen(listed):
    """What they do for two slabs, without barriers of their own warp; and it takes schedulers' time."""
    multiplies = (
        ".L_x_0",
        ("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0",),
        ("WARPGROUP.DEPBAR.LE gsb0, 0x0",),
        ("@P0 BRA `(.L_x_0)", 5))
    widens = (
        ".L_x_1",
        ("LDS.128 R4, [R2]",),
        ("@P1 BRA `(.L_x_2)", 5),
        ("FSEL R4, R4, RZ, P2",),  # of what nobody sees
        ".L_x_2",
        ("STS.128 [R3], R4",),
        ("BAR.SYNC.DEFER_BLOCKING R6, 0x20", 6),
        ("@P3 BRA `(.L_x_1)", 5),
        ("EXIT",))
    assert not Leaf(listed(*multiplies, ("EXIT",))).widens
    leaf = Leaf(listed(*multiplies, *widens))
    assert [i.operation for i in leaf.widens] == ["LDS", "BRA", "STS", "BRA"]
    shape = check.shape_of("kv_attention_tiles_f8_128")
    assert (shape.warps, shape.bytes) == (8, 32768)
    kernel = [cycles.predict(listed(*lines), "kv_attention_tiles_f8_128", cycles.Machine(), 1)
              for lines in ((*multiplies, ("EXIT",)), (*multiplies, *widens))]
    assert kernel[1].instructions_per_cycle > kernel[0].instructions_per_cycle


def test_prompts():
    shape = check.shape_of("kv_attention_tiles_bf16_128")
    assert (shape.keys, shape.warps, shape.bytes, shape.value) == (128, 8, 65536, 128)
    machine = cycles.Machine(sms=1, gigahertz=1.0)
    # Of 32 tokens with 8 query heads each, two tiles; the second sees 32 keys, one leaf.
    time, read = steps.predict_prompt(1000, shape, machine, 16, 2, 32)
    assert time == steps.LAUNCH + (4 * 1000 + 4 * steps.UNIT) / 1000
    assert read == 4 * 65536 / (steps.CACHE_TERABYTES * 1e6)
    # The second of two leaves is seen by the rows behind the first 128 tokens.
    time, _ = steps.predict_prompt(1000, shape, machine, 1, 1, 256)
    assert time == steps.LAUNCH + (3 * 1000 + 2 * steps.UNIT) / 1000


def test_one_kernel_of_an_image(tmp_path):
    path = tmp_path / "image.sass"
    other, wanted = (text_of(((text, 1), ("EXIT",))) for text in ("MOV R1, R2", "LDS R1, [R2]"))
    path.write_text(f"\t.section .text.kv_a\n.text.kv_a:\n{other}\n"
                    f"\t.section .text.kv_b\n.text.kv_b:\n{wanted}\n\t.section .debug\n{other}\n")
    assert [i.operation for i in Listing(path, kernel="kv_b").instructions] == ["LDS", "EXIT"]
    assert len(Listing(path).instructions) == 6
    with pytest.raises(Problem, match="has no kernel kv_c"):
        Listing(path, kernel="kv_c")


MERGE = (
    ("LDG.E R2, desc[UR4][R4.64]", 1, 0),
    ".L_item",
    ("LDG.E R2, desc[UR4][R4.64]", 1, 0),  # the unit
    ("IADD3 R1, R2, R3, RZ", 2, 7, (0,)),
    ".L_chunk",
    ("BAR.SYNC.DEFER_BLOCKING 0x0", 6),
    ".L_reads",
    *((f"LDG.E.128.STRONG.GPU R{4 * i + 8}, desc[UR4][R4.64]", 1, 1) for i in range(8)),
    ("FADD R5, R36, R5", 4, 7, (1,)),
    ("@P0 BRA `(.L_reads)", 5),
    ("BAR.SYNC.DEFER_BLOCKING 0x0", 6),
    ".L_folds",
    *(("LDS R6, [R7]", 1, 2), ("FFMA R5, R6, R6, R5", 4, 7, (2,))) * 3,
    ("@P1 BRA `(.L_folds)", 5),
    ("BAR.SYNC.DEFER_BLOCKING 0x0", 6),
    ("@P2 BRA `(.L_chunk)", 5),
    ("STG.E desc[UR4][R4.64], R5",),
    ("@P3 BRA `(.L_item)", 5),
    ("EXIT",),
)


def test_a_merge_apart(tmp_path):
    path = tmp_path / "image.sass"
    # Labels of a listing are .L_x_ and a number.
    names = (".L_item", ".L_chunk", ".L_reads", ".L_folds")
    text = "\n.text.kv_merge:\n" + text_of(MERGE)
    for number, name in enumerate(names):
        text = text.replace(name, f".L_x_{number}")
    path.write_text(text)
    merge = merges.Merge(path, cycles.Machine(sms=4))
    read = merge._cycles(merge._round(merge.reads), 1)
    fold = merge._cycles(merge._round(merge.folds), 1)
    assert read > 300 and 3 * 24 < fold < 200
    one = merge.cycles(1, 1, 128, 8)  # a warp reads one of eight groups, all fold eight
    # A unit of more groups is more rounds; behind 32 of them all begins anew.
    assert merge.cycles(1, 1, 128, 16) == one + read + 8 * fold
    assert merge.cycles(1, 1, 128, 64) > one + 6 * read + 56 * fold
    # Four columns of blocks cost nothing more; of two rows a block, the unit is known.
    assert merge.cycles(1, 4, 128, 8) == one
    rows, units = merge.cycles(1, 16, 128, 8), merge.cycles(16, 1, 128, 8)
    assert one < rows < units


def test_predictions_are_written_once():
    """The site shows what gpu-verify compares with."""
    known = json.loads(predictions.FILE.read_text(encoding="utf-8"))
    rows = known["rows"]
    assert predictions.written(cycles.Machine(**known["machine"]), rows) == predictions.FILE.read_text(
        encoding="utf-8")
    assert len(rows) == len({each["case"] for each in rows}) > 20


def tensor_cycles(machine, made, ring, leaves, work, way, warps=8):
    """Of warps that wait (W) and, after so many cycles of work, arrive (A) in this order."""
    text = {"W": "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR1], R0", "A": "SYNCS.ARRIVE.TRANS64 RZ, [UR1], RZ"}
    names = [name for letter in way for name in (["NOP"] * (letter == "A") + [text[letter]])]
    code = [listing.Instruction(16 * i, name, work if name == "NOP" else 1, 7, 7, 0)
            for i, name in enumerate(names)]
    program, waits, arrivals = made
    return tensor.TensorMultiprocessor(machine, [code] * warps, waits, arrivals, program, *ring).run(leaves)


def test_prompts_by_tensor_memory():
    machine = tensor.Blackwell()
    # Sixteen elements of 128 x 128; half as many rows are no faster, operands of few columns are read longer.
    assert machine.product(128, 128) == 64 and machine.product(64, 128) == 64
    assert machine.product(128, 64) == 48 and machine.product(128, 64, True) == 32
    made, ring = tensor.prompts(machine, 128, 8), (1, 32768, 5)
    busy = sum(p.cycles for p in made[0])
    assert busy == 8 * 2 * (512 + 512 + 128)
    # A leaf: its scores, weights in two parts, values in two slices, each of which folds.
    fast, longer = (tensor_cycles(machine, tensor.prompts(machine, 128, leaves), ring, leaves, 1, "WAAWAWA")
                    for leaves in (8, 16))
    assert fast > busy
    # One tile's rows weigh and fold while the other's products run.
    assert busy <= longer - fast < busy * 1.06
    assert tensor_cycles(machine, made, ring, 8, 1000, "WAAWAWA") > 8 * 4000
    # A slow second-level cache holds all up: two tiles a leaf.
    machine.cache_bytes = 4
    assert tensor_cycles(machine, made, ring, 8, 1, "WAAWAWA") > 8 * 2 * 32768 / 4


def test_products_of_8_bits_by_tensor_memory():
    machine, ring = tensor.Blackwell(), (1, 16384, 8)
    # Half the cycles, but for values of 64 elements, which are multiplied as 128.
    for dim, cycles in ((128, 256 + 256 + 64), (64, 128 + 256 + 64)):
        for tiles in (1, 2):
            program = tensor.prompts(machine, dim, 8, element=1, tiles=tiles)[0]
            assert sum(p.cycles for p in program) == 8 * tiles * cycles
            # Each of the ring's tiles is read for the first time once, and given back once.
            assert sorted(p.reads[0] for p in program if p.reads) == list(range(16))
            assert sorted(part[0] for p in program for part in p.frees) == list(range(16))
    # A leaf's values come in one slice. One tile's rows alone hide nothing of each other.
    both, one = (tensor_cycles(machine, tensor.prompts(machine, 128, 8, element=1, tiles=tiles), ring, 8, 500,
                               "WAAWA", 4 * tiles) for tiles in (2, 1))
    assert 8 * 1500 < one < both < 2 * one


def test_latent_rows_by_tensor_memory():
    machine = tensor.Blackwell()
    made = tensor.latent(machine, 576, 512, 4)
    program = made[0]
    assert sum(p.cycles for p in program) == 8 * 2176
    # Scores of two leaves, nine slabs each, then four slices of each of them.
    assert [p.done[0] for p in program if p.done][:10] == ["scored"] * 2 + ["multiplied"] * 8
    # Two tiles fit: the third waits for the first one's slabs, and each is given back once.
    freed = [part for p in program for part in p.frees]
    assert sorted(freed) == [(leaf, slab) for leaf in range(8) for slab in range(9)]
    time = tensor_cycles(machine, made, (9, 8192, 2), 4, 1, "WAWWAWAWWAWA")
    assert 8 * 2176 < time < 8 * 2176 * 1.4
    assert tensor.latent(machine, 192, 128, 1)[0][-1].cycles == 4 * 32
