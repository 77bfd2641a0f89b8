#!/usr/bin/env bash
# site.sh [FOLDER]: builds the site of the documents in build/site, with every part of the reference that is made
# from the code. FOLDER has dialect.md, passes.md and raise-passes.md; without it they are built (build/release/docs).
# .venv/bin/python -m http.server -d build/site shows the site with its search.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/setup.sh
[ $# -gt 0 ] || build release kv-doc
export KV_DOCS=${1:-$PWD/build/release/docs} NO_MKDOCS_2_WARNING=1
step "site" .venv/bin/mkdocs build --strict -f tools/docs/mkdocs.yml
echo "build/site/index.html"
