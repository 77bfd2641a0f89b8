#!/usr/bin/env bash
# check-raise.sh [torch|jax|onnx] [NAME...]: models without a cache, exported, raised by kv-raise and
# compared with the framework that they come from. torch (default): architectures of Hugging Face
# transformers (test/python/raise/check_raise.py); jax, onnx: models of the tests (check_sources.py).
# Installs the framework and torch-mlir (torch: 6 GB) in build/exporters, build/exporters-jax and
# build/exporters-onnx; CI does not run this.
#
# check-raise.sh --mutants N [SEED]: N random changes of graphs, on all cores: what is raised
# nevertheless is executed beside the changed graph (test/python/raise/mutants.py). 100000 take about an hour.
#
# With KV_OPT, KV_COMPILE and KV_RUN set, those programs are checked and nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

if [ "${1:-}" = --mutants ]; then
  case "${2:-},${3:-0}" in
  ,* | *[!0-9,]*)
    echo "usage: $(basename "$0") --mutants N [SEED]; N is how many graphs" >&2
    exit 2 ;;
  esac
  scripts/setup.sh
  build release kv-opt kv-compile KVTestHost
  exec .venv/bin/python test/python/raise/mutants.py "$2" "${3:-0}" "$(nproc)"
fi
source=torch
case ${1:-} in torch | jax | onnx) source=$1; shift ;; esac
if [ -z "${KV_OPT:-}" ] || [ -z "${KV_COMPILE:-}" ] || [ -z "${KV_RUN:-}" ]; then
  scripts/setup.sh
  build release kv-opt kv-compile kv-run
fi
exporters "$source"
if [ "$source" = onnx ]; then
  step "what the models are written with" $folder/bin/python -m pip install --quiet \
    --disable-pip-version-check -r test/python/raise/requirements-onnx.txt
fi
if [ "$source" = torch ]; then
  step "the tutorial" env KV_EXPORTER_PYTHON="$PWD/$folder/bin/python" \
    .venv/bin/python -m pytest -q -p no:cacheprovider test/python/test_documents.py -k raise
  exec $folder/bin/python test/python/raise/check_raise.py "$@"
fi
exec $folder/bin/python test/python/raise/check_sources.py "$source" "$@"
