"""llama_cpp.py MODEL.gguf THREADS PROMPT NEW: llama.cpp (the wheel xllamacpp) answers one request of PROMPT
tokens with NEW tokens; prints its own figures, tokens a second of prefill and decode, as JSON."""

import json
import sys

import xllamacpp

model, threads, prompt, new = sys.argv[1], *map(int, sys.argv[2:])
params = xllamacpp.CommonParams()
params.model.path = model
params.n_ctx = 1024
params.n_parallel = 1
params.cpuparams.n_threads = threads
params.cpuparams_batch.n_threads = threads
server = xllamacpp.Server(params)
answer = server.handle_completions({
    "prompt": [(i * 7919 + 13) % 49152 for i in range(prompt)], "n_predict": new, "temperature": 0,
    "ignore_eos": True, "cache_prompt": False})
timings = answer["timings"]
if (timings["prompt_n"], timings["predicted_n"]) != (prompt, new):
    sys.exit(f"llama.cpp computed {timings['prompt_n']} and {timings['predicted_n']} tokens, "
             f"not {prompt} and {new}")
print(json.dumps({"prefill": timings["prompt_per_second"], "decode": timings["predicted_per_second"]}))
