#!/usr/bin/env bash
# bench.sh NAME [ARGUMENT]: builds what is missing, runs one suite of benchmarks/,
# prints its table and writes build/bench/NAME.json. LEVEL is x86-64-v3 for the code of
# AVX2 alone, ours and llama.cpp's; without it they have all of this processor. Suites:
#   first-light            a small model on the CPU
#   generate [LEVEL]       the same model beside llama.cpp
#   engines [N]            beside OpenVINO GenAI, vLLM and PyTorch (an environment of 6 GB)
#   perplexity             what quantised weights and caches cost in quality
#   products               what attention's products of 8 bits cost, beside a cache of 8 bits
#   batch [LEVEL]          how a decode step grows with the requests side by side
#   attention-cpu [LEVEL]  attention alone, by context, beside ggml
#   compile                text to the LLVM dialect, by depth; a million operations
#   raised                 SmolLM2 through PyTorch and kv-raise beside kv-import's own module
#   import                 memory and time of an import of more than 1 GB
#   tiers                  pages in host memory, on a disk, in a store; conversations that return
#   transport              pages of another process beside NIXL alone; prompts computed elsewhere
#   manager                what the operations of the cache engine cost
#   ranks                  SmolLM2 on 1, 2 and 4 ranks by MPI: equal bits, memory, speed
#   python                 what calls of the Python package cost over C; a decode step
#   serve                  64 clients of kv-serve at once, beside kv-run
#   overhead               what a request and a streamed token of kv-serve cost beyond the model's steps, and of Starlette
#   drafts                 guessed tokens that steps verify, beside the same requests without
#   build                  the build itself, from nothing and without ccache
#   plot                   the pictures of docs/measurements/cpu.md, from benchmarks/results/
#   replay TRACE           a trace in Mooncake's format through the cache engine
#   route TRACE            the same before a router of 100 to 10 000 machines
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
# The programs that run peers (benchmarks/comparisons) import what the suites share.
export PYTHONPATH=$PWD/benchmarks${PYTHONPATH:+:$PYTHONPATH}

# The environment of what we are timed beside. llama.cpp is built by pip, for this
# processor, in 5 minutes; by clang, since GCC 12 drops stores to what configures AMX.
peers() {
  if ! cmp -s benchmarks/requirements.txt build/bench/peers/requirements.txt; then
    step "peers' environment" .venv/bin/python -m venv build/bench/peers
    CC=clang-22 CXX=clang++-22 CMAKE_ARGS=-DGGML_NATIVE=ON step "peers" build/bench/peers/bin/python -m pip install --quiet --disable-pip-version-check \
      -r benchmarks/requirements.txt
    cp benchmarks/requirements.txt build/bench/peers/
  fi
}

case ${1:-} in
first-light)
  scripts/setup.sh
  build release
  build release read-roof
  scripts/fetch-smollm2.sh build/models
  exec .venv/bin/python benchmarks/first_light.py ;;
generate | perplexity | batch)
  scripts/setup.sh
  build release kv-compile kv-run read-roof
  scripts/fetch-smollm2.sh build/models
  peers
  KV_BENCH_LEVEL=${2:-native} exec .venv/bin/python "benchmarks/$1.py" ;;
engines)
  scripts/setup.sh
  build release kv-compile kv-run KVTestHost
  scripts/fetch-smollm2.sh build/models
  engines
  shift
  exec .venv/bin/python benchmarks/engines.py "$@" ;;
products)
  scripts/setup.sh
  exec .venv/bin/python benchmarks/products.py ;;
attention-cpu)
  scripts/setup.sh
  build release kv-compile KVTestHost read-roof fma-peak
  peers
  KV_BENCH_LEVEL=${2:-native} exec .venv/bin/python benchmarks/attention_cpu.py ;;
compile)
  scripts/setup.sh
  build release
  shift
  exec .venv/bin/python benchmarks/compile.py "$@" ;;
raised)
  scripts/setup.sh
  build release kv-opt kv-compile kv-run
  scripts/fetch-smollm2.sh build/models
  exporters torch
  exec .venv/bin/python benchmarks/raised.py ;;
import)
  scripts/setup.sh
  exec .venv/bin/python benchmarks/import_memory.py ;;
manager)
  scripts/setup.sh
  build release cache-engine
  exec .venv/bin/python benchmarks/cache_engine.py manager ;;
tiers)
  scripts/setup.sh
  build release kv-compile kv-run page-tiers page-store
  scripts/fetch-smollm2.sh build/models
  exec .venv/bin/python benchmarks/tiers.py ;;
transport)
  scripts/setup.sh
  build release kv-compile kv-run page-transport KVTransportLibrary KVTiersLibrary
  scripts/fetch-smollm2.sh build/models
  exec .venv/bin/python benchmarks/transport.py ;;
ranks)
  scripts/setup.sh
  build release kv-compile kv-run rank-exchange
  scripts/fetch-smollm2.sh build/models
  exec .venv/bin/python benchmarks/ranks.py ;;
python)
  scripts/setup.sh
  build release kvmlir-python c-calls KVHistoryArtifact
  exec .venv/bin/python benchmarks/python_calls.py ;;
serve | overhead | drafts)
  scripts/setup.sh
  build release kv-compile kv-run kvmlir-python
  scripts/fetch-smollm2.sh build/models
  exec .venv/bin/python benchmarks/serve.py "$1" ;;
build)
  scripts/setup.sh
  exec .venv/bin/python benchmarks/build.py "$(jobs)" ;;
plot)
  scripts/setup.sh
  peers
  exec build/bench/peers/bin/python benchmarks/plot.py ;;
replay | route)
  [ -r "${2:-}" ] || {
    echo "bench.sh $1: ${2:-no trace given}; expected a file in Mooncake's format" >&2
    exit 2
  }
  scripts/setup.sh
  if [ "$1" = route ]; then
    build release route-simulation
    exec .venv/bin/python benchmarks/route.py "$2"
  fi
  build release cache-replay
  exec .venv/bin/python benchmarks/cache_engine.py replay "$2" ;;
*)
  echo "bench.sh: ${1:-no suite given}; there are: first-light, generate, perplexity, batch, attention-cpu, compile, raised, import, engines, manager, tiers, transport, ranks, python, serve, overhead, drafts, build, plot, replay, route" >&2
  exit 2 ;;
esac
