"""Whole models compiled for GPUs, on the fake driver: every kernel is its twin on the CPU, in
bf16 as a GPU would have it, against the same model compiled for the CPU."""

import dataclasses
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from float_weights import matrices, settings
from kv_import import synthetic
from tools import KV_IMPORT, QUICK, ROOT, find, run

KV_COMPILE, KV_RUN = find("kv-compile"), find("kv-run")
FAKE = os.environ.get("KV_FAKE_CUDA", ROOT / "build/release/lib/libkv_fake_cuda.so")
pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN and Path(FAKE).exists()),
                                reason="kv-run and the fake driver are not built")

LENGTHS = (1, 5, 17, 40)  # the page holds 16; decode and prefill kernels
NEW_TOKENS = 6
# Largest accepted difference relative to the largest logit: activations are bf16 on a GPU and
# f32 on a CPU.
LIMIT = 4e-2
LONGROPE = dataclasses.replace(synthetic.KINDS["phi3_long"]["rope"], factors=(1.0,) * 12,
                               long_factors=tuple(1.0 + i for i in range(12)))
KINDS = {"llama": {"head_dim": 64}, "qwen2": {"head_dim": 64}, "qwen3": {"head_dim": 64},
         "mistral": {"heads": 4, "head_dim": 64, "sliding": 12},
         "phi3": {"head_dim": 96, "sliding": 12}, "olmo2": {"head_dim": 80},
         # 24 elements of a head are rotated.
         "phi3_long": {"head_dim": 64, "sliding": 12, "rotary": 24, "rope": LONGROPE},
         "granite": {"head_dim": 64},
         "gemma3": {"head_dim": 64, "layers": 3, "sliding": 12, "full_layers": frozenset((1,))},
         # A cap that leaves logits apart.
         "gemma3_caps": {"head_dim": 64, "sliding": 12, "logit_cap": 30.0},
         "deepseek_v2": {}, "deepseek_v3": {"heads": 20},
         "qwen3_moe": {"head_dim": 64}, "deepseek_v2_experts": {}, "deepseek_v3_experts": {},
         # A row of gates is a chunk.
         "qwen3_next": {"head_dim": 64, "recurrent": dataclasses.replace(
             synthetic.KINDS["qwen3_next"]["recurrent"], value_heads=8)},
         "qwen3_next_experts": {"head_dim": 64, "recurrent": dataclasses.replace(
             synthetic.KINDS["qwen3_next"]["recurrent"], value_heads=8)},
         "granite_hybrid": {"head_dim": 64}, "granite_hybrid_experts": {"head_dim": 64},
         # A router's row is a chunk.
         "gpt_oss": {"head_dim": 64, "layers": 2, "full_layers": frozenset((1,)),
                     "mixture": dataclasses.replace(synthetic.KINDS["gpt_oss"]["mixture"],
                                                    experts=8)}}
# Whose tokens are no near ties, and no expert's logit that of another; else 5.
SEEDS = {"deepseek_v2": 8, "granite_hybrid": 6, "deepseek_v3": 8, "qwen3_moe": 6, "gpt_oss": 6,
         "qwen3_next_experts": 7, "deepseek_v2_experts": 9, "deepseek_v3_experts": 11}


