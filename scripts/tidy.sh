#!/usr/bin/env bash
# tidy.sh [FILE...]: clang-tidy 22 with the checks of .clang-tidy; without files,
# those of the runtime that scripts/test.sh checks: they include no MLIR, and
# take a few seconds each. Needs a configured build in build/release. Exits with
# another status than 0 when a check complains.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -eq 0 ]; then
  mapfile -t files < <(git ls-files 'runtime/engine/*.cpp' 'runtime/hash/*.cpp' 'runtime/manager/*.cpp' 'runtime/serving/*.cpp' \
    'runtime/routing/*.cpp' 'runtime/tiers/*.cpp' \
    'runtime/transport/*.cpp')
  set -- "${files[@]}"
fi
# A precompiled header is known by the path that it was made with: relative to
# the build folder, as cmake/ccache.sh writes it.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed "s|-Xclang $PWD/build/release/|-Xclang |g; s|-Xclang $PWD/|-Xclang ../../|g" build/release/compile_commands.json >"$commands/compile_commands.json"
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 4 clang-tidy-22 -p "$commands" --quiet 2>/dev/null
