#!/usr/bin/env bash
# fuzz-engine.sh [SECONDS]: builds the engine's libFuzzer target with clang and runs it
# (60 s). The corpus stays in build/fuzz-engine/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

step "configure (fuzz-engine)" cmake -S test/fuzz/engine -B build/fuzz-engine -G Ninja \
  -DCMAKE_CXX_COMPILER=clang++-22
step "build (fuzz-engine)" cmake --build build/fuzz-engine
mkdir -p build/fuzz-engine/corpus
build/fuzz-engine/EngineFuzz -max_total_time="${1:-60}" -max_len=4096 -len_control=0 \
  -artifact_prefix=build/fuzz-engine/ -print_final_stats=1 build/fuzz-engine/corpus 2>&1 | tail -n 20
