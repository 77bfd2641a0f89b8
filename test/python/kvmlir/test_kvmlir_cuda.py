"""From Python on a GPU, which is the fake driver: the tokens are the CPU's, and buffers say where they lie."""

import json
import os
import subprocess
import sys
from pathlib import Path

import kvmlir
import numpy as np
from kv_import import synthetic
from test_cuda import FAKE
from tools import KV_IMPORT, QUICK, find, run

PROGRAM = """
import json, sys
import numpy as np
import kvmlir

folder = sys.argv[1]
model = kvmlir.InferenceSession([kvmlir.Accelerator(0)]).load(folder + "/cuda.so", folder + "/weights.safetensors")
manager = model.create_manager(2, num_pages=40, warn=False)
context = kvmlir.TextGenerationContext(list(range(5, 25)))
manager.claim(context.request_id)
manager.alloc(context)
[inputs] = manager.get_runtime_inputs([context])
out = model.execute(tokens=context.tokens, row_offsets=np.array([0, 20], np.int32),
                    logit_rows=np.array([19], np.int32), manager=manager)
says = {"devices": [str(one) for one in manager.devices], "blocks": inputs.blocks.device,
        "dlpack": inputs.blocks.__dlpack_device__(), "lengths": inputs.max_lengths.device}
for refused in (inputs.blocks.numpy, out["logits"].numpy):
    try:
        refused()
    except ValueError as error:
        says.setdefault("refused", []).append(str(error))
own = np.zeros((1, model.manifest.model_vocab_size), np.float32)
model.execute(logits=own)  # host memory: copied back, and the step is over
says["first"] = int(own[0].argmax())
manager.release(context.request_id)
says["tokens"] = list(kvmlir.generate(model, list(range(5, 25)), manager=manager, max_new_tokens=6))
print(json.dumps(says))
"""


