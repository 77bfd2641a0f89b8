"""Small models through kv-import, kv-compile and kv-run, against the numpy oracle."""

import json
import re
import subprocess

import numpy as np
import pytest

import reference_model
from channel_weights import MATRIX, channels
from channel_weights import settings as channel_settings
from covering import cases
from kv_import import synthetic
from test_equal_bits import Served, ask
from test_quantized import LEVELS, rounded_rows
from tools import KV_IMPORT, QUICK, find, run

KV_COMPILE, KV_RUN = find("kv-compile"), find("kv-run")
pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN), reason="kv-run is not built")

LENGTHS = (1, 5, 16, 17, 70)  # the page holds 16
# Largest accepted difference relative to the largest logit: f32 sums; and in bf16 a K or V
# element that is rounded the other way because of them.
LIMIT = {"f32": 2e-5, "bf16": 3e-3}


@pytest.mark.parametrize("kind,dtype,form", cases({
    "kind": ("llama", "llama3", "qwen2", "qwen3", "mistral", "granite", "phi3", "phi3_long", "olmo2", "gemma3",
             "qwen3_moe"),
    "dtype": ("f32", "bf16"), "form": ("hf", "gguf")}))
def test_logits(tmp_path, kind, dtype, form):
    check_logits(tmp_path, kind, dtype, form)


@pytest.mark.parametrize("dtype", ("f32", "bf16"))
def test_logits_of_mixed_layers(tmp_path, dtype):
    """A window in six of eight layers, which no GGUF file says."""
    check_logits(tmp_path, "mixed", dtype, "hf")


@pytest.mark.parametrize("dtype", ("f32", "bf16"))
def test_logits_of_gpt_oss(tmp_path, dtype):
    """Sinks, experts with biases and a clamped activation, scaled positions, from a folder."""
    check_logits(tmp_path, "gpt_oss", dtype, "hf")


@pytest.mark.parametrize("kind", ("deepseek_v2", "deepseek_v2_experts", "deepseek_v3",
                                  "deepseek_v3_experts"))
@pytest.mark.parametrize("dtype", ("f32", "bf16"))
def test_logits_over_latents(tmp_path, kind, dtype):
    """Absorbed attention against that of the definition, which makes every head's keys and values."""
    check_logits(tmp_path, kind, dtype, "hf")


@pytest.mark.parametrize("dtype", ("f32", "bf16"))
def test_logits_with_soft_caps(tmp_path, dtype):
    """Of scores and logits, with a scale of scores and of positions; no GGUF file says them."""
    check_logits(tmp_path, "gemma3_caps", dtype, "hf")


@pytest.mark.parametrize("which", ("all", "no_head"))
@pytest.mark.parametrize("kind", ("llama", "qwen2", "phi3", "gemma3", "qwen3_moe"))
def test_logits_of_channels(tmp_path, kind, which):
    """Folders of i8 with a scale a row; rows are rounded before these products, and no others."""
    config = synthetic.make_config(kind, **({"intermediate": 64} if kind == "qwen3_moe" else {}))
    matrices = MATRIX if which == "all" else re.compile(r".*_proj\.weight")
    folder, weights = channels(synthetic.make_weights(config, seed=7), np.random.default_rng(8),
                               matrices)
    synthetic.write_hf(tmp_path / "hf", config, folder, dtype="F32",
                       settings=channel_settings())

    def rounded(rows, name):
        return rounded_rows(rows.astype(np.float32)) if matrices.fullmatch(name) else rows

    # In a few rows an element is rounded the other way, because of its last bits.
    compare_logits(tmp_path, "hf", config, weights, "f32", 5e-2, rounded,
                   compiled=() if which == "all" else (QUICK,))


def check_logits(tmp_path, kind, dtype, form):
    config = synthetic.make_config(kind)
    weights = synthetic.make_weights(config, seed=7)
    synthetic.write_hf(tmp_path / "hf", config, weights)
    if form == "gguf":
        synthetic.write_gguf(tmp_path / "gguf", config, weights)
    # Each kind as users compile it, with one element type.
    compare_logits(tmp_path, form, config, weights, dtype, LIMIT[dtype],
                   compiled=() if dtype == "bf16" else (QUICK,))


