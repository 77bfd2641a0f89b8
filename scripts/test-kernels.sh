#!/usr/bin/env bash
# test-kernels.sh: what is too slow for every build about the CUDA kernels'
# bodies on a CPU: ten million plans, ten thousand executed hand-outs, a thousand
# batches around a request, the product of kernels, types, head dimensions, page
# sizes, GQA ratios, lengths and masks (64 800 cases) under ten schedules each,
# the ordinary tests with products that are summed one after the other in f32, in
# four orders, mistakes that no test needs to see (KVFaultTests), and the
# ordinary tests under ASan and UBSan. Two hours of a core, nearly all the product
# (docs/measurements/cuda.md), which goes on where an earlier run of the same program
# was ended; `test-kernels.sh N` looks at every N-th of each.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

part=$(part "$@")
jobs=$(nproc)
emulated="KVEmulatorTests KVAsyncTests KVAttentionBodyTests"
programs="KVPlanTests KVFaultTests $emulated"
# And the CUDA runtime, on the fake driver.
sanitized="$programs KVCudaTests"
for preset in release asan; do
  step "configure ($preset)" cmake --preset "$preset" -DKV_ENABLE_COMPILER=OFF
  # shellcheck disable=SC2086
  step "build ($preset)" cmake --build "build/$preset" --target $sanitized
done
release=build/release/bin

# shard I: a 200th of the product's cases, unless the log says that it passed.
shard() {
  grep -qx "$1" "$log" && return
  KV_TEST_SCHEDULES=10 KV_TEST_SHARDS=$((200 * part)) KV_TEST_SHARD=$1 \
    "$release/KVAttentionBodyTests" --gtest_filter='AttentionMatrix.Product' \
    --gtest_brief=1
  echo "$1" >>"$log"
}
product() {
  log=build/release/product.$part.$(cksum <"$release/KVAttentionBodyTests" | tr ' ' .)
  touch "$log"
  export -f shard
  export log part release
  seq 0 199 | xargs -P "$jobs" -I{} bash -ec 'shard {}'
}
# Other sums than those that are published of the chips.
orders() {
  local order program
  for order in first last pairs shuffled; do
    for program in $emulated; do
      KV_SUM_ORDER=$order "$release/$program" --gtest_brief=1
    done
  done
}
asan() {
  local program
  # Else UBSan says what it found and goes on.
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  for program in $sanitized; do
    "build/asan/bin/$program"
  done
}

# A second compiler reads the device code, where there is one.
if command -v clang++-22 >/dev/null && [ -d /usr/local/cuda/include ]; then
  for source in kernels/cuda/device/*.cu build/release/kernels/*.cu; do
    step "clang: $(basename "$source")" clang++-22 -x cuda -fsyntax-only -std=c++20 \
      --cuda-gpu-arch=sm_80 --cuda-path=/usr/local/cuda -Wno-unknown-cuda-version \
      -I/usr/local/cuda/include/cccl -I. -Iinclude "$source"
  done
fi
step "$((10000000 / part)) plans" env KV_TEST_PLANS=$((10000000 / part)) \
  "$release/KVPlanTests" --gtest_filter='Plan.EveryKeyOnce'
step "$((10000 / part)) hand-outs" env KV_TEST_HANDOUTS=$((10000 / part)) \
  "$release/KVAttentionBodyTests" --gtest_filter='AttentionBits.AnyHandOut'
step "$((1000 / part)) batches around a request" env KV_TEST_BATCHES=$((1000 / part)) \
  "$release/KVAttentionBodyTests" --gtest_filter='AttentionBits.AnyBatchAround'
step "product of cases, one in $part, ten schedules" product
step "four orders of sums" orders
step "mistakes" env KV_TEST_FAULTS=all "$release/KVFaultTests" --gtest_brief=1
step "ASan and UBSan" asan