def test_on_the_fake_driver(tmp_path):
    config = synthetic.make_config("llama", head_dim=64)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    assert run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path, "--page", "16").returncode == 0
    kvmlir.compile(tmp_path, target="cuda:sm_80,sm_90a", output=tmp_path / "cuda.so")
    kvmlir.compile(tmp_path, options=[QUICK])
    expected = list(kvmlir.generate(tmp_path, list(range(5, 25)), max_new_tokens=6))
    package = str(Path(kvmlir.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], text=True, capture_output=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": package, "KV_CUDA_DRIVER": str(FAKE)})
    assert done.returncode == 0, done.stderr
    says = json.loads(done.stdout)
    assert says["tokens"] == expected and says["first"] == expected[0]
    assert says["devices"] == ["cuda:0"] and says["blocks"] == "cuda:0" and says["dlpack"] == [2, 0]
    assert says["lengths"] == "cpu:0"
    sentence = "the buffer lies on cuda:0, numpy sees host memory only: torch.from_dlpack(buffer)"
    assert says["refused"] == [sentence] * 2


STEPS = """
!kv = !kv.collection<paged, bf16, layers = 1, heads = 1, dim = 64, page = 16>
module attributes {kv.model = {architecture = "none", max_seq_len = 512 : i64, name = "m", vocab_size = 272 : i64}} {
  // Queries over keys with rows of their own, then a second step over those of both.
  func.func @forward(%q: tensor<?x2x64xf32> {kv.name = "q", kv.dims = ["Q"]},
                     %k: tensor<?x1x64xf32> {kv.name = "k", kv.dims = ["T"]},
                     %q2: tensor<?x2x64xf32> {kv.name = "q2", kv.dims = ["T"]},
                     %rows: tensor<?xi32> {kv.name = "rows", kv.dims = ["R"]},
                     %keys: tensor<?xi32> {kv.name = "keys", kv.dims = ["R"]}, %kv: !kv {kv.name = "kv"})
      -> (tensor<?x2x64xf32> {kv.name = "crossed", kv.dims = ["Q"]},
          tensor<?x2x64xf32> {kv.name = "second", kv.dims = ["T"]}) attributes {kv.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    kv.store %k, %k into %kv[%c0] rows %keys : tensor<?x1x64xf32>, tensor<?x1x64xf32> into !kv, tensor<?xi32>
    %crossed = kv.attention %q in %kv[%c0] rows %rows keys %keys mask <none> scale 0.125
        : tensor<?x2x64xf32> in !kv, tensor<?xi32> keys tensor<?xi32> -> tensor<?x2x64xf32>
    %last, %second = scf.for %i = %c0 to %c1 step %c1 iter_args(%now = %kv, %given = %q2)
        -> (!kv, tensor<?x2x64xf32>) {
      %next = kv.advance %now rows %keys : !kv, tensor<?xi32>
      kv.store %k, %k into %next[%c0] rows %keys : tensor<?x1x64xf32>, tensor<?x1x64xf32> into !kv, tensor<?xi32>
      %o = kv.attention %given in %next[%c0] rows %keys mask <causal> scale 0.125
          : tensor<?x2x64xf32> in !kv, tensor<?xi32> -> tensor<?x2x64xf32>
      scf.yield %next, %o : !kv, tensor<?x2x64xf32>
    }
    return %crossed, %second : tensor<?x2x64xf32>, tensor<?x2x64xf32>
  }
}
"""
RUN_STEPS = """
import sys
import numpy as np
import kvmlir

folder, artifact, device = sys.argv[1:]
model = kvmlir.InferenceSession([kvmlir.Accelerator(0) if device == "cuda" else kvmlir.CPU()]).load(
    f"{folder}/{artifact}")
manager = model.create_manager(2, num_pages=40, warn=False)
contexts = [kvmlir.TextGenerationContext(list(range(n))) for n in (10, 34)]
for context in contexts:
    manager.claim(context.request_id)
    manager.alloc(context)
manager.get_runtime_inputs(contexts)
random = np.random.default_rng(1)
q, k, q2 = (random.standard_normal(shape).astype(np.float32) for shape in ((43, 2, 64), (22, 1, 64), (22, 2, 64)))
out = {"crossed": np.zeros_like(q), "second": np.zeros_like(q2)}
model.execute(q=q, k=k, q2=q2, rows=np.array([0, 40, 43], np.int32), keys=np.array([0, 5, 22], np.int32),
              manager=manager, **out)
np.savez(f"{folder}/{device}.npz", **out)
"""


def test_cross_attention_and_a_second_step(tmp_path):
    (tmp_path / "m.mlir").write_text(STEPS)
    package = str(Path(kvmlir.__file__).parents[1])
    found = {}
    for device, target in (("cpu", "cpu"), ("cuda", "cuda:sm_80,sm_90a")):
        done = subprocess.run([find("kv-compile"), tmp_path / "m.mlir", "-o", tmp_path / f"{device}.so",
                               f"--target={target}"], capture_output=True, text=True,
                              timeout=300)
        assert done.returncode == 0, done.stderr[:3000]
        done = subprocess.run([sys.executable, "-c", RUN_STEPS, tmp_path, f"{device}.so", device], text=True,
                              capture_output=True, timeout=300,
                              env={**os.environ, "PYTHONPATH": package, "KV_CUDA_DRIVER": str(FAKE)})
        assert done.returncode == 0, done.stderr[-3000:]
        found[device] = np.load(tmp_path / f"{device}.npz")
    for name, want in found["cpu"].items():
        np.testing.assert_allclose(found["cuda"][name], want, atol=3e-2, err_msg=name)
        assert np.abs(want).max() > 0.1


VERIFY = """
import json, sys
import numpy as np
import kvmlir

folder, artifact, device, truth = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
place = kvmlir.Accelerator(0) if device == "cuda" else kvmlir.CPU()
model = kvmlir.InferenceSession([place]).load(f"{folder}/{artifact}", folder + "/weights.safetensors")
manager = model.create_manager(2, num_pages=40, warn=False)
prompts = [list(range(5, 25)), [9, 8, 7]]
contexts = [kvmlir.TextGenerationContext(prompt) for prompt in prompts]
for context in contexts:
    manager.claim(context.request_id)


def compute(trees):
    for context in contexts:
        manager.alloc(context)
    manager.get_runtime_inputs(contexts)
    active = [context.tokens[context.processed_length:] for context in contexts]
    rows = np.concatenate([[0], np.cumsum([len(a) for a in active])]).astype(np.int32)
    logits = np.zeros((rows[-1], model.manifest.model_vocab_size), np.float32)
    model.execute(tokens=np.concatenate(active), row_offsets=rows, logit_rows=np.arange(rows[-1], dtype=np.int32),
                  tree=np.concatenate(trees), manager=manager, logits=logits)
    return np.split(logits.argmax(-1), rows[1:-1])


best = compute([np.full(len(prompt), -1) for prompt in prompts])
answers = [[int(own[-1])] for own in best]
for context, answer in zip(contexts, answers):
    context.update(answer[0])
manager.step(contexts)
accepted = []
for step in range(3):
    trees, nodes = [], []
    for r, (context, answer) in enumerate(zip(contexts, answers)):
        # A root; of the second request so many branches that they are several tiles of the prefill
        # kernel; then a wrong and a right guess behind the root, and behind the right one.
        tokens, parents = [answer[-1]], [-1]
        for node in range(35 * r):
            parents.append(node * 2 // 3)
            tokens.append(node * 7 % 200)
        right, first = (truth[r] + [1, 1])[len(answer):], len(tokens)
        tokens += [right[0] ^ 1, right[0], right[1] ^ 1, right[1]]
        parents += [0, 0, first + 1, first + 1]
        words = []
        for parent in parents:
            words.append(words[parent] | 1 << parent if parent >= 0 else 0)
        context.append(tokens[1:])
        trees.append(np.array(words, np.uint64).view(np.int64))
        nodes.append((tokens, parents))
    best = compute(trees)
    for context, answer, own, (tokens, parents) in zip(contexts, answers, best, nodes):
        path = [0]
        while found := [i for i, parent in enumerate(parents)
                        if parent == path[-1] and tokens[i] == own[path[-1]]]:
            path.append(found[-1])
        manager.accept_path(context, path)
        answer += [tokens[node] for node in path[1:]] + [int(own[path[-1]])]
        context.append(answer[-1:])
        accepted.append(len(path))
    manager.step(contexts)
print(json.dumps([answers, accepted]))
"""


def test_a_model_verifies_trees(tmp_path):
    """A step with trees of two requests, one in several tiles, accepts what a model without trees says
    token by token; on a CPU, and on the device."""
    config = synthetic.make_config("llama", head_dim=64)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    assert run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path, "--page", "16").returncode == 0
    kvmlir.compile(tmp_path, options=[QUICK])
    truth = [list(kvmlir.generate(tmp_path, prompt, max_new_tokens=12))
             for prompt in (list(range(5, 25)), [9, 8, 7])]
    subprocess.run([find("kv-opt"), "--kv-add-trees", tmp_path / "model.mlir", "-o", tmp_path / "trees.mlir"],
                   check=True)
    package = str(Path(kvmlir.__file__).parents[1])
    for device, target in (("cpu", "cpu"), ("cuda", "cuda:sm_80,sm_90a")):
        done = subprocess.run([find("kv-compile"), tmp_path / "trees.mlir", "-o", tmp_path / f"{device}.so",
                               f"--target={target}"], text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
        done = subprocess.run([sys.executable, "-c", VERIFY, tmp_path, f"{device}.so", device, json.dumps(truth)],
                              text=True, capture_output=True, timeout=300,
                              env={**os.environ, "PYTHONPATH": package, "KV_CUDA_DRIVER": str(FAKE)})
        assert done.returncode == 0, done.stderr
        answers, accepted = json.loads(done.stdout)
        assert accepted == [3] * 6
        assert [answer[:10] for answer in answers] == [want[:10] for want in truth]
