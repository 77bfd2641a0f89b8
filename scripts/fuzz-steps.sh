#!/usr/bin/env bash
# fuzz-steps.sh [COUNT [SEED]]: that many bad row offsets (20000 unless given) for
# every operation that takes them, compiled by kv-cpu and by kv-reference, on the
# runtime under AddressSanitizer. Generated code, which no sanitizer knows, has
# its arguments between guard pages.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

build release kv-compile KVStepArtifacts
build asan kv-fuzz-steps
ASAN_OPTIONS=abort_on_error=1 build/asan/bin/kv-fuzz-steps \
  --count="${1:-20000}" --seed="${2:-1}" build/release/test/fuzz/steps.*.so
