#!/usr/bin/env bash
# bench.sh NAME: builds what is missing, runs one suite of benchmarks/, prints
# its table and writes build/bench/NAME.json. Suites: first-light, compile.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

case ${1:-} in
first-light)
  scripts/setup.sh
  build release
  build release read-roof
  scripts/fetch-smollm2.sh build/models
  exec .venv/bin/python benchmarks/first_light.py ;;
compile)
  scripts/setup.sh
  build release
  shift
  exec .venv/bin/python benchmarks/compile.py "$@" ;;
*)
  echo "bench.sh: ${1:-no suite given}; there are: first-light, compile" >&2
  exit 2 ;;
esac
