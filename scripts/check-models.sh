#!/usr/bin/env bash
# check-models.sh [NAME...]: the families that kv-import knows beside Hugging Face
# transformers: random small models, logits in f32 (test/python/raise/check_models.py).
# Installs transformers and PyTorch (6 GB) in build/hf; CI does not run this. With
# KV_COMPILE and KV_RUN set, those programs are checked and nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

if [ -z "${KV_COMPILE:-}" ] || [ -z "${KV_RUN:-}" ]; then
  scripts/setup.sh
  build release kv-compile kv-run
fi
requirements=test/python/raise/requirements-models.txt
if ! cmp -s "$requirements" build/hf/requirements.txt; then
  [ -x build/hf/bin/python ] || step "transformers' environment" .venv/bin/python -m venv build/hf
  step "transformers and PyTorch" build/hf/bin/python -m pip install --quiet \
    --disable-pip-version-check -r "$requirements"
  cp "$requirements" build/hf/requirements.txt
fi
exec build/hf/bin/python test/python/raise/check_models.py "$@"
