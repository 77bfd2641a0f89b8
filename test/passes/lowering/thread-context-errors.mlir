// RUN: kv-opt --kv-thread-context --verify-diagnostics %s

// expected-error @+1 {{has no body: an artifact is self-contained}}
func.func private @elsewhere()
