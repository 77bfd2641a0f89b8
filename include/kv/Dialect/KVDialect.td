//===- KVDialect.td - The kv dialect -----------------------*- tablegen -*-===//

#ifndef KV_DIALECT_KVDIALECT_TD
#define KV_DIALECT_KVDIALECT_TD

include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"

def KV_Dialect : Dialect {
  let name = "kv";
  let cppNamespace = "::kv";
  let summary = "KV caches of language models as opaque collections";
  let description = [{
    A graph takes a cache as a value of type `!kv.collection`: one step's
    non-owning view for a batch of sequences. Operations store this step's
    keys and values into it and attend over it; the cache itself belongs to a
    manager outside the graph, and no pass can copy or free it.

    Before bufferization `kv-resolve-collections` replaces every handle by its
    components (blocks, cache lengths, lookup table, max lengths), and the
    operations carry those themselves.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Unit attribute of a function that becomes an entry of the artifact.
    static llvm::StringRef getEntryAttrName() { return "kv.entry"; }
    /// String attribute of an argument that is a weight: its tensor's name.
    static llvm::StringRef getWeightAttrName() { return "kv.weight"; }
    /// String attribute of a weight argument: its layout if not row-major.
    static llvm::StringRef getLayoutAttrName() { return "kv.layout"; }
    /// String attribute of an argument or result: its name.
    static llvm::StringRef getNameAttrName() { return "kv.name"; }
    /// Array attribute of an argument or result: one name a dynamic dimension.
    static llvm::StringRef getDimsAttrName() { return "kv.dims"; }
    /// String attribute of an argument that is a component of a collection.
    static llvm::StringRef getComponentAttrName() { return "kv.component"; }
    /// Type attribute that goes with kv.component: the collection's type.
    static llvm::StringRef getCollectionAttrName() { return "kv.collection"; }
    /// Attribute of an operation on a cache: the #kv.kernel that
    /// kv-select-kernel chose. Unit attribute of a function that
    /// kv-outline-kernels made.
    static llvm::StringRef getKernelAttrName() { return "kv.kernel"; }
    /// Dictionary attribute of a module: the model's facts, passed on to the
    /// manifest as they are.
    static llvm::StringRef getModelAttrName() { return "kv.model"; }
    /// Type attribute of a module: the precision of the rows that its weights
    /// are multiplied with, f32, bf16, f16 or i8. Not there: the target's.
    static llvm::StringRef getActivationsAttrName() { return "kv.activations"; }
    /// Integer attribute of a module: how many processes compute it together.
    /// Not there: one.
    static llvm::StringRef getRanksAttrName() { return "kv.ranks"; }
    /// Dictionary attribute of a weight argument of which each rank holds a
    /// shard of the rows, integers: the weights file has `runs` runs of `size`
    /// rows, of which rank r holds `shard` each, from (r / `copies`) * `shard`
    /// on, and zeros beyond `size`.
    static llvm::StringRef getShardAttrName() { return "kv.shard"; }
    /// Dictionary attribute of a module that is compiled for a GPU: the `chips`
    /// and the names of the device `images` that it needs, arrays of strings.
    static llvm::StringRef getDeviceCodeAttrName() { return "kv.device_code"; }
  }];
}

#endif // KV_DIALECT_KVDIALECT_TD
