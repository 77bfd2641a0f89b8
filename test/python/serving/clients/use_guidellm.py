"""use_guidellm.py BASE_URL MODEL FOLDER: 16 requests of guidellm, four at a time, with a model folder's tokenizer."""

import json
import subprocess
import sys
from pathlib import Path

BASE, MODEL, FOLDER = sys.argv[1:]
COUNT = 16


def main():
    report = Path(FOLDER) / "guidellm.json"
    done = subprocess.run([
        Path(sys.executable).parent / "guidellm", "run", "--disable-progress",
        "--backend", f"kind=openai_http,target={BASE.removesuffix('/v1')},model={MODEL}",
        "--profile", "kind=concurrent,streams=4", "--constraint", f"kind=max_requests,count={COUNT}",
        "--tokenizer", f"kind=huggingface_auto,model={FOLDER}", "--output", f"kind=json,path={report}",
        "--data", "kind=synthetic_text,prompt_tokens=64,output_tokens=16"], text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    [found] = json.loads(report.read_text())["benchmarks"]
    totals = found["metrics"]["request_totals"]
    assert totals["successful"] == COUNT and not totals["errored"] + totals["incomplete"], totals
    tokens = found["metrics"]["output_token_count"]["successful"]
    assert tokens["min"] == tokens["max"] == 16, tokens
    print(f"guidellm: {totals['successful']} of {COUNT} requests")


if __name__ == "__main__":
    main()
