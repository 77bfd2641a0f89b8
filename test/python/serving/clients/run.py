"""run.py [NAME...]: clients that others have written, against kv-serve with SmolLM2; or, where they ask much, with a
tiny model. Each use_NAME.py runs in an environment of its own in build/clients, with the packages that NAME.txt pins.
The name vllm must be given: it needs build/bench/engines (scripts/lib.sh, engines)."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
PLACE = ROOT / "build/clients"
ENGINES = ROOT / "build/bench/engines/bin/python"
MOST = 1e-4  # between log probabilities
TINY = {"answers": ("--pages", 512, "--host-pages", 512, "--cached-logprobs", 5), "schemathesis": ("--pages", 512)}  # the server's options


def make_model():
    """(model folder, folder with its tokenizer as transformers reads it)"""
    from tools import KV_IMPORT, run
    import kvmlir
    folder, tokenizer = PLACE / "model", PLACE / "tokenizer"
    if not (folder / "model.so").exists():
        subprocess.run([ROOT / "scripts/fetch-smollm2.sh", ROOT / "build/models"], check=True)
        done = run(KV_IMPORT, ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf", "-o", folder, "--page", "16",
                   "--name", "smollm2")
        assert done.returncode == 0, done.stderr
        kvmlir.compile(folder)
    tokenizer.mkdir(exist_ok=True)
    (tokenizer / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    (tokenizer / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "bos_token": "<|im_start|>"}))
    return folder, tokenizer


def without_template(folder):
    from canary import with_template
    place = PLACE / "without-template"
    return place if place.exists() else with_template(folder, place, None)


def check_sums(folder, sums):
    """Those of lm-eval against the model's own log probabilities, in this process."""
    import kvmlir
    from kv_generate.model_folder import ModelFolder
    encode = ModelFolder(folder).tokenizer.encode
    server, gaps = kvmlir.Server(kvmlir.load(folder)), []
    for context, ending, (total, _) in sums:
        tokens = encode(context + ending).ids
        stream = server.add(tokens, max_new_tokens=1, prompt_logprobs=0)
        server.run()
        known = stream.prompt_logprobs[len(encode(context).ids) - 1:]
        gaps.append(abs(total - sum(value for value, *_ in known)))
    assert len(gaps) == 15 and max(gaps) <= MOST, gaps
    print(f"lm-eval: the largest gap to the model's own log probabilities is {max(gaps):.1e}")


def main(names):
    from serve_process import Serve, make_tiny
    from tools import pinned_environment
    PLACE.mkdir(parents=True, exist_ok=True)
    folder, tokenizer = make_model()
    failed = []
    for name in names or sorted(path.stem for path in HERE.glob("*.txt")):
        python = ENGINES if name == "vllm" else pinned_environment(HERE / f"{name}.txt", PLACE / name)
        served, given = [folder], ["smollm2", *[tokenizer] * (name not in ("langchain", "litellm"))]
        if name in TINY:
            shutil.rmtree(PLACE / "tiny", ignore_errors=True)
            (PLACE / "tiny").mkdir()
            served, given = [make_tiny(PLACE / "tiny", "--embeddings")], ["tiny"]
        elif name == "browser":  # the page continues texts where there is no chat template
            served.append(without_template(folder))
        for each in served:
            with Serve(each, *TINY.get(name, ()), threads=2) as server:
                if subprocess.run([python, HERE / f"use_{name}.py", f"{server.url}/v1", *given],
                                  cwd=tokenizer).returncode or not server.is_idle():
                    failed.append(name)
        if name == "lm_eval" and name not in failed:
            check_sums(folder, json.loads((tokenizer / "lm_eval.json").read_text()))
    if failed:
        sys.exit(f"run.py: failed: {', '.join(failed)}")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parents[1]))
    import conftest  # noqa: F401  where the packages are
    main(sys.argv[1:])
