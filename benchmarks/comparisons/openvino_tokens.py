"""openvino_tokens.py MODEL.gguf THREADS PROMPT NEW: OpenVINO GenAI computes a prompt of PROMPT tokens and NEW
more; prints tokens a second of prefill and decode as JSON."""

import json
import sys

import numpy
import openvino
import openvino_genai

from smollm2 import prompts


def main(model, threads, prompt, new):
    pipeline = openvino_genai.LLMPipeline(model, "CPU", INFERENCE_NUM_THREADS=threads)
    options = openvino_genai.GenerationConfig(max_new_tokens=new + 1, ignore_eos=True, do_sample=False)

    def generate(ids):
        tokens = numpy.array([ids], numpy.int64)
        return pipeline.generate(openvino_genai.TokenizedInputs(
            openvino.Tensor(tokens), openvino.Tensor(numpy.ones_like(tokens))), options)

    # What the first run alone has to do; its prompt is another one, as it is found again.
    first, second = prompts(prompt, 2)
    generate(first)
    figures = generate(second).perf_metrics
    # In milliseconds: to the first new token, and for each after it.
    print(json.dumps({"prefill": 1000 * prompt / figures.get_ttft().mean,
                      "decode": 1000 / figures.get_tpot().mean}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