def serve(folder, artifact, device, requests, pages=40, options=None, **environment):
    """(tokens by id, logits), or with `options` (tokens by id, statistics)"""
    more = ["--dump-logits", folder / "logits"] if options is None else options
    done = subprocess.run(
        [KV_RUN, folder / artifact, "--weights", folder / "weights.safetensors", "--device", device,
         "--threads", "1", *(["--pages", str(pages)] if pages else []), "--no-stream", *more],
        input=requests, capture_output=True, text=True, timeout=600,
        env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr[:2000] + done.stdout[:2000]
    *lines, last = [json.loads(line) for line in done.stdout.splitlines()]
    tokens = {line["id"]: line["tokens"] for line in lines}
    return tokens, (last["statistics"] if options is not None
                    else np.fromfile(folder / "logits", dtype=np.float32))


def check_steps(trace):
    """Between a step's first and last kernel nothing is allocated, freed or waited for, and an
    algorithm is asked for once a shape."""
    running, waited, products, asked, launches = False, None, set(), 0, 0
    for line in trace.splitlines():
        word, *sizes = line.split()
        if word in ("launch", "product", "graph"):
            assert not (running and waited), f"{waited} within a step"
            running, waited = True, None
            launches += 1
            if word == "product":
                rows = 1 << (int(sizes[0]) - 1).bit_length()
                products.add((rows, *sizes[1:]))
        elif word in ("alloc", "free", "synchronize"):
            waited = line
        elif word == "cuMemcpyDtoHAsync":
            running = False
        elif word == "heuristic":
            asked += 1
        assert word != "problem", line
    assert launches > 0 and 0 < asked <= 2 * len(products)


# The cache's type in a module that kv-import wrote, and that of another cache.
PAGED = re.compile(r"!kv.collection<paged, bf16, (.*?), page = 16>")
SCALED = r"!kv.collection<paged, {}, \1, page = 16, scale = #kv.scale<{}, group = {}>>"
CACHES = {"continuous": r"!kv.collection<continuous, bf16, \1, max_seq = 64>",
          "f8 with scales": SCALED.format("f8E4M3FN", "f32", 64),
          "f8 with scales of groups": SCALED.format("f8E4M3FN", "f8E8M0FNU", 32),
          "i8 with scales": SCALED.format("i8", "f32", 64)}


def check_tokens(folder, model, *flags, change=lambda text: text, pages=40, limit=LIMIT,
                 chips="sm_80,sm_90a", device=0, **environment):
    """The imported model, compiled for some chips, gives the CPU's tokens on a device of the fake
    driver, and nearly its logits."""
    done = run(KV_IMPORT, model, "-o", folder, "--page", "16", *flags)
    assert done.returncode == 0, done.stderr
    (folder / "model.mlir").write_text(change((folder / "model.mlir").read_text()))
    for target, artifact in (("cpu", "cpu.so"), (f"cuda:{chips}", "cuda.so")):
        done = subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", folder / artifact,
                               f"--target={target}", *((QUICK,) if target == "cpu" else ())],
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[:2000]
    random = np.random.default_rng(3)
    requests = "".join(json.dumps({"id": str(i), "tokens": random.integers(0, 256, n).tolist(),
                                   "max_new_tokens": NEW_TOKENS}) + "\n"
                       for i, n in enumerate(LENGTHS))
    tokens, logits = serve(folder, "cpu.so", "cpu", requests, pages)
    trace = folder / "trace"
    cuda_tokens, cuda_logits = serve(folder, "cuda.so", f"cuda:{device}", requests, pages,
                                     KV_CUDA_DRIVER=str(FAKE), KV_FAKE_CUDA_TRACE=str(trace),
                                     **environment)
    difference = np.abs(cuda_logits - logits).max() / np.abs(logits).max()
    assert difference < limit
    assert cuda_tokens == tokens and all(len(t) == NEW_TOKENS for t in tokens.values())
    return trace.read_text()


def compile_llama(folder, page):
    """folder/cuda.so, a small Llama with pages of `page` tokens."""
    config = synthetic.make_config("llama", head_dim=64)
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config, seed=5))
    assert run(KV_IMPORT, folder / "hf", "-o", folder, "--page", str(page)).returncode == 0
    subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", folder / "cuda.so",
                    "--target=cuda:sm_80,sm_90a"], check=True, timeout=300)


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_of_the_cpu(tmp_path, kind):
    config = synthetic.make_config(kind, **KINDS[kind])
    weights = synthetic.make_weights(config, seed=SEEDS.get(kind, 5))
    synthetic.write_hf(tmp_path / "hf", config, weights)
    # A state carries roundings of all tokens before; with f32 weights the difference is 6e-4 and 2e-3.
    limit = 1.5 * LIMIT if config.recurrent else LIMIT
    check_steps(check_tokens(tmp_path, tmp_path / "hf", limit=limit))


def test_merged_attentions(tmp_path):
    """Two attentions of different scores, merged; both results of each are the device's."""
    def merged(text):
        attention = r"%o_heads = (kv\.attention .*) scale 0\.125\n(.*) -> (tensor<\?x4x64xf32>)"
        sides = "".join(f"{side}, {side}_lse = \\1 scale {scale}\n\\2 -> \\3, tensor<?x4xf32>\n    "
                        for side, scale in (("%near", 0.125), ("%far", 0.03)))
        text, changed = re.subn(attention, sides + "%o_heads, %o_lse = kv.merge (%near, %near_lse), "
                                "(%far, %far_lse) : \\3, tensor<?x4xf32>", text)
        assert changed == 1
        return text
    config = synthetic.make_config("llama", **KINDS["llama"])
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    trace = check_tokens(tmp_path, tmp_path / "hf", change=merged)
    check_steps(trace)
    assert "launch kv_merge_sides" in trace


