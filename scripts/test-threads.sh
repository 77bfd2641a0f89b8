#!/usr/bin/env bash
# test-threads.sh: ThreadSanitizer on what runs beside the engine's thread: events,
# metrics and resets, and on the queue between the threads. A few minutes, most of
# them for the build of the runtime.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

build tsan KVEventsTests KVMonitoringTests
# libzmq is no part of what is checked, and was not built for it.
export TSAN_OPTIONS="suppressions=$PWD/test/unit/Inputs/threads.supp halt_on_error=1"
for test in KVEventsTests KVMonitoringTests; do
  build/tsan/bin/$test
done
