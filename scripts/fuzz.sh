#!/usr/bin/env bash
# fuzz.sh [SECONDS]: builds the engine's libFuzzer target with clang and runs it
# (60 s). The corpus stays in build/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

step "configure (fuzz)" cmake -S test/fuzz -B build/fuzz -G Ninja \
  -DCMAKE_CXX_COMPILER=clang++-22
step "build (fuzz)" cmake --build build/fuzz
mkdir -p build/fuzz/corpus
build/fuzz/EngineFuzz -max_total_time="${1:-60}" -max_len=4096 -len_control=0 \
  -artifact_prefix=build/fuzz/ -print_final_stats=1 build/fuzz/corpus 2>&1 | tail -n 20