@pytest.mark.parametrize("device, prompts", ((2, "prefill"), (0, "tiles"), (3, "prefill"), (5, "tensor")),
                         ids=("8.6", "9.0", "12.0", "10.0"))
def test_kernels_from_ptx(tmp_path, device, prompts):
    """Of four generations in one artifact, each GPU takes its own code, whose PTX the emulator executes."""
    config = synthetic.make_config("llama", **KINDS["llama"])
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    trace = check_tokens(tmp_path, tmp_path / "hf", chips="sm_80,sm_90a,sm_100a,sm_120", device=device,
                         KV_FAKE_CUDA_PTX=str(Path(FAKE).parents[1]))
    check_steps(trace)
    assert f"launch kv_attention_{prompts}_bf16_64 " in trace


def test_latent_rows_by_tensor_memory(tmp_path):
    """20 query heads are more rows than the decode kernel has (it is launched, and has none): on
    10.0 prompts and steps of one token are the kernel's with tensor memory."""
    config = synthetic.make_config("deepseek_v3", **KINDS["deepseek_v3"])
    synthetic.write_hf(tmp_path / "hf", config,
                       synthetic.make_weights(config, seed=SEEDS["deepseek_v3"]))
    trace = check_tokens(tmp_path, tmp_path / "hf", chips="sm_90a,sm_100a", device=5)
    check_steps(trace)
    assert "launch kv_latent_tensor_bf16_192 " in trace
    assert "launch kv_latent_prefill" not in trace


def test_latent_rows_by_pairs_of_blocks(tmp_path):
    """On 9.0 prompts of 20 query heads are two blocks' each, and steps of one token one block's."""
    config = synthetic.make_config("deepseek_v3", **KINDS["deepseek_v3"])
    synthetic.write_hf(tmp_path / "hf", config,
                       synthetic.make_weights(config, seed=SEEDS["deepseek_v3"]))
    trace = check_tokens(tmp_path, tmp_path / "hf", chips="sm_90a")
    check_steps(trace)
    pairs = re.findall(r"launch kv_latent_pairs_bf16_192 \d+ (.*)", trace)
    assert pairs and set(pairs) == {"in clusters of 2"}
    assert "launch kv_latent_tiles_bf16_192 " in trace
    assert "launch kv_latent_prefill" not in trace


@pytest.mark.parametrize("cache", CACHES)
def test_tokens_of_the_cpu_with_another_cache(tmp_path, cache):
    def change(text):
        text, count = PAGED.subn(CACHES[cache], text)
        assert count > 0
        return text

    config = synthetic.make_config("llama", **KINDS["llama"])
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    pages = 0 if cache == "continuous" else 40
    # Rows that differ by a rounding may become neighbours among f8E4M3's numbers, 1/16 apart.
    limit = 3 * LIMIT if "f8" in cache else LIMIT
    check_steps(check_tokens(tmp_path, tmp_path / "hf", change=change, pages=pages, limit=limit))


@pytest.mark.parametrize("cache", (None, "f8 with scales"))
def test_prompts_by_tile_copies(tmp_path, cache):
    """Heads of 256 elements, and a cache of 8 bits, take the kernels of 9.0 that copy tiles."""
    dim = 64 if cache else 256
    config = synthetic.make_config("gemma3" if not cache else "llama", head_dim=dim, layers=2,
                                   **({} if cache else {"full_layers": frozenset((1,)), "sliding": 12}))
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    trace = check_tokens(tmp_path, tmp_path / "hf", chips="sm_90a",
                         change=lambda text: PAGED.sub(CACHES[cache], text) if cache else text,
                         limit=3 * LIMIT if cache else LIMIT)
    assert f"launch kv_attention_tiles_{'f8s' if cache else 'bf16'}_{dim} " in trace
    assert "launch kv_attention_prefill" not in trace


@pytest.mark.parametrize("chip, device, kernels", [
    ("sm_90a", 0, ("tiles",)), ("sm_100a", 5, ("tensor",)), ("sm_120", 3, ("decode", "prefill"))],
    ids=("9.0", "10.0", "12.0"))