def compare_logits(tmp_path, form, config, weights, dtype, limit, *rounded, compiled=()):
    """Half of the rows within LIMIT, all of them within `limit`."""
    done = run(KV_IMPORT, tmp_path / form, "-o", tmp_path, "--dtype", dtype, "--page", "16")
    assert done.returncode == 0, done.stderr
    done = subprocess.run([KV_COMPILE, tmp_path / "model.mlir", "-o", tmp_path / "model.so", *compiled],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[:2000]
    random = np.random.default_rng(11)
    prompts = [random.integers(0, config.vocab, n).tolist() for n in LENGTHS]
    requests = "".join(json.dumps({"id": str(i), "tokens": p, "max_new_tokens": 4}) + "\n"
                       for i, p in enumerate(prompts))
    done = subprocess.run(
        [KV_RUN, tmp_path / "model.so", "--weights", tmp_path / "weights.safetensors",
         "--dump-logits", tmp_path / "logits", "--threads", "2"], input=requests,
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[:2000] + done.stdout[:2000]
    rows = np.fromfile(tmp_path / "logits", dtype=np.float32).reshape(-1, config.vocab)
    assert len(rows) == sum(LENGTHS)
    raw = json.loads((tmp_path / "hf/config.json").read_text())
    wanted = [reference_model.logits(raw, weights, p, dtype, *rounded) for p in prompts]
    scale = max(np.abs(w).max() for w in wanted)
    gaps = np.abs(rows - np.concatenate(wanted)).max(axis=1) / scale
    assert gaps.max() < limit and np.median(gaps) < LIMIT[dtype], (gaps.max(), np.median(gaps))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for i, prompt in enumerate(prompts):
        tokens = list(prompt)
        for token in (a["token"] for a in answers if a.get("id") == str(i) and "token" in a):
            row = reference_model.logits(raw, weights, tokens, dtype, *rounded)[-1]
            assert row.max() - row[token] < limit * scale
            tokens.append(token)
        assert len(tokens) == len(prompt) + 4


@pytest.mark.parametrize("kind", ("llama", "qwen3", "mistral", "qwen3_moe", "gpt_oss",
                                  "deepseek_v3"))
def test_reference_pipeline(tmp_path, kind):
    """kv-cpu and kv-reference, which decomposes every operation, generate the same tokens."""
    config = synthetic.make_config(kind)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=3))
    assert run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path, "--page", "16").returncode == 0
    random = np.random.default_rng(5)
    requests = "".join(json.dumps({"id": str(i), "tokens": random.integers(0, 256, n).tolist(),
                                   "max_new_tokens": 12}) + "\n" for i, n in enumerate(LENGTHS))
    answers = []
    for pipeline in ("kv-cpu", "kv-reference"):
        subprocess.run([KV_COMPILE, tmp_path / "model.mlir", "-o", tmp_path / "model.so",
                        f"--pipeline={pipeline}", *(() if kind == "llama" else (QUICK,))], check=True,
                       timeout=300)
        done = subprocess.run(
            [KV_RUN, tmp_path / "model.so", "--weights", tmp_path / "weights.safetensors",
             "--no-stream"], input=requests, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout
        lines = [json.loads(line) for line in done.stdout.splitlines()[:-1]]
        answers.append({line["id"]: line["tokens"] for line in lines})
    assert len(answers[0]) == len(LENGTHS) and all(len(t) == 12 for t in answers[0].values())
    assert answers[0] == answers[1]


@pytest.mark.parametrize("weights", ("q8_0", "q4_0", "i8"))
def test_levels_give_the_same_bits(tmp_path, weights):
    """A whole model of quantised weights, whatever multiplies bytes: vectors of every level, AMX."""
    config = synthetic.make_config("llama")
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    done = run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path, "--page", "16", "--weights", weights)
    assert done.returncode == 0, done.stderr
    random, seen = np.random.default_rng(3), {}
    requests = "".join(json.dumps({"id": str(n), "tokens": random.integers(0, 256, n).tolist(),
                                   "max_new_tokens": 4}) + "\n" for n in LENGTHS)
    for level in LEVELS:
        subprocess.run([KV_COMPILE, f"--mcpu={level}", tmp_path / "model.mlir", "-o", tmp_path / "model.so",
                        *(() if weights == "i8" else (QUICK,))], check=True, timeout=120)
        subprocess.run([KV_RUN, tmp_path / "model.so", "--weights", tmp_path / "weights.safetensors",
                        "--dump-logits", tmp_path / "logits", "--threads", "2"], input=requests,
                       check=True, capture_output=True, text=True, timeout=120)
        seen[level] = (tmp_path / "logits").read_bytes()
        assert len(seen[level]) == 4 * config.vocab * sum(LENGTHS)
    assert all(rows == seen[LEVELS[0]] for rows in seen.values())


@pytest.mark.parametrize("weights", ("keep", "q8_0", "i8"))
@pytest.mark.parametrize("kind", ("qwen3_moe", "gpt_oss"))
def test_equal_bits_of_experts(tmp_path, kind, weights):
    """A row's logits, whoever else chose its experts: threads, chunks, company, a found prefix."""
    config = synthetic.make_config(kind, intermediate=64)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=9))
    done = run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path, "--page", "16", "--weights", weights)
    assert done.returncode == 0, done.stderr
    subprocess.run([KV_COMPILE, tmp_path / "model.mlir", "-o", tmp_path / "page16.so",
                    *(() if kind == "qwen3_moe" else (QUICK,))], check=True, timeout=120)
    random = np.random.default_rng(13)
    prompts = [random.integers(0, 256, n).tolist() for n in (45, 9, 70, 1, 33)]

    def served(requests, *options):
        return Served(tmp_path, 16, requests, *options).rows

    alone = served([ask("0", prompts[0])], "--threads", 1, "--no-prefix-cache")["0"]
    assert len(alone) == 10 and len({digest for _, digest in alone}) == 10
    for threads in (1, 2, 3, 8):
        assert served([ask("0", prompts[0])], "--threads", threads)["0"] == alone
    for chunk in (1, 7, 16):
        assert served([ask("0", prompts[0])], "--max-batch-tokens", chunk)["0"] == alone
    everyone = [ask(str(i), prompt) for i, prompt in enumerate(prompts)]
    for options in (("--threads", 3), ("--max-batch-tokens", 20), ("--max-batch", 2)):
        assert served(everyone, *options)["0"] == alone
    twice = served([ask("0", prompts[0]), ask("1", prompts[0])], "--max-batch", 1)
    assert twice["0"] == twice["1"] == alone
