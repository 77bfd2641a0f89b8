#!/usr/bin/env bash
# check-models.sh [NAME...]: the families that kv-import knows compared with Hugging Face
# transformers: random small models, logits in f32 (test/python/raise/check_models.py), and without names what missing
# keys of config.json mean (check_missing.py).
#
# check-models.sh --record [--left] [NAME...]: every architecture of test/python/raise/architectures.py by one
# command, as a user types it; benchmarks/results/models.json is written. --left runs
# those alone that the record does not call equal. All of them take about half an hour.
#
# Installs transformers, PyTorch and torch-mlir (6 GB) in build/exporters; CI does not run this. With
# KV_OPT, KV_COMPILE and KV_RUN set, those programs are checked and nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

if [ -z "${KV_OPT:-}" ] || [ -z "${KV_COMPILE:-}" ] || [ -z "${KV_RUN:-}" ]; then
  scripts/setup.sh
  build release kv-opt kv-compile kv-run
fi
exporters torch
program=check_models
if [ "${1:-}" = --record ]; then
  program=record_models
  shift
elif [ $# -eq 0 ]; then
  $folder/bin/python test/python/raise/check_missing.py
fi
exec $folder/bin/python test/python/raise/$program.py "$@"
