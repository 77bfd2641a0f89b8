#!/usr/bin/env bash
# size.sh [COMMIT]: lines of the product and of its tests, folder by folder; of the working tree without COMMIT.
# Blank lines, comments, Markdown, JSON, lists of files for CMake and stored graphs (test/data) do not count.
set -euo pipefail
cd "$(dirname "$0")/.."

# count COMMENT PATTERN...: the lines of each file that neither are blank nor begin with COMMENT.
count() {
  git grep $untracked -cvE "^[[:space:]]*($|$1)" $commit -- "${@:2}" ':!test/data'
}
commit=${1:-} untracked=
[ "$commit" ] || untracked=--untracked
{
  count '//' '*.cpp' '*.h' '*.c' '*.cu' '*.cuh' '*.td' '*.def' '*.mlir'
  count '#' '*.py' '*.sh' '*.cmake'
} | awk -F: '
  { split($(NF - 1), path, "/"); folder = path[1]
    if (folder == "test") folder = folder "/" (path[3] ? path[2] : "")
    lines[folder] += $NF
    total[path[1] == "test"] += $NF }
  END {
    for (folder in lines) printf "%7d %s\n", lines[folder], folder | "sort -k2"
    close("sort -k2")
    printf "%7d product\n%7d tests\n", total[0], total[1] }'
