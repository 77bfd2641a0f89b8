//===- Manifest.cpp - What an artifact says of itself ---------------------===//

#include "kv/Runtime/Session/Manifest.h"
#include "runtime/base/ElfSection.h"
#include "runtime/base/JsonFields.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

using namespace kv;
using nlohmann::json;

static constexpr std::array<std::string_view, 7> InputKinds = {
    "input",           "weight",         "kv.blocks", "kv.cache_lengths",
    "kv.lookup_table", "kv.max_lengths", "kv.scales"};

std::string_view kv::argumentKindName(ArgumentKind kind) {
  return kind == ArgumentKind::Output ? "output"
                                      : InputKinds[static_cast<size_t>(kind)];
}

ArgumentKind kv::cacheArgumentKind(std::string_view component) {
  auto it = std::find_if(
      InputKinds.begin(), InputKinds.end(), [&](std::string_view kind) {
        return kind.starts_with("kv.") && kind.substr(3) == component;
      });
  return static_cast<ArgumentKind>(it - InputKinds.begin());
}

template <class T>
static const T *findByName(const std::vector<T> &list, std::string_view name) {
  auto it = std::find_if(list.begin(), list.end(),
                         [&](const T &item) { return item.name == name; });
  return it == list.end() ? nullptr : &*it;
}

const Argument *Entry::findInput(std::string_view name) const {
  return findByName(inputs, name);
}

const Argument *Entry::findInput(ArgumentKind kind,
                                 std::string_view collection) const {
  for (const Argument &input : inputs)
    if (input.kind == kind && input.collection == collection)
      return &input;
  return nullptr;
}

const Argument *Entry::findOutput(std::string_view name) const {
  return findByName(outputs, name);
}

const Entry *Manifest::findEntry(std::string_view name) const {
  return findByName(entries, name);
}

Expected<const Entry *> Manifest::requireEntry(std::string_view name) const {
  if (const Entry *entry = findEntry(name))
    return entry;
  std::string known;
  for (const Entry &entry : entries)
    known += concat(known.empty() ? "" : ", ", entry.name);
  return makeError(KV_STATUS_INVALID_ARGUMENT, "no entry \"", name,
                   "\", there are: ", known.empty() ? "none" : known);
}

const Collection *Manifest::findCollection(std::string_view name) const {
  return findByName(collections, name);
}

int64_t Manifest::maxSeqLen() const {
  int64_t most = model.maxSeqLen;
  for (const Collection &collection : collections)
    if (collection.geometry.strategy == CacheStrategy::Continuous)
      most = std::min(most, collection.geometry.page);
  return most;
}

static DType readDType(JsonFields &fields, const json &object,
                       const std::string &where) {
  std::string name = fields.text(object, where, "dtype");
  if (std::optional<DType> dtype = parseDType(name))
    return *dtype;
  std::string allowed;
#define KV_DTYPE(Name, Value, Spelling, Bytes)                                 \
  allowed += allowed.empty() ? Spelling : ", " Spelling;
#include "kv/ABI/DTypes.def"
  fields.fail(where, "dtype is \"", name, "\", expected one of ", allowed);
  return DType::F32;
}

static ArgumentKind readKind(JsonFields &fields, const json &object,
                             const std::string &where) {
  std::string name = fields.text(object, where, "kind");
  auto it = std::find(InputKinds.begin(), InputKinds.end(), name);
  if (it != InputKinds.end())
    return static_cast<ArgumentKind>(it - InputKinds.begin());
  std::string allowed;
  for (std::string_view kind : InputKinds)
    allowed += concat(allowed.empty() ? "" : ", ", kind);
  fields.fail(where, "kind is \"", name, "\", expected one of ", allowed);
  return ArgumentKind::Input;
}

static std::vector<Dimension> readShape(JsonFields &fields, const json &object,
                                        const std::string &where) {
  const json *value = fields.find(object, where, "shape");
  if (!value)
    return {};
  if (!value->is_array() || value->size() > KV_MAX_RANK) {
    fields.fail(where, "shape is ", printJson(*value),
                ", expected an array of at most ", KV_MAX_RANK, " sizes");
    return {};
  }
  std::vector<Dimension> shape;
  for (const json &element : *value) {
    std::optional<int64_t> size = asInteger(element);
    if (size && *size >= 0)
      shape.push_back({*size, {}});
    else if (element.is_string() &&
             !element.get_ref<const std::string &>().empty())
      shape.push_back({0, element.get<std::string>()});
    else
      fields.fail(where, "shape holds ", printJson(element),
                  ", expected a size or the name of a dimension");
  }
  return shape;
}

