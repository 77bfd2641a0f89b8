#!/usr/bin/env bash
# test-debian.sh: builds the Debian packages twice, from nothing each time, compares their bytes, and installs, uses and
# removes them in a root file system that debootstrap makes (build/roots): test/install/debian.py. Root; needs PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh debootstrap
for each in first second; do
  rm -rf build/debian
  scripts/debian.sh build/packages/$each
done
for package in build/packages/first/*.deb; do
  cmp "$package" "build/packages/second/$(basename "$package")"
done
echo "the same bytes: $(sha256sum build/packages/second/*.deb)"
.venv/bin/python test/install/debian.py build/packages/second
