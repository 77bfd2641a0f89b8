#!/usr/bin/env bash
# demo.sh [--model FILE | --gemma] [PROMPT]: a language model, compiled and run on this CPU.
#   --model FILE   a GGUF file or a Hugging Face folder (default: SmolLM2-135M-Instruct)
#   --gemma        Gemma 3 270M, which continues a story (238 MB more to download; Gemma's terms apply)
# Sets up and builds what is missing. A second question follows that begins with the same
# instructions, so that the prefix cache has something to find. Answers are drawn with a fixed seed.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."
. scripts/lib.sh

model= gemma= prompt=
while [ $# -gt 0 ]; do
  case $1 in
  --model)
    [ $# -ge 2 ] || { echo "demo.sh: --model needs a file or folder" >&2; exit 2; }
    model=$(cd "$here" && realpath -m "$2")
    shift 2 ;;
  --gemma)
    gemma=yes
    shift ;;
  -h | --help)
    sed -n '2,6s/^# //p' scripts/demo.sh
    exit 0 ;;
  -*) echo "demo.sh: unknown option $1; there are --model FILE and --gemma" >&2; exit 2 ;;
  *) [ -z "$prompt" ] || { echo "demo.sh: one prompt, please; quote it" >&2; exit 2; }
    prompt=$1
    shift ;;
  esac
done
[ -z "$model" ] || [ -e "$model" ] || { echo "demo.sh: $model: no such file" >&2; exit 2; }
[ -z "$model" ] || [ -z "$gemma" ] || { echo "demo.sh: one of --model and --gemma, please" >&2; exit 2; }
instructions="You are a friendly guide who answers questions of curious people. Answer truthfully, in plain words \
and short sentences. Begin with the most important fact. Give one everyday example when it helps. Do not use lists, \
headings or formulas. Everybody who asks shares these instructions, so the model computes them once and finds them \
in its cache afterwards."
story="The old lighthouse stood at the end of a long pier. Every evening Martha climbed its ninety-nine steps, lit \
the lamp, and looked out over the sea. She had kept the light for thirty years, and she knew every ship that passed \
by its sound."

scripts/setup.sh
build release demo
if [ "$gemma" ]; then
  scripts/fetch-gemma3.sh build/models
  model=build/models/gemma-3-270m-q4_k_m.gguf
elif [ -z "$model" ]; then
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
if grep -q '"chat_template": null' "$folder/model.json"; then # a model that continues texts
  set -- --raw --temperature 0.6 --max-new-tokens 60 \
    "$story ${prompt:-One night, a storm}" "$story One morning, a letter"
else
  set -- --system "$instructions" --temperature 0.3 --max-new-tokens 160 \
    "${prompt:-What is a cache in a computer?}" "What is a lighthouse, and who needs one?"
fi
tools/kv-generate/kv-generate "$folder" --kv-run "$bin/kv-run" --one-by-one --top-p 0.9 --seed 1 \
  --stats "$folder/statistics.json" "$@"
echo
.venv/bin/python - "$folder/statistics.json" "$compile_start" "$compile_end" <<'PY'
import json
import sys

s = json.load(open(sys.argv[1]))
rows = [
    ("compile", f"{float(sys.argv[3]) - float(sys.argv[2]):.2f} s"),
    ("decode", f"{s['decode_tokens_per_second']:.0f} tokens/s ({s['decode_tokens']} tokens)"),
    ("pages used", f"{s['pages_peak']} of {s['pages_total']} ({s['page_size']} tokens each)"),
]
for name, value in rows:
    print(f"{name:12} {value}")
for place, a in zip(("1st answer", "2nd answer"), s["answers"]):
    print(f"{place:12} began after {a['first_token_seconds']:.2f} s: {a['prompt_tokens'] - a['cached_tokens']} of "
          f"{a['prompt_tokens']} prompt tokens were computed")
print(f"The second prompt begins as the first one does: {s['cached_tokens']} tokens of it were in the cache.")
PY
echo
# What the documents use next: all programs, the package kvmlir, and what an installation has.
build release tour