/// The sizes in QuantFormats.def of a layout of quantised weights.
struct BlockSizes {
  int64_t group, bytes;

  bool allow(const std::vector<Dimension> &shape) const {
    if (shape.size() != 3)
      return false;
    if (group)
      return shape[2].size == bytes;
    return shape[1].size == 1 && shape[2].size >= bytes &&
           (shape[2].size - bytes) % (16 * 32) == 0;
  }
  std::string form() const {
    return group ? concat("[N / 16, K / group, ", bytes, "]")
                 : concat("[N / 16, 1, ", bytes, " + 16 * K]");
  }
};

/// Nothing for layouts of other weights.
static std::optional<BlockSizes> blockSizes(const std::string &layout) {
#define KV_QUANT_FORMAT(Name, Spelling, Group, FileBytes, Bytes)               \
  if (layout == #Spelling "x16")                                               \
    return BlockSizes{Group, Bytes};
#include "kv/ABI/QuantFormats.def"
  return std::nullopt;
}

static std::string knownLayouts() {
  std::string text = "row_major, n16k";
#define KV_QUANT_FORMAT(Name, Spelling, Group, FileBytes, Bytes)               \
  text += ", " #Spelling "x16";
#include "kv/ABI/QuantFormats.def"
  return text;
}

/// The field shard of a weight whose first dimension holds groups of
/// `groupRows` rows.
static void readShard(JsonFields &fields, const json &value,
                      const std::string &where, int64_t groupRows,
                      Argument &argument) {
  if (!value.is_object())
    return fields.fail(where, "shard is ", printJson(value),
                       ", expected an object");
  std::string inner = where + "shard.";
  WeightShard shard{.runs = fields.integer(value, inner, "runs", 1),
                    .size = fields.integer(value, inner, "size", 1),
                    .shard = fields.integer(value, inner, "shard", 1),
                    .copies = fields.integer(value, inner, "copies", 1)};
  int64_t rows =
      argument.shape.empty() ? 0 : argument.shape[0].size * groupRows;
  int64_t held = 0;
  if (__builtin_mul_overflow(shard.runs, shard.shard, &held) || held != rows ||
      shard.shard % groupRows != 0 || shard.size % groupRows != 0)
    fields.fail(where, "shard of the weight ", argument.name, " is ",
                shard.runs, " runs of ", shard.shard, " of ", shard.size,
                " rows, the argument has ", rows, " rows in groups of ",
                groupRows);
  argument.shard = shard;
}

/// The field stored of a weight.
static void readStored(JsonFields &fields, const json &value,
                       const std::string &where, Argument &argument) {
  auto isList = [&](const char *name) {
    return value.is_object() && value.contains(name) &&
           value[name].is_array() &&
           std::ranges::all_of(value[name], [](const json &each) {
             return each.is_number_integer();
           });
  };
  if (!isList("shape") || !isList("order"))
    return fields.fail(where, "stored is ", printJson(value),
                       ", expected an object with shape and order");
  StoredForm stored{value["shape"].get<std::vector<int64_t>>(),
                    value["order"].get<std::vector<int64_t>>()};
  std::vector<int64_t> sorted = stored.order, all(stored.shape.size());
  std::ranges::sort(sorted);
  std::iota(all.begin(), all.end(), 0);
  int64_t elements = 1, wanted = 1;
  bool fits = !all.empty() && sorted == all &&
              (argument.layout == "row_major" || argument.layout == "n16k");
  for (int64_t size : stored.shape)
    fits &= size > 0 && !__builtin_mul_overflow(elements, size, &elements);
  for (const Dimension &dimension : argument.shape)
    fits &= !__builtin_mul_overflow(wanted, dimension.size, &wanted);
  if (!fits || elements != wanted || argument.shard)
    return fields.fail(where, "stored of the weight ", argument.name, " is ",
                       printJson(value), ", expected a shape with ", wanted,
                       " elements and an order of its dimensions");
  argument.stored = std::move(stored);
}

static Argument readArgument(JsonFields &fields, const json &object,
                             const std::string &where, bool output) {
  Argument argument;
  argument.name = fields.text(object, where, "name");
  argument.kind =
      output ? ArgumentKind::Output : readKind(fields, object, where);
  argument.dtype = readDType(fields, object, where);
  argument.shape = readShape(fields, object, where);
  argument.collection = fields.text(object, where, "collection", false);
  argument.layout =
      fields.text(object, where, "layout", false, argument.layout);
  argument.host = fields.boolean(object, where, "host");
  if (argument.kind != ArgumentKind::Weight)
    return argument;
  std::optional<BlockSizes> blocks = blockSizes(argument.layout);
  if (argument.layout != "row_major" && argument.layout != "n16k" && !blocks)
    fields.fail(where, "layout is \"", argument.layout, "\", expected ",
                knownLayouts());
  for (const Dimension &dimension : argument.shape)
    if (!dimension.isStatic())
      fields.fail(where, "shape of the weight ", argument.name,
                  " holds the symbol \"", dimension.symbol,
                  "\", expected sizes");
  if (argument.layout == "n16k" &&
      (argument.shape.size() != 3 || argument.shape[2].size != 16))
    fields.fail(where, "shape of the n16k weight ", argument.name,
                " is not [N / 16, K, 16]");
  if (blocks && (argument.dtype != DType::I8 || !blocks->allow(argument.shape)))
    fields.fail(where, "shape of the ", argument.layout, " weight ",
                argument.name, " is not i8 ", blocks->form());
  if (const json *shard = fields.find(object, where, "shard", false))
    readShard(fields, *shard, where, argument.layout == "row_major" ? 1 : 16,
              argument);
  if (const json *stored = fields.find(object, where, "stored", false))
    readStored(fields, *stored, where, argument);
  return argument;
}

static Entry readEntry(JsonFields &fields, const json &object,
                       const std::string &where) {
  Entry entry;
  entry.name = fields.text(object, where, "name");
  entry.symbol = fields.text(object, where, "symbol");
  std::set<std::string> names;
  auto read = [&](const char *list, bool output, std::vector<Argument> &into) {
    fields.objects(
        object, where, list,
        [&](const json &element, const std::string &inner) {
          into.push_back(readArgument(fields, element, inner, output));
          // Only weights may share a tensor.
          if (into.back().kind != ArgumentKind::Weight &&
              !names.insert(into.back().name).second)
            fields.fail(inner, "name \"", into.back().name, "\" is used twice");
        });
  };
  read("inputs", false, entry.inputs);
  read("outputs", true, entry.outputs);
  return entry;
}

/// The enumerator of E whose spelling is at its index in `names`.
template <class E, size_t N>
static E readName(JsonFields &fields, const std::string &where,
                  const char *field, const std::string &name,
                  const std::string_view (&names)[N]) {
  auto it = std::find(std::begin(names), std::end(names), name);
  if (it != std::end(names))
    return static_cast<E>(it - std::begin(names));
  std::string allowed;
  for (std::string_view one : names)
    allowed += concat(allowed.empty() ? "" : ", ", one);
  fields.fail(where, field, " is \"", name, "\", expected one of ", allowed);
  return E();
}

static void readScale(JsonFields &fields, const json &scale,
                      const std::string &where, CacheGeometry &geometry) {
  if (!scale.is_object())
    return fields.fail(where, "scale is ", printJson(scale),
                       ", expected an object");
  std::string inner = where + "scale.";
  geometry.scaleDType = static_cast<KvDType>(readDType(fields, scale, inner));
  geometry.scaleGroup = fields.integer(scale, inner, "group", 1);
}

static Collection readCollection(JsonFields &fields, const json &object,
                                 const std::string &where) {
  Collection collection;
  CacheGeometry &geometry = collection.geometry;
  collection.name = fields.text(object, where, "name");
  geometry.strategy = readName<CacheStrategy>(
      fields, where, "strategy", fields.text(object, where, "strategy"),
      kCacheStrategyNames);
  geometry.dtype = static_cast<KvDType>(readDType(fields, object, where));
  geometry.layers = fields.integer(object, where, "layers", 1);
  geometry.heads = fields.integer(object, where, "heads", 1);
  geometry.dim = fields.integer(object, where, "dim", 1);
  geometry.page = fields.integer(object, where, geometry.pageName(), 1);
  geometry.vDim = fields.integer(object, where, "v_dim", 1, false);
  geometry.layout = readName<CacheLayout>(
      fields, where, "layout",
      fields.text(object, where, "layout", false, "nhd"), kCacheLayoutNames);
  if (const json *scale = fields.find(object, where, "scale", false))
    readScale(fields, *scale, where, geometry);
  geometry.window = fields.integer(object, where, "window", 1, false);
  geometry.pageLayers = fields.integer(object, where, "page_layers", 1, false);
  if (std::string problem = geometry.problem(); !problem.empty())
    fields.fail(std::string_view(where).substr(0, where.size() - 1), ": ",
                problem);
  return collection;
}

static void readChips(JsonFields &fields, const json &target,
                      std::vector<std::string> &chips) {
  const json *value = fields.find(target, "target.", "chips", false);
  if (!value)
    return;
  bool valid = value->is_array();
  for (const json &chip : valid ? *value : json::array()) {
    valid &= chip.is_string();
    if (chip.is_string())
      chips.push_back(chip.get<std::string>());
  }
  if (!valid)
    fields.fail("target.chips is ", printJson(*value),
                ", expected an array of names");
}

static ModelInfo readModel(JsonFields &fields, const json &object) {
  ModelInfo model;
  model.name = fields.text(object, "model.", "name", false);
  model.architecture = fields.text(object, "model.", "architecture", false);
  model.vocabSize = fields.integer(object, "model.", "vocab_size", 1, false);
  model.maxSeqLen = fields.integer(object, "model.", "max_seq_len", 1, false);
  model.json = object.dump();
  return model;
}

Expected<Manifest> Manifest::parse(std::string_view text,
                                   std::string_view source) {
  JsonFields fields(concat(source, ": manifest"));
  Expected<json> parsed = parseObject(text);
  if (!parsed)
    return makeError(KV_STATUS_INVALID_ARGUMENT, source, ": the manifest ",
                     parsed.error().message);
  const json &document = *parsed;
  Manifest manifest;
  // First, since another version may have other fields.
  manifest.abiVersion = fields.integer(document, "", "abi_version", 0);
  if (!fields.failed() && manifest.abiVersion != KV_ABI_VERSION)
    fields.fail("abi_version is ", manifest.abiVersion,
                ", this runtime has version ", KV_ABI_VERSION,
                ": compile the model again");
  manifest.producer = fields.text(document, "", "producer", false);

  if (const json *target = fields.find(document, "", "target")) {
    if (target->is_object()) {
      manifest.targetKind = fields.text(*target, "target.", "kind");
      manifest.targetTriple = fields.text(*target, "target.", "triple", false);
      manifest.targetCpu = fields.text(*target, "target.", "cpu", false);
      manifest.activations =
          fields.text(*target, "target.", "activations", false);
      readChips(fields, *target, manifest.targetChips);
    } else {
      fields.fail("target is ", printJson(*target), ", expected an object");
    }
  }
  if (const json *model = fields.find(document, "", "model", false)) {
    if (model->is_object())
      manifest.model = readModel(fields, *model);
    else
      fields.fail("model is ", printJson(*model), ", expected an object");
  }
  manifest.ranks = fields.integer(document, "", "ranks", 1, false);
  if (manifest.ranks == 0)
    manifest.ranks = 1;
  fields.objects(document, "", "collections",
                 [&](const json &object, const std::string &where) {
                   manifest.collections.push_back(
                       readCollection(fields, object, where));
                 });
  fields.objects(document, "", "entries",
                 [&](const json &object, const std::string &where) {
                   manifest.entries.push_back(readEntry(fields, object, where));
                 });
  if (fields.failed())
    return std::unexpected(*fields.firstError());
  return manifest;
}

Expected<Manifest> Manifest::readFile(const std::filesystem::path &artifact) {
  Expected<MappedFile> file = MappedFile::open(artifact);
  if (!file)
    return std::unexpected(file.error());
  Expected<std::string_view> text =
      findSection(*file, ".kv.manifest", artifact.string());
  if (!text)
    return std::unexpected(text.error());
  // The text may be followed by zeros: padding, or the end of a C string.
  return parse(text->substr(0, text->find('\0')), artifact.string());
}
