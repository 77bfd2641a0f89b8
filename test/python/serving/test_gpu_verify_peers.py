"""What gpu-verify-peers.py takes of gpu-verify's rows."""

import importlib.util

from tools import ROOT

SPEC = importlib.util.spec_from_file_location("peers", ROOT / "tools/gpu-verify/gpu-verify-peers.py")
peers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(peers)


def test_cases():
    """Steps of bf16 that were timed: no other types, dimensions or layouts, no masks that differ."""
    def row(case, suite="timing", measurements=(1,)):
        return {"suite": suite, "row": "attention " + case, "measurements": measurements}

    decode, prefill = "bf16 64x4095+1 64/8 d128 page 16", "bf16 1x0+2048 32/8 d128 page 16"
    rows = [{"visit": "when"}, row(decode), row(prefill), row("bf16 4x8192+2048 32/8 d128 page 16"),
            row("f16 64x4095+1 32/8 d128 page 16"), row("bf16 64x4095+1 32/8 d64 page 16"),
            row("bf16 64x4095+1 32/8 d128 page 16 hnd"), row("bf16 1x8191+1 32/8 d128 page 16", "long"),
            row("bf16 1x1023+1 32/8 d128 page 16", measurements=())]
    assert peers.cases(rows) == {decode: (64, 4096, 1, 8, 8), prefill: (1, 2048, 2048, 8, 4)}
    # Of many, four; those that are named where one of them was timed.
    many = [row(f"bf16 1x{keys}+1 32/8 d128 page 16") for keys in (10, 20, 30, 40, 50)]
    assert [case.split()[1] for case in peers.cases(many)] == ["1x10+1", "1x20+1", "1x30+1", "1x40+1"]
    assert list(peers.cases([*many, row(peers.SHAPES[1])])) == [peers.SHAPES[1]]


def test_rows_are_few_and_planned_as_long_as_they_take():
    known = {"a": (), "b": ()}
    assert peers.rows(peers.DEFAULT, known) == [
        ("SDPA FLASH_ATTENTION: a", 16), ("SDPA FLASH_ATTENTION: b", 1),
        ("SDPA CUDNN_ATTENTION: a", 1), ("SDPA CUDNN_ATTENTION: b", 1)]
    # A kernel is compiled for each shape.
    assert [seconds for _, seconds in peers.rows(["FlexAttention paged"], known)] == [55, 40]


def test_a_peer_that_cannot_is_left_out():
    class Torch:
        int32 = None
        zeros = staticmethod(lambda *shape, **more: None)

    ready, *answers = peers.serve(Torch, {"case": (1, 16, 1, 8, 4)}, ["SDPA FLASH_ATTENTION: case\n"])
    assert ready == {"ready": True}
    assert answers[0]["passed"] and answers[0]["message"].startswith("left out: ")
    assert answers[0]["measurements"] == []
