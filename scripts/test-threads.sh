#!/usr/bin/env bash
# test-threads.sh: ThreadSanitizer on what runs beside the engine's thread: events,
# metrics, resets, the I/O of tiers and of the store that machines share, answers to
# peers, and on the queues between the threads. A few minutes, most of them for the build
# of the runtime.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

build tsan KVEventsTests KVMonitoringTests KVTiersTests KVTiersStateMachineTests \
  KVTransportTests
# libzmq is no part of what is checked, and was not built for it.
export TSAN_OPTIONS="suppressions=$PWD/test/unit/Inputs/threads.supp halt_on_error=1"
export KV_TIERS_OPS=1000000
for test in KVEventsTests KVMonitoringTests KVTiersTests KVTransportTests; do
  build/tsan/bin/$test
done
build/tsan/bin/KVTiersStateMachineTests \
  --gtest_filter=*.WithThreadsAndADisk:*.WithAStore*