@pytest.mark.parametrize("kind", ("llama", "mistral"))
def test_products_of_8_bits(tmp_path, kind, chip, device, kernels):
    """Both round the same numbers. A query of bf16 may be another of f8E4M3 than one of f32, and so
    may a weight: the tolerance is that of a cache of 8 bits."""
    config = synthetic.make_config(kind, **KINDS[kind])
    # Whose tokens are no near ties.
    weights = synthetic.make_weights(config, seed={"llama": 9, "mistral": 11}[kind])
    synthetic.write_hf(tmp_path / "hf", config, weights)
    trace = check_tokens(tmp_path, tmp_path / "hf", "--cache", "f8E4M3FN", "--products", "f8E4M3FN",
                         chips=chip, device=device, limit=3 * LIMIT)
    check_steps(trace)
    launched = set(re.findall(r"launch kv_attention_(\w+)", trace))
    assert launched == {f"{kernel}_f8p_64" for kernel in kernels}


def test_f32_weights(tmp_path):
    """Products of f32; the cache is of 16 bits."""
    config = synthetic.make_config("llama", head_dim=64)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5), "F32")
    check_steps(check_tokens(tmp_path, tmp_path / "hf", "--dtype", "f32",
                             change=lambda text: text.replace("<paged, f32,", "<paged, bf16,")))


@pytest.mark.parametrize("format_", ("Q4_1", "Q8_0"))
def test_quantised_weights(tmp_path, format_):
    """Blocks of a GGUF file as they are, the tied embedding among them: no product is cuBLASLt's."""
    config = synthetic.make_config("llama", head_dim=64)
    synthetic.write_gguf(tmp_path / "m.gguf", config, synthetic.make_weights(config, seed=6), format_)
    trace = check_tokens(tmp_path, tmp_path / "m.gguf")
    assert "product" not in trace and "launch kv_quant_matmul" in trace, trace[:2000]


@pytest.mark.parametrize("kind", ("qwen2", "qwen3_moe"))
def test_weights_with_a_scale_a_row(tmp_path, kind):
    config = synthetic.make_config(kind, head_dim=64)
    weights = synthetic.make_weights(config, seed=20 if kind == "qwen3_moe" else 6)
    synthetic.write_hf(tmp_path / "hf", config, weights)
    trace = check_tokens(tmp_path, tmp_path / "hf", "--weights", "i8")
    assert "launch kv_quant_matmul" in trace, trace[:2000]
    # Of gate and up. Rows of down, 48 elements, are no groups of 32: it is dense.
    assert ("launch kv_expert_quant_matmul" in trace) == (kind == "qwen3_moe")
    assert ("launch kv_expert_matmul" in trace) == (kind == "qwen3_moe")


@pytest.mark.parametrize("kind,method,seed", [("qwen2", "tensor", 6), ("qwen3_moe", "block", 8)])
def test_weights_of_floats_of_8_bits(tmp_path, kind, method, seed):
    config = synthetic.make_config(kind, hidden=128, heads=4, head_dim=64, intermediate=128)
    folder, _ = matrices(synthetic.make_weights(config, seed=seed), np.random.default_rng(2), method)
    synthetic.write_hf(tmp_path / "hf", config, folder, settings=settings(method))
    trace = check_tokens(tmp_path, tmp_path / "hf")
    assert "launch kv_quant_matmul" in trace, trace[:2000]
    assert ("launch kv_expert_quant_matmul" in trace) == (kind == "qwen3_moe")
    assert "launch kv_expert_matmul" not in trace


@pytest.mark.parametrize("kind", ("qwen3", "deepseek_v2", "qwen3_moe", "qwen3_next"))
def test_steps_as_graphs(tmp_path, kind):
    """Steps like earlier ones are one graph launch between the copies of tokens and of logits, and
    change no bit."""
    config = synthetic.make_config(kind, **KINDS[kind])
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    assert run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path, "--page", "16").returncode == 0
    subprocess.run([KV_COMPILE, tmp_path / "model.mlir", "-o", tmp_path / "cuda.so",
                    "--target=cuda:sm_80,sm_90a"], check=True, timeout=300)
    random = np.random.default_rng(3)
    requests = "".join(json.dumps({"id": str(i), "tokens": random.integers(0, 256, n).tolist(),
                                   "max_new_tokens": 30}) + "\n" for i, n in enumerate(LENGTHS))
    answers, kinds = [], {}
    for flags in ([], ["--no-graphs"]):
        trace = tmp_path / f"trace{len(flags)}"
        answers.append(serve(tmp_path, "cuda.so", "cuda:0", requests,
                             options=["--dump-logits", tmp_path / f"logits{len(flags)}", *flags],
                             KV_CUDA_DRIVER=str(FAKE), KV_FAKE_CUDA_TRACE=str(trace))[0])
        check_steps(trace.read_text())
        kinds[len(flags)] = [line.split()[0] for line in trace.read_text().splitlines()]
    assert answers[0] == answers[1] and all(len(t) == 30 for t in answers[0].values())
    assert (tmp_path / "logits0").read_bytes() == (tmp_path / "logits1").read_bytes()
    assert "graph" not in kinds[1]
    # A step is from one copy of logits to the next.
    steps = " ".join(kinds[0]).split("cuMemcpyDtoHAsync")
    replayed = [step.split() for step in steps if "graph" in step and "capture" not in step]
    assert len(replayed) > 20
    assert all(set(step) <= {"graph", "cuMemcpyHtoDAsync", "synchronize", "cuMemsetD8Async"}
               for step in replayed), replayed


