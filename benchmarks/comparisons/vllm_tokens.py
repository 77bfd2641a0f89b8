"""vllm_tokens.py MODEL.gguf FOLDER THREADS PROMPT NEW: vLLM on the CPU computes a prompt of PROMPT tokens and NEW more,
with weights and rows of bf16; prints tokens a second of prefill and decode as JSON. FOLDER gets the model as Hugging
Face has it, once."""

import json
import os
import sys
import time
from pathlib import Path

from smollm2 import prompts


def convert(model, folder):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    where = {"pretrained_model_name_or_path": str(model.parent), "gguf_file": model.name}
    found = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.bfloat16)
    # The values are dense by now; what is left says otherwise.
    found.config.__dict__.pop("quantization_config", None)
    found.hf_quantizer, found.is_quantized = None, False
    AutoTokenizer.from_pretrained(**where).save_pretrained(folder)
    found.save_pretrained(folder)


def main(model, folder, threads, prompt, new):
    os.environ.update(OMP_NUM_THREADS=str(threads), VLLM_CPU_KVCACHE_SPACE="1",
                      VLLM_CPU_OMP_THREADS_BIND=f"0-{threads - 1}", VLLM_ENABLE_V1_MULTIPROCESSING="0")
    if not (folder / "model.safetensors").exists():
        convert(model, folder)
    from vllm import LLM, SamplingParams
    engine = LLM(str(folder), dtype="bfloat16", max_model_len=2 * (prompt + new),
                 enable_prefix_caching=False, max_num_batched_tokens=max(2048, 2 * (prompt + new)))
    tokens = [{"prompt_token_ids": prompts(prompt)[0]}]

    def seconds(count):
        options = SamplingParams(max_tokens=count, ignore_eos=True, temperature=0)
        start = time.perf_counter()
        engine.generate(tokens, options, use_tqdm=False)
        return time.perf_counter() - start

    seconds(2)  # what the first run alone has to do
    first = min(seconds(1) for _ in range(3))
    print(json.dumps({"prefill": prompt / first, "decode": new / (seconds(new + 1) - first)}))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]), *map(int, sys.argv[3:]))
