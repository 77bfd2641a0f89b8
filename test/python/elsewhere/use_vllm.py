"""use_vllm.py JOB.json: answers prompts with vLLM on the CPU; prints {"tokens": [...], "cached": [...]}, of each prompt.
A job has the model's folder, prompts, how many tokens to answer, options of vLLM, and the extra configuration of
KVMlirConnector, or none."""

import json
import os
import sys

os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_CPU_KVCACHE_SPACE="1", VLLM_CPU_OMP_THREADS_BIND="nobind",
                  VLLM_LOGGING_LEVEL="ERROR")


def main(job):
    from vllm import LLM, SamplingParams
    from vllm.config import KVTransferConfig
    more = job["options"]
    if job["tiers"] is not None:
        more["kv_transfer_config"] = KVTransferConfig(
            kv_connector="KVMlirConnector", kv_connector_module_path="kvmlir.vllm", kv_role="kv_both",
            kv_connector_extra_config=job["tiers"])
    engine = LLM(job["model"], skip_tokenizer_init=True, dtype="float32", enforce_eager=True, max_model_len=512,
                 block_size=32, **more)
    sampling = SamplingParams(temperature=0, max_tokens=job["max_tokens"], ignore_eos=True, detokenize=False)
    given = [{"prompt_token_ids": tokens, "cache_salt": job["salt"]} if job["salt"] else {"prompt_token_ids": tokens}
             for tokens in job["prompts"]]
    answers = engine.generate(given, sampling, use_tqdm=False)
    print(json.dumps({"tokens": [list(one.outputs[0].token_ids) for one in answers],
                      "cached": [one.num_cached_tokens or 0 for one in answers]}))


if __name__ == "__main__":
    main(json.load(open(sys.argv[1])))
