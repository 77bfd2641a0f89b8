#!/usr/bin/env bash
# fuzz-ir.sh [MODULES [SEED]]: random modules through every pass and both
# pipelines (100000 unless given), and a fiftieth of them executed, on all
# cores. What fails is named by its seed: kv-fuzz --seed=N --print.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

modules=${1:-100000} seed=${2:-1} jobs=$(nproc)
build release kv-fuzz
status=0
pids=()
for ((i = 0; i < jobs; i++)); do
  from=$((seed + modules * i / jobs)) to=$((seed + modules * (i + 1) / jobs))
  build/release/bin/kv-fuzz --every-pass --seed="$from" --count=$((to - from)) &
  pids+=($!)
done
for pid in "${pids[@]}"; do
  wait "$pid" || status=1
done
build/release/bin/kv-fuzz --execute --seed="$seed" --count=$((modules / 50)) || status=1
exit "$status"
