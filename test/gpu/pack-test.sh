#!/usr/bin/env bash
# pack-test.sh SOURCE BUILD: a folder of gpu-verify needs nothing of the build, says
# what is missing, and says in one sentence that there is no CUDA driver. The folder
# stays in BUILD/visit: who gets a GPU without notice takes it there.
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect STATUS TEXT COMMAND...: the exit status, and the whole of what is said.
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" >"$work/said" 2>&1 || status=$?
  if [ "$status" != "$wanted" ] || ! grep -q "$text" "$work/said" ||
    [ "$(wc -l <"$work/said")" != 1 ]; then
    echo "$*: exit status $status, not $wanted with one line about '$text':" >&2
    cat "$work/said" >&2
    exit 1
  fi
}

rm -rf "$build/visit"
"$source/tools/gpu-verify/gpu-verify" --pack "$build/visit" --build "$build" --hopper --no-models
cp -r "$build/visit" "$work/folder"
# Nothing of the build is needed any more.
for library in $(ldd "$work/folder/bin/gpu-verify" | awk '{print $1}'); do
  case $library in
  linux-vdso.so.* | libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | /lib*/ld-linux*) ;;
  *)
    echo "gpu-verify needs $library, which another machine may not have" >&2
    exit 1 ;;
  esac
done
export KV_CUDA_DRIVER=$work/none.so # even on a machine with a GPU
expect 3 "NVIDIA's driver.* cannot be loaded" "$work/folder/gpu-verify"
expect 3 "NVIDIA's driver.* cannot be loaded" "$work/folder/gpu-verify" --plan
expect 2 'is there and not empty' \
  "$source/tools/gpu-verify/gpu-verify" --pack "$work/folder" --build "$build"
expect 2 'there are no kernels for sm_86, but for sm_80, sm_90a, ' \
  "$source/tools/gpu-verify/gpu-verify" --pack "$work/other" --build "$build" --chips sm_86
expect 2 'has no kernels for sm_120$' \
  "$source/tools/gpu-verify/gpu-verify" --pack "$work/other" --build "$work" --chips sm_120
expect 2 'was not made by gpu-verify --pack' "$source/tools/gpu-verify/gpu-verify"
expect 2 'rows.jsonl is not there' "$source/tools/gpu-verify/gpu-verify" --record "$work/none"
expect 1 'gpu-verify-peers: PyTorch is not here' \
  python3 -S "$work/folder/gpu-verify-peers.py" --rows "$work/folder/results/rows.jsonl" --list
rm "$work/folder/lib/kv-cuda/kv_attention_prefill_f8_256.sm_90a.cubin"
expect 2 'kv_attention_prefill_f8_256.sm_90a.cubin is missing' \
  "$work/folder/gpu-verify"
