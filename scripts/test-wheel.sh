#!/usr/bin/env bash
# test-wheel.sh [PYTHON]: builds the wheel of the package kvmlir with g++ and
# without LLVM, installs it in an environment of its own, and runs the tests of the
# package on what was installed. The tests compile with build/release. Then the wheel that
# holds everything and the wheel kvmlir-cuda, in root file systems of Debian 12 and 13 that
# debootstrap makes (build/roots): benchmarks/wheel.py, which writes build/bench/wheel.json.
# Root; needs PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/setup.sh debootstrap
python=${1:-.venv/bin/python}
build release kv-compile kv-opt kv-run KVFakeCuda
scripts/wheel.sh # first: it needs a Python that may not be there
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CC=gcc CXX=g++ step "wheel" "$python" -m pip wheel . --no-deps --quiet \
  --disable-pip-version-check -w "$folder"
wheel=$(echo "$folder"/kvmlir-*.whl)
bytes=$(stat -c %s "$wheel")
echo "$(basename "$wheel"): $bytes bytes"
if [ "$bytes" -gt 10000000 ]; then
  echo "test-wheel.sh: the wheel has $bytes bytes, allowed: 10000000" >&2
  exit 1
fi

step "environment" "$python" -m venv "$folder/venv"
step "packages" "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
  -r scripts/requirements.txt "$wheel"
site=$("$folder/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
for library in "$site"/kvmlir/*.so "$site"/kvmlir/lib/*.so; do
  needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\].*/\1/p')
  echo "$(basename "$library") needs: $(echo $needed)"
  if echo "$needed" | grep -qiE 'llvm|mlir'; then
    echo "test-wheel.sh: $library needs LLVM" >&2
    exit 1
  fi
done
KV_NO_SKIP=1 KV_PYTHON_PACKAGE=$site "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider \
  test/python/kvmlir/test_kvmlir_{managers,session}.py

scripts/fetch-smollm2.sh build/models
.venv/bin/python benchmarks/wheel.py build/wheel/dist/kvmlir{,_cuda}-*.whl
