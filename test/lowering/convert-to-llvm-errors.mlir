// RUN: kv-opt --convert-to-llvm --verify-diagnostics --split-input-file %s

func.func @f(%ctx: !llvm.ptr) {
  // expected-error @+1 {{'nothing' is no runtime function}}
  kv.rt.call "nothing"(%ctx) : () -> ()
  return
}

// -----

func.func @f(%ctx: !llvm.ptr, %n: i64) {
  // expected-error @+2 {{'arenaRelease' takes 1 arguments, not 2}}
  // expected-error @+1 {{failed to legalize}}
  kv.rt.call "arenaRelease"(%ctx, %n, %n) : (i64, i64) -> ()
  return
}

// -----

func.func @f(%ctx: !llvm.ptr, %n: i32) {
  // expected-error @+2 {{argument 0 of 'arenaRelease' must be 'i64'}}
  // expected-error @+1 {{failed to legalize}}
  kv.rt.call "arenaRelease"(%ctx, %n) : (i32) -> ()
  return
}

// -----

func.func @f(%ctx: !llvm.ptr, %n: memref<?xi1>, %l: i64) {
  // expected-error @+2 {{'i1' cannot cross the ABI}}
  // expected-error @+1 {{failed to legalize}}
  kv.rt.call "store"(%ctx, %n, %l) absent [1, 2, 3, 4, 6, 7] : (memref<?xi1>, i64) -> ()
  return
}

// -----

func.func @f(%ctx: !llvm.ptr, %args: !llvm.ptr, %count: i32) -> i32 {
  // expected-error @+2 {{stands in a function without 'kv.interface'}}
  // expected-error @+1 {{failed to legalize}}
  %s = kv.rt.check_arguments %ctx, %args, %count
  return %s : i32
}