@pytest.mark.parametrize("kernel", ("kv_norm", "kv_attention_decode_bf16_64"))
def test_a_kernel_that_does_not_wait(tmp_path, kernel):
    """Kernels of code for 9.0 begin before the one before them has ended, if it is one of ours. One whose wait is missing
    reads what is not there yet: other logits, also where steps are graphs. On an 8.6 none begins early."""
    config = synthetic.make_config("qwen3", **KINDS["qwen3"])
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    assert run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path, "--page", "16").returncode == 0
    subprocess.run([KV_COMPILE, tmp_path / "model.mlir", "-o", tmp_path / "cuda.so",
                    "--target=cuda:sm_80,sm_90a"], check=True, timeout=300)
    requests = json.dumps({"id": "a", "tokens": [5, 80, 3], "max_new_tokens": 8,
                           "logits": "digest"}) + "\n"

    def answers(device, **environment):
        """What kv-run says, logits' digests among it; they may be NaN."""
        done = subprocess.run(
            [KV_RUN, tmp_path / "cuda.so", "--weights", tmp_path / "weights.safetensors", "--device",
             device, "--threads", "1", "--pages", "40"], input=requests, capture_output=True,
            text=True, timeout=600, env={**os.environ, "KV_CUDA_DRIVER": str(FAKE), **environment})
        return done.stdout.splitlines()[:-1]

    fault = {"KV_FAKE_CUDA_FAULT": f"nowait:{kernel}"}
    want = answers("cuda:0")
    assert len(want) == 9 and answers("cuda:0", **fault) != want
    assert answers("cuda:2") == answers("cuda:2", **fault)


def test_tokens_are_drawn_on_the_device(tmp_path):
    """The tokens that the host draws from the device's logits, by every parameter; but for a
    request that asks for something of its logits, tokens alone come to the host."""
    compile_llama(tmp_path, 16)
    random = np.random.default_rng(4)
    choices = [{}, {"temperature": 1.0}, {"temperature": 0.7, "top_k": 8},
               {"temperature": 3.0, "top_p": 0.8}, {"temperature": 2.0, "min_p": 0.1},
               {"temperature": 1.5, "top_k": 40, "top_p": 0.95, "min_p": 0.02}]
    requests = [{"id": str(i), "tokens": random.integers(0, 256, 3 + 7 * i).tolist(),
                 "max_new_tokens": 20, "seed": 10 + i, **choice} for i, choice in enumerate(choices)]

    def drawn(name, requests):
        trace = tmp_path / name
        tokens, _ = serve(tmp_path, "cuda.so", "cuda:0",
                          "".join(json.dumps(request) + "\n" for request in requests), options=[],
                          KV_CUDA_DRIVER=str(FAKE), KV_FAKE_CUDA_TRACE=str(trace))
        text = trace.read_text()
        check_steps(text)
        return tokens, text, [int(line.split()[1]) for line in text.splitlines()
                              if line.startswith("cuMemcpyDtoHAsync")]

    tokens, trace, copies = drawn("device", requests)
    assert "launch kv_sample" in trace and len(copies) >= 20 and set(copies) == {256}
    on_host, trace, copies = drawn("host", [{**r, "logits": "digest"} for r in requests])
    assert "kv_sample" not in trace and min(copies) >= 4 * 256
    assert tokens == on_host and len({tuple(t) for t in tokens.values()}) == len(choices)
    alone, _, _ = drawn("alone", requests[5:])
    assert alone["5"] == tokens["5"]


