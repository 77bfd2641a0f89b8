//===- CachesToTensors.td - Modules for other compilers ----*- tablegen -*-===//

#ifndef KV_PASSES_CACHESTOTENSORS_TD
#define KV_PASSES_CACHESTOTENSORS_TD

include "mlir/Pass/PassBase.td"

def KVCachesToTensors : Pass<"kv-caches-to-tensors", "::mlir::ModuleOp"> {
  let summary = "caches become tensors, and attention that of other compilers";
  let description = [{
    For compilers that know no paged cache. The blocks of a cache become a tensor:
    an entry takes it, and returns what its stores have made of it behind its
    other results. Every `kv` operation becomes upstream ones; the runtime's
    checks are dropped, so a step's row offsets, lengths and tables are trusted.

    | target | attention | store |
    | --- | --- | --- |
    | `iree` | pages gathered into dense keys and values, a mask, `iree_linalg_ext.attention` | `iree_linalg_ext.scatter` |
    | `tm_tensor` | the same, `tm_tensor.attention` of torch-mlir | a loop of `tensor.insert_slice` |
    | `linalg` | the plain meaning (`kv-decompose`) | a loop of `tensor.insert_slice` |

    Takes straight-line code and paged collections of 16 or 32 bits, without
    `page_layers`, of the layout `nhd`; quantised weights have no form. The
    pipeline `kv-to-attention` runs before it what it needs.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"linalg\"",
           "whose attention: iree, linalg or tm_tensor">
  ];
  let dependentDialects = ["::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // KV_PASSES_CACHESTOTENSORS_TD
