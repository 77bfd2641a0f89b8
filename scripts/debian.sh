#!/usr/bin/env bash
# debian.sh [FOLDER]: builds the Debian packages kv-mlir-runtime, kv-mlir-dev and kv-mlir-tools, and puts them into FOLDER
# (build/debian/dist). They fit the release of Debian that builds them. LLVM is linked into the programs.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

dist=$(realpath -m "${1:-build/debian/dist}")
# The times in the packages: the same sources give the same bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
step "configure" cmake -G Ninja -S . -B build/debian -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang-22 \
  -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBEXECDIR=libexec/kv-mlir \
  -DKV_STATIC_LLVM=ON -DKV_ENABLE_TESTS=OFF -DKV_ENABLE_PYTHON=OFF
step "build" cmake --build build/debian -j "$(jobs)" --target tour
rm -rf "$dist"
step "packages" cpack --config build/debian/CPackConfig.cmake -G DEB -B "$dist"
rm -r "$dist/_CPack_Packages"
ls -l "$dist"
