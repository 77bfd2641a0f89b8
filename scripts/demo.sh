#!/usr/bin/env bash
# demo.sh [--model FILE] [PROMPT]: a language model, compiled and run on this CPU.
#   --model FILE   a GGUF file or a Hugging Face folder (default: SmolLM2-135M-Instruct)
# Sets up and builds what is missing. A second question follows that shares the
# system prompt, so that the prefix cache has something to find.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."
. scripts/lib.sh

model= prompt=
while [ $# -gt 0 ]; do
  case $1 in
  --model)
    [ $# -ge 2 ] || { echo "demo.sh: --model needs a file or folder" >&2; exit 2; }
    model=$(cd "$here" && realpath -m "$2")
    shift 2 ;;
  -h | --help)
    sed -n '2,5s/^# //p' scripts/demo.sh
    exit 0 ;;
  -*) echo "demo.sh: unknown option $1; there is --model FILE" >&2; exit 2 ;;
  *) [ -z "$prompt" ] || { echo "demo.sh: one prompt, please; quote it" >&2; exit 2; }
    prompt=$1
    shift ;;
  esac
done
[ -z "$model" ] || [ -e "$model" ] || { echo "demo.sh: $model: no such file" >&2; exit 2; }
prompt=${prompt:-What is a KV cache, and why does a language model need one?}
second="In one sentence: why is the sky blue?"
system="You are a patient teacher in a small school by the sea. You answer questions of curious \
people who have no technical background. Answer truthfully, in plain words and short sentences. \
Begin with the most important fact. Give one everyday example when it helps. Do not use lists, \
headings or formulas. If you do not know something, say so openly instead of guessing. Be kind, \
never talk down to anyone, and stop when the question is answered. Everybody who asks shares these \
instructions, so the model computes them once and finds them in its cache afterwards."

scripts/setup.sh
build release demo
if [ -z "$model" ]; then
  scripts/fetch-smollm2.sh build/models
  model=build/models/SmolLM2-135M-Instruct.Q4_1.gguf
fi
bin=build/release/bin
folder=build/demo/$(basename "$model")
mkdir -p "$folder"
step "import $(basename "$model")" tools/kv-import/kv-import "$model" -o "$folder" --page 16
compile_start=$(date +%s.%N)
step "compile" "$bin/kv-compile" "$folder/model.mlir" -o "$folder/model.so"
compile_end=$(date +%s.%N)

echo
echo "> $prompt"
echo "> $second"
echo
tools/kv-generate/kv-generate "$folder" --kv-run "$bin/kv-run" --system "$system" \
  --one-by-one --max-new-tokens 160 --temperature 0 --stats "$folder/statistics.json" \
  "$prompt" "$second"
echo
.venv/bin/python - "$folder/statistics.json" "$compile_start" "$compile_end" <<'PY'
import json
import sys

s = json.load(open(sys.argv[1]))
rows = [
    ("compile", f"{float(sys.argv[3]) - float(sys.argv[2]):.2f} s"),
    ("prefill", f"{s['prefill_tokens_per_second']:.0f} tokens/s ({s['prefill_tokens']} tokens)"),
    ("decode", f"{s['decode_tokens_per_second']:.0f} tokens/s ({s['decode_tokens']} tokens)"),
    ("pages used", f"{s['pages_peak']} of {s['pages_total']} ({s['page_size']} tokens each)"),
    ("prefix hits", f"{s['prefix_hits']} of {s['requests']} requests, "
                    f"{s['cached_tokens']} tokens not computed again"),
]
for name, value in rows:
    print(f"{name:12} {value}")
PY
echo
# What the documents use next: all programs, the package kvmlir, and what an installation has.
build release tour
