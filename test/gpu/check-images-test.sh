#!/usr/bin/env bash
# check-images-test.sh CHECKER NVCC: the build's check of images sees an argument
# that lies elsewhere, one of another size, and a kernel that no host knows.
set -euo pipefail
checker=$1 nvcc=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Of TileParams' size, but not of its alignment.
cat >"$folder/planted.cu" <<'END'
struct Words { unsigned long long words[112]; };
extern "C" __global__ void
kv_attention_tiles_bf16_128(const __grid_constant__ Words p) {}
extern "C" __global__ void kv_positions(const __grid_constant__ Words p) {}
extern "C" __global__ void kv_merge(const __grid_constant__ Words p, int more) {}
extern "C" __global__ void kv_unknown(const __grid_constant__ Words p) {}
END
"$nvcc" -cubin -arch=sm_90a -o "$folder/planted.cubin" "$folder/planted.cu"
if "$checker" "$folder/planted.cubin" 2>"$folder/said"; then
  echo "the planted image is taken" >&2
  exit 1
fi
expect() {
  grep -qE "$1" "$folder/said" || {
    echo "expected: $1, said:" >&2
    cat "$folder/said" >&2
    exit 1
  }
}
expect 'kv_attention_tiles_bf16_128: its image has its argument at offset 0, the host 112$'
expect 'kv_positions: its image has an argument of 896 bytes, the host [0-9]+$'
expect 'kv_merge: its image has 2 arguments, the host 1$'
expect 'kv_unknown: the host knows no such kernel$'
[ "$(wc -l <"$folder/said")" -eq 4 ]

echo "no image" >"$folder/text.cubin"
! "$checker" "$folder/text.cubin" 2>"$folder/said"
expect 'text.cubin: there is no kernel in it$'
