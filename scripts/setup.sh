#!/usr/bin/env bash
# setup.sh [PACKAGE...]: installs what building and testing need, and the packages. Safe
# to run again: it does only what is missing. Debian 12; root or sudo for packages.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

packages="g++ cmake ninja-build ccache git ca-certificates binutils
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22 liblld-22-dev clang-format-22 clang-tidy-22
  nlohmann-json3-dev libdlpack-dev libxxhash-dev libcli11-dev libgtest-dev libgmock-dev librapidcheck-dev
  libssl-dev libhiredis-dev redis-server libzmq3-dev cppzmq-dev libmsgpack-cxx-dev prometheus-cpp-dev liblmdb-dev
  libopenmpi-dev openmpi-bin valgrind universal-ctags
  python3 python3-dev python3-venv $*"

missing=
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
    missing="$missing $package"
done
if [ -n "$missing" ]; then
  root=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "setup.sh: needs root or sudo to install:$missing" >&2
      exit 1
    }
    root=sudo
  fi
  step "package lists" $root apt-get update
  # shellcheck disable=SC2086
  step "packages:$(echo $missing | cut -c1-60)" $root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $missing
fi

# The Python side: kv-import, kv-generate, kv-serve, the bindings and their tests, in .venv.
requirements="scripts/requirements.txt tools/sass/requirements.txt tools/docs/requirements.txt
  test/python/serving/requirements-serve.txt"
# NIXL asks for PyTorch and CUDA, which its library does without.
alone=test/python/serving/requirements-transport.txt
# shellcheck disable=SC2086
wanted=$(cat $requirements $alone tools/*/requirements.txt | sha256sum | cut -d' ' -f1)
if [ "$(cat .venv/requirements.sha256 2>/dev/null)" != "$wanted" ]; then
  python=python3
  "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    python=/usr/bin/python3
  [ -x .venv/bin/python ] || step "Python environment" "$python" -m venv .venv
  # shellcheck disable=SC2046,SC2086
  step "Python packages" .venv/bin/python -m pip install --quiet \
    --disable-pip-version-check $(printf -- '-r %s ' $requirements)
  step "NIXL" .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $alone
  echo "$wanted" >.venv/requirements.sha256
fi
