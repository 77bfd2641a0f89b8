// RUN: kv-opt --kv-outline-parallel --verify-diagnostics --split-input-file %s

func.func private @two(%ctx: !llvm.ptr, %n: index) {
  // expected-error @+1 {{is not a normalised loop of one dimension on buffers}}
  scf.forall (%i, %j) in (%n, %n) {
  }
  return
}

// -----

func.func private @shifted(%ctx: !llvm.ptr, %n: index) {
  // expected-error @+1 {{is not a normalised loop of one dimension on buffers}}
  scf.forall (%i) = (1) to (%n) step (2) {
  }
  return
}

// -----

func.func private @no_context() {
  // expected-error @+1 {{is in a function without the context: run kv-thread-context before}}
  scf.forall (%i) in (8) {
  }
  return
}
