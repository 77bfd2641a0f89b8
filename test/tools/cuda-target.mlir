// An artifact for GPUs, on a machine without one: host code for x86-64-v3, a
// manifest that names the chips, and the device code that the graph needs for
// each of them, found in a folder. What a build with nvcc puts there are files
// like these.
//
// REQUIRES: kv-compile
// RUN: rm -rf %t && mkdir -p %t/kernels %t/broken
// RUN: %python %S/Inputs/kernel-images.py make %t/kernels
// RUN: kv-compile %S/../lowering/cuda-calls.mlir -o %t/model.so --target=cuda:sm_80,sm_90a --kernels=%t/kernels
// RUN: %python %S/Inputs/kernel-images.py list %t/model.so | FileCheck %s
// CHECK: target: cuda x86-64-v3 sm_80 sm_90a
// CHECK-NEXT: layouts:
// CHECK-NEXT: host: kv.max_lengths
// CHECK-NEXT: kv_attention_decode_bf16_64 sm_80: code of kv_attention_decode_bf16_64.sm_80.cubin
// CHECK-NEXT: kv_attention_decode_bf16_64 sm_90a: code of kv_attention_decode_bf16_64.sm_90a.cubin
// CHECK-NEXT: kv_attention_decode_bf16_64 compute_80: code of kv_attention_decode_bf16_64.compute_80.ptx
// CHECK-NEXT: kv_attention_drafts_bf16_64 sm_90a: code of kv_attention_drafts_bf16_64.sm_90a.cubin
// CHECK-NEXT: kv_attention_prefill_bf16_64 sm_80: code of kv_attention_prefill_bf16_64.sm_80.cubin
// CHECK-NEXT: kv_attention_prefill_bf16_64 sm_90a: code of kv_attention_prefill_bf16_64.sm_90a.cubin
// CHECK-NEXT: kv_attention_prefill_bf16_64 compute_80: code of kv_attention_prefill_bf16_64.compute_80.ptx
// CHECK-NEXT: kv_attention_tiles_bf16_64 sm_90a: code of kv_attention_tiles_bf16_64.sm_90a.cubin
// CHECK-NEXT: kv_movers sm_80: code of kv_movers.sm_80.cubin
// CHECK-NEXT: kv_movers sm_90a: code of kv_movers.sm_90a.cubin
// CHECK-NEXT: kv_movers compute_80: code of kv_movers.compute_80.ptx
// CHECK-NOT: kv_
//
// Four generations by one command.
// RUN: kv-compile %S/../lowering/cuda-calls.mlir -o %t/all.so --target=cuda:sm_80,sm_90a,sm_100a,sm_120 --kernels=%t/kernels
// RUN: %python %S/Inputs/kernel-images.py list %t/all.so | FileCheck %s --check-prefix=ALL
// ALL: target: cuda x86-64-v3 sm_80 sm_90a sm_100a sm_120
// ALL: kv_attention_tensor_bf16_64 sm_100a: code of kv_attention_tensor_bf16_64.sm_100a.cubin
// ALL-NEXT: kv_attention_tiles_bf16_64 sm_90a: code of kv_attention_tiles_bf16_64.sm_90a.cubin
// ALL-NEXT: kv_movers sm_80: code of kv_movers.sm_80.cubin
// ALL-NEXT: kv_movers sm_90a: code of kv_movers.sm_90a.cubin
// ALL-NEXT: kv_movers sm_100a: code of kv_movers.sm_100a.cubin
// ALL-NEXT: kv_movers sm_120: code of kv_movers.sm_120.cubin
// ALL-NEXT: kv_movers compute_80: code of kv_movers.compute_80.ptx
//
// Without --kernels: in the wheel kvmlir-cuda, where a program in the wheel kvmlir finds it.
// RUN: mkdir -p %t/site/kvmlir/bin
// RUN: %python -c "import shutil, sys; shutil.copy(shutil.which('kv-compile'), sys.argv[1])" %t/site/kvmlir/bin
// RUN: not %t/site/kvmlir/bin/kv-compile %S/../lowering/cuda-calls.mlir -o %t/no.so --target=cuda:sm_80 2>&1 | FileCheck %s --check-prefix=WHEEL
// WHEEL: kv-compile: error: no folder {{.*}}site/kvmlir/lib/kv-cuda with the kernels' device code: the wheel kvmlir-cuda brings it
// RUN: cp -r %t/kernels %t/site/kvmlir_cuda
// RUN: %t/site/kvmlir/bin/kv-compile %S/../lowering/cuda-calls.mlir -o %t/wheel.so --target=cuda:sm_80,sm_90a
// RUN: cmp %t/wheel.so %t/model.so
//
// Nothing is called by name.
// RUN: llvm-nm -D %t/model.so | FileCheck %s --check-prefix=SYMBOLS
// SYMBOLS-NOT: {{ U }}
// SYMBOLS: T kv_entry_forward
// SYMBOLS-NEXT: T kv_entry_sample
// SYMBOLS-NOT: {{.}}
//
// One chip, named as a device that is compiled for.
// RUN: kv-compile %S/../lowering/cuda-calls.mlir -o %t/one.so --target=virtual:sm_90a --kernels=%t/kernels --mcpu=x86-64-v4
// RUN: %python %S/Inputs/kernel-images.py list %t/one.so | FileCheck %s --check-prefix=ONE
// ONE: target: cuda x86-64-v4 sm_90a
// ONE-NOT: sm_80:
//
// Of a build for few chips, which has no PTX: neither has the artifact.
// RUN: mkdir -p %t/few && cp %t/kernels/*.sm_90a.cubin %t/few
// RUN: kv-compile %S/../lowering/cuda-calls.mlir -o %t/few.so --target=cuda:sm_90a --kernels=%t/few
// RUN: %python %S/Inputs/kernel-images.py list %t/few.so | FileCheck %s --check-prefix=FEW
// FEW: kv_movers sm_90a: code of kv_movers.sm_90a.cubin
// FEW-NOT: compute_80
// RUN: cp %t/kernels/kv_movers.compute_80.ptx %t/few
// RUN: not kv-compile %S/../lowering/cuda-calls.mlir -o %t/no.so --target=cuda:sm_90a --kernels=%t/few 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: kv-compile: error: no device code {{.*}}compute_80.ptx: for this kernel there is code for sm_90a
//
// RUN: not kv-compile %s -o %t/no.so --target=cuda 2>&1 | FileCheck %s --check-prefix=CHIPS
// RUN: not kv-compile %s -o %t/no.so --target=cuda:sm_80, 2>&1 | FileCheck %s --check-prefix=CHIPS
// CHIPS: kv-compile: error: --target: "cuda{{.*}}": expected cpu, cuda:CHIP,..., virtual:CHIP or virtual:LEVEL
// RUN: not kv-compile %s -o %t/no.so --target=cuda:sm_70 --kernels=%t/kernels 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: chip 'sm_70': expected sm_80 or later, such as sm_80 or sm_90a
// RUN: not kv-compile %s -o %t/no.so --target=cuda:sm_80,sm_90a,sm_80 --kernels=%t/kernels 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: chip 'sm_80' is given twice: expected each once
// RUN: not kv-compile %s -o %t/no.so --target=cuda:sm_80 --kernels=%t/none 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: kv-compile: error: no folder {{.*}}none with the kernels' device code: the wheel kvmlir-cuda brings it, or a build that finds nvcc; --kernels names another one
// RUN: not kv-compile %s -o %t/no.so --target=cuda:sm_103a --kernels=%t/kernels 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: no device code {{.*}}kv_movers.sm_103a.cubin: for this kernel there is code for sm_100a, sm_120, sm_80, sm_90a
// RUN: not kv-compile %s -o %t/no.so --target=cuda:sm_80 --kernels=%t/broken 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: no device code {{.*}}kv_movers.sm_80.cubin: for this kernel there is code for none
// RUN: not kv-compile %s -o %t/no.so --target=cuda:sm_80 --pipeline=kv-cpu 2>&1 | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: kv-compile: error: --target is cuda:sm_80, whose pipeline is kv-cuda, not kv-cpu
// RUN: not kv-compile %s -o %t/no.so --pipeline=kv-cuda 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: kv-compile: error: the pipeline kv-cuda needs chips: use --target=cuda:CHIP,...

func.func @nothing(%x: tensor<4x64xbf16> {kv.name = "x"}) -> (tensor<4x64xbf16> {kv.name = "y"}) attributes {kv.entry} {
  return %x : tensor<4x64xbf16>
}
