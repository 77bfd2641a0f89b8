"""kv-to-attention=target=linalg: upstream operations that pass blocks of caches as tensors, in an artifact of their own,
give the logits of the module that they were made of. elsewhere/run_attention.py does the same for the other targets."""

import re
import subprocess

import numpy as np
import pytest

import kvmlir
from elsewhere import steps
from tools import find

pytestmark = pytest.mark.skipif(not find("kv-compile"), reason="kv-compile is not built")


@pytest.mark.parametrize("kind,dtype,most", [
    ("llama", "f32", 1e-5), ("llama", "bf16", 3e-3), ("mistral", "f32", 1e-5), ("qwen3_moe", "f32", 1e-5),
    ("gemma3_caps", "f32", 1e-5), ("deepseek_v2", "f32", 1e-5)])
def test_linalg(tmp_path, kind, dtype, most):
    folder = steps.imported(tmp_path, kind, dtype)
    text = steps.lowered(folder, "linalg")
    assert not re.search(r'memref|"kv\.\w+"\(', text)
    (tmp_path / "tensors.mlir").write_text(text)
    subprocess.run([find("kv-compile"), tmp_path / "tensors.mlir", "-o", tmp_path / "tensors.so"], check=True)
    forward = kvmlir.load(tmp_path / "tensors.so", folder / "weights.safetensors").prepare("forward")
    logits, wanted, blocks = [], [], {}
    for given, expected in steps.own_steps(folder):
        for name, value in (given | blocks).items():
            forward.bind(name, value)
        forward.execute()
        logits.append(forward.output("logits").numpy().copy())
        wanted.append(expected)
        blocks = {name.removesuffix(".next"): np.array(forward.output(name).numpy())
                  for name in forward.output_names if name != "logits"}
    assert steps.gap(logits, wanted) <= most
