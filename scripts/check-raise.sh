#!/usr/bin/env bash
# check-raise.sh [torch|jax|onnx] [NAME...]: models without a cache, exported, raised by kv-raise and
# compared with the framework that they come from. torch (default): architectures of Hugging Face
# transformers (test/python/check_raise.py); jax, onnx: models of the tests (check_sources.py).
# Installs the framework and torch-mlir (torch: 6 GB) in build/exporters, build/exporters-jax and
# build/exporters-onnx; CI does not run this.
# With KV_OPT, KV_COMPILE and KV_RUN set, those programs are checked and nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

source=torch
case ${1:-} in torch | jax | onnx) source=$1; shift ;; esac
if [ -z "${KV_OPT:-}" ] || [ -z "${KV_COMPILE:-}" ] || [ -z "${KV_RUN:-}" ]; then
  scripts/setup.sh
  build release kv-opt kv-compile kv-run
fi
exporters "$source"
if [ "$source" = onnx ]; then
  step "what the models are written with" $folder/bin/python -m pip install --quiet \
    --disable-pip-version-check -r test/python/requirements-onnx.txt
fi
[ "$source" != torch ] || exec $folder/bin/python test/python/check_raise.py "$@"
exec $folder/bin/python test/python/check_sources.py "$source" "$@"
