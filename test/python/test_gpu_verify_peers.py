"""What gpu-verify-peers.py takes of gpu-verify's report."""

import importlib.util

from tools import ROOT

SPEC = importlib.util.spec_from_file_location("peers", ROOT / "scripts/gpu-verify-peers.py")
peers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(peers)


def test_cases():
    """Our times of bf16, each once: no rates, no peers' times, no masks that differ."""
    decode = "decode bf16 64x4095+1 32/8 d128 page 16"
    prefill = "prefill bf16 1x0+2048 32/8 d128 page 16"

    def row(case, metric="time", value=1.0, baseline=""):
        return {"case": case, "metric": metric, "value": value, "baseline": baseline}

    rows = [row("read ceiling", "bytes"), row(decode, value=5.0),
            row(decode, "K and V read once", baseline="the read ceiling"),
            row(decode, value=7.0, baseline="another's speed"), row(prefill, value=9.0),
            row("prefill bf16 4x8192+2048 32/8 d128 page 16"),
            row("decode f16 64x4095+1 32/8 d128 page 16")]
    assert list(peers.cases(rows)) == [(decode, 5.0, 64, 4096, 1), (prefill, 9.0, 1, 2048, 2048)]
