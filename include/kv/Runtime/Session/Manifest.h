//===- Manifest.h - What an artifact says of itself -------------*- C++ -*-===//
//
// The structs of the manifest; docs/reference/artifact.md, section Manifest,
// describes its fields.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_SESSION_MANIFEST_H
#define KV_RUNTIME_SESSION_MANIFEST_H

#include "kv/ABI/CacheGeometry.h"
#include "kv/Runtime/Base/DType.h"
#include "kv/Runtime/Base/Error.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace kv {

enum class ArgumentKind {
  Input,
  Weight,
  Blocks,
  CacheLengths,
  LookupTable,
  MaxLengths,
  Scales,
  Output
};

/// "kv.blocks", as the manifest spells it.
std::string_view argumentKindName(ArgumentKind kind);

/// The kind of the argument for the CacheComponent of this name.
ArgumentKind cacheArgumentKind(std::string_view component);

/// A size, or the name of a dimension symbol. Equal names in one entry stand
/// for equal sizes.
struct Dimension {
  int64_t size = 0;
  std::string symbol; // empty for a static size

  bool isStatic() const { return symbol.empty(); }
  bool operator==(const Dimension &) const = default;
};

/// The part of a weight's rows that one of several ranks holds. The file has
/// `runs` runs of `size` rows. Rank r has `shard` rows of each run, from row (r
/// / copies) * shard of the run on. Rows beyond `size` are zeros.
struct WeightShard {
  int64_t runs = 1;
  int64_t size = 0;
  int64_t shard = 0;
  int64_t copies = 1;

  bool operator==(const WeightShard &) const = default;
};

/// How the file holds a weight whose layout there is row-major: with this
/// shape, and the argument's elements are those of the tensor with its
/// dimensions in the order `order`.
struct StoredForm {
  std::vector<int64_t> shape;
  std::vector<int64_t> order; // a permutation of the dimensions

  bool operator==(const StoredForm &) const = default;
};

/// One argument of an entry, as it is passed.
struct Argument {
  std::string name;
  ArgumentKind kind = ArgumentKind::Input;
  DType dtype = DType::F32;
  std::vector<Dimension> shape;
  std::string collection;           // that a kv.* argument belongs to
  std::string layout = "row_major"; // of a weight: row_major, n16k or packed
                                    // blocks such as q4_0x16 (artifact.md)
  bool host = false;                // in host memory on any device
  std::optional<WeightShard> shard = {}; // of a weight; none: all of it
  std::optional<StoredForm> stored = {}; // of a weight; none: as it is passed
};

struct Entry {
  std::string name;
  std::string symbol;
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;

  /// Null if there is none.
  const Argument *findInput(std::string_view name) const;
  const Argument *findInput(ArgumentKind kind,
                            std::string_view collection) const;
  const Argument *findOutput(std::string_view name) const;
};

/// A collection and its name in the module.
struct Collection {
  std::string name;
  CacheGeometry geometry;
};

/// The module's attribute kv.model. Sizes that it does not give are 0.
struct ModelInfo {
  std::string name;
  std::string architecture;
  int64_t vocabSize = 0;
  int64_t maxSeqLen = 0;
  std::string json; // the whole attribute, for fields that are not above
};

struct Manifest {
  int64_t abiVersion = 0;
  std::string producer;
  std::string targetKind;
  std::string targetTriple;
  std::string targetCpu;
  /// The type to which rows are rounded before products; empty: they are not.
  std::string activations;
  std::vector<std::string> targetChips; // of device code: "sm_90a"
  ModelInfo model;
  /// Processes that compute the model together, each with its shard; what
  /// collections and arguments say is of one of them.
  int64_t ranks = 1;
  std::vector<Collection> collections;
  std::vector<Entry> entries;

  const Entry *findEntry(std::string_view name) const;
  /// Error: no such entry; it names those that there are.
  Expected<const Entry *> requireEntry(std::string_view name) const;
  const Collection *findCollection(std::string_view name) const;

  /// Tokens of the longest request: the model's, but no more than a slot of a
  /// continuous collection holds, whatever the model could do.
  int64_t maxSeqLen() const;

  /// Reads the JSON text, which messages call `source`. Errors name the field,
  /// what it holds and what is allowed; an ABI version other than this
  /// runtime's is reported before anything else.
  static Expected<Manifest> parse(std::string_view json,
                                  std::string_view source);

  /// Reads the section .kv.manifest of an ELF file without loading it. Damaged
  /// and hostile files are errors.
  static Expected<Manifest> readFile(const std::filesystem::path &artifact);
};

} // namespace kv

#endif // KV_RUNTIME_SESSION_MANIFEST_H
