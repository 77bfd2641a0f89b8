"""use_vllm.py BASE_URL MODEL FOLDER: what `vllm bench serve` does, 16 requests, four at a time, each way to ask. The
command itself does not start from the wheel for CPUs, which has another name than the package that it looks for."""

import argparse
import json
import sys
from pathlib import Path

from vllm.benchmarks.serve import add_cli_args, main

BASE, MODEL, FOLDER = sys.argv[1:]
COUNT, NEW = 16, 12


def ask(backend, endpoint):
    parser = argparse.ArgumentParser()
    add_cli_args(parser)
    main(parser.parse_args([
        "--backend", backend, "--base-url", BASE.removesuffix("/v1"), "--endpoint", endpoint, "--model", MODEL,
        "--tokenizer", FOLDER, "--dataset-name", "random", "--random-input-len", "64", "--random-output-len", str(NEW),
        "--num-prompts", str(COUNT), "--max-concurrency", "4", "--ignore-eos", "--disable-tqdm", "--save-result",
        "--result-dir", FOLDER, "--result-filename", "vllm.json"]))
    found = json.loads((Path(FOLDER) / "vllm.json").read_text())
    assert found["completed"] == COUNT and found["total_output_tokens"] == COUNT * NEW, found
    print(f"vllm bench serve, {endpoint}: {COUNT} of {COUNT} requests")


ask("openai", "/v1/completions")
ask("openai-chat", "/v1/chat/completions")
