#!/usr/bin/env bash
# test-kill.sh [N] [DRIVER]: kills a process that uses a disk tier N times (200), at any
# moment, and starts it again: it opens the directory without an error, never finds a
# wrong record, nothing of before a reset, and most of what had been written.
set -euo pipefail
count=${1:-200}
driver=${2:-}
if [ -z "$driver" ]; then
  cd "$(dirname "$0")/.."
  . scripts/lib.sh
  build release KVTierDriver
  driver=build/release/bin/KVTierDriver
fi
seed=${KV_KILL_SEED:-$RANDOM}
# In memory: a process that is killed leaves what the system has, and an index that
# waits for a disk is only behind by more.
folder=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$folder"' EXIT
RANDOM=$seed
touch "$folder/said"
for i in $(seq "$count"); do
  lines=$(wc -l <"$folder/said")
  "$driver" "$folder" $((seed + i)) >>"$folder/said" 2>>"$folder/errors" &
  process=$!
  # Every other one is killed at its work, and not already while it opens.
  for _ in $(seq $((i % 2 * 2000))); do
    [ "$(wc -l <"$folder/said")" -eq "$lines" ] && kill -0 "$process" 2>/dev/null || break
    sleep 0.01
  done
  sleep "0.$(printf '%03d' $((RANDOM % 150)))"
  kill -9 "$process" 2>/dev/null || true
  wait "$process" 2>/dev/null || true
  if [ -s "$folder/errors" ]; then
    echo "test-kill.sh: kill $i, seed $seed:" >&2
    cat "$folder/errors" >&2
    exit 1
  fi
done
# Once more, and to the end.
"$driver" "$folder" "$seed" 2000 >>"$folder/said"
awk -v kills="$count" -v seed="$seed" '
  { warm += $1; wanted += $3; runs++; resets = $9 }
  END {
    printf "%d kills (seed %d), %d processes came to their work, %d resets: " \
           "%d of %d records warm\n", kills, seed, runs, resets, warm, wanted
    exit !(runs > kills / 2 && wanted > 0 && warm > wanted / 2)
  }' "$folder/said"
