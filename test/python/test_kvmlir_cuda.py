"""From Python on a GPU, which is the fake driver: the tokens are the CPU's, and buffers say where they lie."""

import json
import os
import subprocess
import sys
from pathlib import Path

import kvmlir
from kv_import import synthetic
from test_cuda import FAKE
from tools import KV_IMPORT, run

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
    kvmlir.compile(tmp_path)
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