def test_windows_change_no_bit(tmp_path):
    """Two collections in one pool, the windowed one in bands, and one collection for all layers:
    the same bits of logits, the same tokens."""
    config = synthetic.make_config("mixed", head_dim=64, sliding=12, layers=5,
                                   full_layers=frozenset((1, 4)))
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    random = np.random.default_rng(3)
    requests = "".join(json.dumps({"id": str(i), "tokens": random.integers(0, 256, n).tolist(),
                                   "max_new_tokens": 20}) + "\n" for i, n in enumerate(LENGTHS))
    served = []
    for keep_all in ([], ["--keep-all"]):
        folder = tmp_path / f"kept{len(keep_all)}"
        done = run(KV_IMPORT, tmp_path / "hf", "-o", folder, "--page", "4", *keep_all)
        assert done.returncode == 0, done.stderr
        subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", folder / "cuda.so",
                        "--target=cuda:sm_80,sm_90a"], check=True, timeout=300)
        served.append(serve(folder, "cuda.so", "cuda:0", requests, 200, KV_CUDA_DRIVER=str(FAKE)))
    (tokens, logits), (all_tokens, all_logits) = served
    assert all(len(t) == 20 for t in tokens.values()) and tokens == all_tokens
    assert logits.tobytes() == all_logits.tobytes()


def test_pages_come_back_from_host_memory(tmp_path):
    """A conversation whose pages others have taken goes on as if they had not; also after a restart."""
    compile_llama(tmp_path, 4)
    random = np.random.default_rng(3)
    prompts = [random.integers(0, 256, 45).tolist() for _ in range(3)]
    turns = [(prompts[0], 0), (prompts[1], 30), (prompts[2], 60), (prompts[0] + prompts[1][:20], 90)]
    requests = "".join(json.dumps({"id": str(i), "tokens": tokens, "arrival_step": step,
                                   "max_new_tokens": NEW_TOKENS}) + "\n"
                       for i, (tokens, step) in enumerate(turns))
    fake = {"KV_CUDA_DRIVER": str(FAKE)}
    want, plain = serve(tmp_path, "cuda.so", "cuda:0", requests, 20, ["--no-prefix-cache"], **fake)
    have, host = serve(tmp_path, "cuda.so", "cuda:0", requests, 20, ["--host-pages", "200"], **fake)
    assert have == want and plain["loaded_pages"] == 0
    assert host["loaded_pages"] >= 5 and host["stored_pages"] > 30
    disk = ["--disk-dir", tmp_path / "disk", "--disk-bytes", str(1 << 25)]
    for loaded in (0, 30):
        have, statistics = serve(tmp_path, "cuda.so", "cuda:0", requests, 200, disk, **fake)
        assert have == want and statistics["disk_pages_read"] >= loaded


def test_no_driver(tmp_path):
    """One sentence where there is no driver, and one for the wrong device."""
    config = synthetic.make_config("llama", head_dim=64)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    assert run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path, "--page", "16").returncode == 0
    subprocess.run([KV_COMPILE, tmp_path / "model.mlir", "-o", tmp_path / "cuda.so",
                    "--target=cuda:sm_90a"], check=True, timeout=300)

    def error(device, **environment):
        done = subprocess.run(
            [KV_RUN, tmp_path / "cuda.so", "--weights", tmp_path / "weights.safetensors",
             "--device", device], input="", capture_output=True, text=True, timeout=60,
            env={**os.environ, **environment})
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done
        return done.stderr

    assert error("cuda", KV_CUDA_DRIVER="/nowhere/libcuda.so.1") == (
        "kv-run: error: device cuda:0: NVIDIA's driver, which a CUDA device needs, cannot be "
        "loaded: /nowhere/libcuda.so.1: cannot open shared object file: No such file or "
        "directory\n")
    assert "target.kind is \"cuda\", this session runs cpu" in error("cpu")
    # A program that PATH finds is told no folder of its own.
    done = subprocess.run(
        ["kv-run", tmp_path / "cuda.so", "--weights", tmp_path / "weights.safetensors",
         "--device", "cuda:9"], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PATH": str(Path(KV_RUN).parent), "KV_CUDA_DRIVER": str(FAKE)})
    assert "cuda:9: this machine has" in done.stderr, done
    # The fake driver's device 2 is an 8.6: PTX for every other chip is always there.
    assert error("cuda:9", KV_CUDA_DRIVER=str(FAKE)) == (
        "kv-run: error: device cuda:9: this machine has 6 CUDA devices\n")
    assert error("gpu").startswith("kv-run: error: --device: device \"gpu\": expected cpu, ")
