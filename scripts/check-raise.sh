#!/usr/bin/env bash
# check-raise.sh --mutants N [SEED]: N random changes of graphs, on all cores: what is raised
# nevertheless is executed beside the changed graph (test/python/mutants.py). 100000 take about an hour.
#
# check-raise.sh [NAME...]: architectures of Hugging Face transformers, exported without a cache,
# raised by kv-raise and compared with transformers (test/python/check_raise.py).
# Installs PyTorch, transformers and torch-mlir (6 GB) in build/exporters; CI does not run this.
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
  exec .venv/bin/python test/python/mutants.py "$2" "${3:-0}" "$(nproc)"
fi
if [ -z "${KV_OPT:-}" ] || [ -z "${KV_COMPILE:-}" ] || [ -z "${KV_RUN:-}" ]; then
  scripts/setup.sh
  build release kv-opt kv-compile kv-run
fi
requirements=tools/kv-import/exporters/torch.txt
if ! cmp -s "$requirements" build/exporters/requirements.txt; then
  [ -x build/exporters/bin/python ] || step "the exporters' environment" \
    .venv/bin/python -m venv build/exporters
  step "PyTorch, transformers and torch-mlir" build/exporters/bin/python -m pip install --quiet \
    --disable-pip-version-check -r "$requirements"
  cp "$requirements" build/exporters/requirements.txt
fi
exec build/exporters/bin/python test/python/check_raise.py "$@"
