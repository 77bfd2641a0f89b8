#!/usr/bin/env bash
# test-full.sh: what is too slow for scripts/test.sh. Days.
#   ThreadSanitizer on events, metrics, resets, tiers and peers beside the engine
#   the engine's state machine, KV_ENGINE_OPS commands (10^9), another seed; with recurrent layers
#   KV_STATE_OPS (10^8); the same
#   for managers with tiers (KV_TIERS_OPS) and for peers (KV_PEER_TRANSFERS, KV_PEER_OPS), and 200 kills of a process with a disk tier
#   ten minutes of its fuzzer
#   100 000 random modules, 20 000 changed texts, 20 000 bad row offsets an operation
#   KV_IMPORT_MUTANTS (10^6) changed model files through kv-import
#   KV_EXCHANGE_MUTANTS (10^6) changed descriptors of cache bytes, by two readers
#   modules of kv-to-attention by IREE's compiler and torch-mlir's, modules built by IREE's and torch-mlir's bindings; needs PyPI
#   answers of transformers with and without a paged cache, for 28 architectures; three models by torch.compile; needs PyPI
#   vLLM with our tiers, a thousand requests over a restart; keys and values from vLLM to us and back; needs PyPI and 8 GB
#   LangChain, litellm, lm-eval, guidellm and a browser with kv-serve; KV_SCHEMAS (10^4) random JSON schemas, KV_PAIRS
#   (10^5) cold and warm requests and KV_API_REQUESTS (10^5) of schemathesis; needs PyPI and the package chromium
#   the CUDA kernels' full product on the emulator, and their tests with sums in four other orders
#   the PTX of every kernel on the emulator's machine, for each chip, and SmolLM2 with it; a thousand schedules a body in
#   which copies and commits come early
#   proofs of addresses for every element, leaf and box of the kernel table
#   the CPU's generated attention in every combination of its parameters
#   wheels, in clean systems
#   models' logits and equal bits with whole products of kinds, types, files, pages and threads
#   Gemma 3 270M (238 MB to download; Gemma's terms apply): the demo with it, and its texts against llama.cpp's
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/setup.sh
scripts/test-threads.sh
build release KVEngineStateMachineTests
KV_ENGINE_OPS=${KV_ENGINE_OPS:-1000000000} KV_ENGINE_SEED=${KV_ENGINE_SEED:-1000000} \
  build/release/bin/KVEngineStateMachineTests
build release KVEngineTests
KV_STATE_OPS=${KV_STATE_OPS:-100000000} build/release/bin/KVEngineTests --gtest_filter=EngineStates.*
build release KVTiersStateMachineTests
KV_TIERS_OPS=${KV_TIERS_OPS:-1000000000} KV_TIERS_SEED=${KV_TIERS_SEED:-1000000} \
  build/release/bin/KVTiersStateMachineTests
build release KVTransportTests
KV_PEER_TRANSFERS=${KV_PEER_TRANSFERS:-100000} KV_PEER_SEED=${KV_PEER_SEED:-1000000} \
  build/release/bin/KVTransportTests --gtest_filter=PeerStateMachine.*
KV_TIERS_OPS=${KV_TIERS_OPS:-1000000000} KV_PEER_OPS=${KV_PEER_OPS:-1000000} KV_PEER_SEED=${KV_PEER_SEED:-1000000} \
  build/release/bin/KVTransportTests --gtest_filter=PeerManagers.*
scripts/test-kill.sh 200
scripts/fuzz-engine.sh 600
scripts/fuzz-ir.sh
scripts/fuzz-text.sh
scripts/fuzz-steps.sh
.venv/bin/python test/python/import_mutants.py "${KV_IMPORT_MUTANTS:-1000000}" 1000000 "$(nproc)"
build release KVTestExchange
KV_EXCHANGE_MUTANTS=${KV_EXCHANGE_MUTANTS:-1000000} .venv/bin/python -m pytest -q -p no:cacheprovider test/python/exchange/test_exchange.py
.venv/bin/python test/python/elsewhere/run_attention.py iree
.venv/bin/python test/python/elsewhere/run_attention.py tm_tensor
.venv/bin/python test/python/elsewhere/run_builders.py
build release kvmlir-python kv-compile
exporters torch
$folder/bin/python test/python/elsewhere/run_transformers.py
$folder/bin/python test/python/elsewhere/run_torch.py
KV_SCHEMAS=${KV_SCHEMAS:-10000} KV_PAIRS=${KV_PAIRS:-100000} KV_API_REQUESTS=${KV_API_REQUESTS:-100000} \
  .venv/bin/python test/python/serving/clients/run.py
engines
.venv/bin/python test/python/serving/clients/run.py vllm
.venv/bin/python test/python/elsewhere/run_vllm.py build/bench/engines/bin/python
scripts/fetch-smollm2.sh build/models
.venv/bin/python test/python/elsewhere/run_vllm_manager.py build/bench/engines/bin/python
.venv/bin/python test/python/elsewhere/run_exchange.py build/bench/engines/bin/python
scripts/test-kernels.sh
scripts/check-attention.sh
scripts/test-wheel.sh
build release
for chip in 80 90a 100a 120; do
  KV_PTX_CHIP=$chip KV_PTX_EVERY_ROW=1 build/release/bin/KVPtxKernelTests \
    --gtest_filter=-AttentionMatrix.Product --gtest_brief=1
done
for chip in 90a 100a; do
  KV_PTX_CHIP=$chip KV_PTX_HURRY=1000 build/release/bin/KVPtxKernelTests --gtest_brief=1 \
    --gtest_filter=Instruction.*:PtxKernels.SmallUnits
done
scripts/fetch-smollm2.sh build/models
.venv/bin/python test/python/check_ptx.py build/models/SmolLM2-135M-Instruct.Q4_1.gguf
.venv/bin/python test/kernels/ptx/mutants.py build/release/bin/KVPtxKernelTests 100
KV_PRODUCT=1 ctest --preset release -R '^python/test_(end_to_end|equal_bits|proofs)$'
scripts/demo.sh --gemma
.venv/bin/python test/python/check_gemma.py build/models/gemma-3-270m-q4_k_m.gguf
