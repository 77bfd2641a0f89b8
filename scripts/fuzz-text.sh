#!/usr/bin/env bash
# fuzz-text.sh [TEXTS [SEED]]: kv-opt on random changes of every module of test/
# (20000 unless given). The text of a seed that fails:
# .venv/bin/python test/python/test_kv_opt_bad_input.py SEED
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/setup.sh
build release kv-opt
KV_BAD_INPUT=${1:-20000} KV_BAD_INPUT_SEED=${2:-0} exec .venv/bin/python -m pytest -q \
  -p no:cacheprovider test/python/test_kv_opt_bad_input.py -k changed_texts
