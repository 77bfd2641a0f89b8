#!/usr/bin/env bash
# watchdog-test.sh SOURCE BUILD NVCC: kernels build with a watchdog, their image has its
# variable, and one that hangs on the fake driver is a sentence instead of a silence.
set -euo pipefail
source=$1 build=$2 nvcc=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$build/lib/kv-cuda" "$build/lib/kv-verify" "$folder"
mkdir "$folder/kv-verify-watchdog"
image=$folder/kv-verify-watchdog/kv_tile_instructions.sm_90a.cubin
"$nvcc" -cubin -arch=sm_90a -std=c++20 -DKV_WATCHDOG -I"$source" -I"$source/include" \
  -o "$image" "$source/test/gpu/TileInstructions.cu"
"$build/bin/KVCheckVerifyImages" "$image"

status=0
echo Instruction.RingOfTiles |
  KV_CUDA_DRIVER=$build/lib/libkv_fake_cuda.so KV_FAKE_CUDA_FAULT=hang:kv_test_ring_shared \
    timeout 60 "$build/bin/gpu-verify" "$folder" --suite=instructions --watchdog \
    >"$folder/out" 2>"$folder/said" || status=$?
expected='block 2, warp 4 waited too long for parity 1 of the barrier at byte 1024 of shared memory, at leaf 3'
if [ "$status" -ne 1 ] || ! grep -qF "$expected" "$folder/said"; then
  echo "exit status $status, expected 1 and: $expected" >&2
  cat "$folder/said" >&2
  exit 1
fi
