#!/usr/bin/env bash
# check-attention.sh [N]: generated attention in every combination of type, head
# dimension, GQA ratio, page size, layout, mask, soft cap, sinks and instruction
# set (382 080 of them, two days of two cores) against numpy in double precision;
# with N every N-th. CI runs a covering array of pairs (test/python/test_attention.py).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

part=$(part "$@")
scripts/setup.sh
build release kv-compile KVTestHost
exec .venv/bin/python test/python/check_attention.py "$part"
