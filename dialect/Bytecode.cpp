//===- Bytecode.cpp - Types and attributes in numbers ---------------------===//

#include "kv/Dialect/Bytecode.h"

#include "kv/Dialect/KV.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kv;

namespace {
// What stands in files: a number once given stays.
enum TypeCode : uint64_t { kCollection = 0 };
enum AttributeCode : uint64_t { kMask = 0 };

/// An enum's case by its number; an error when there is none.
template <typename Enum>
LogicalResult readEnum(DialectBytecodeReader &reader, StringRef what,
                       std::optional<Enum> (*symbolize)(uint32_t),
                       Enum &result) {
  uint64_t number;
  if (failed(reader.readVarInt(number)))
    return failure();
  std::optional<Enum> value;
  if (number <= std::numeric_limits<uint32_t>::max())
    value = symbolize(static_cast<uint32_t>(number));
  if (!value)
    return reader.emitError() << "no " << what << " has the number " << number;
  result = *value;
  return success();
}

struct KVBytecodeInterface : BytecodeDialectInterface {
  explicit KVBytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  LogicalResult writeType(Type type,
                          DialectBytecodeWriter &writer) const override {
    auto collection = dyn_cast<CollectionType>(type);
    if (!collection)
      return failure();
    writer.writeVarInt(kCollection);
    writer.writeVarInt(static_cast<uint64_t>(collection.getStrategy()));
    writer.writeType(collection.getElementType());
    for (int64_t number : {collection.getLayers(), collection.getHeads(),
                           collection.getDim(), collection.getPage()})
      writer.writeSignedVarInt(number);
    return success();
  }

  Type readType(DialectBytecodeReader &reader) const override {
    uint64_t code;
    if (failed(reader.readVarInt(code)))
      return Type();
    if (code != kCollection) {
      reader.emitError() << "no type of the kv dialect has the code " << code;
      return Type();
    }
    Strategy strategy;
    Type elementType;
    int64_t layers, heads, dim, page;
    if (failed(readEnum(reader, "strategy", symbolizeStrategy, strategy)) ||
        failed(reader.readType(elementType)) ||
        failed(reader.readSignedVarInt(layers)) ||
        failed(reader.readSignedVarInt(heads)) ||
        failed(reader.readSignedVarInt(dim)) ||
        failed(reader.readSignedVarInt(page)))
      return Type();
    return CollectionType::getChecked([&] { return reader.emitError(); },
                                      getContext(), strategy, elementType,
                                      layers, heads, dim, page);
  }

  LogicalResult writeAttribute(Attribute attribute,
                               DialectBytecodeWriter &writer) const override {
    auto mask = dyn_cast<MaskAttr>(attribute);
    if (!mask)
      return failure();
    writer.writeVarInt(kMask);
    writer.writeVarInt(static_cast<uint64_t>(mask.getKind()));
    writer.writeSignedVarInt(mask.getWindow());
    return success();
  }

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    uint64_t code;
    if (failed(reader.readVarInt(code)))
      return Attribute();
    if (code != kMask) {
      reader.emitError() << "no attribute of the kv dialect has the code "
                         << code;
      return Attribute();
    }
    MaskKind kind;
    int64_t window;
    if (failed(readEnum(reader, "mask", symbolizeMaskKind, kind)) ||
        failed(reader.readSignedVarInt(window)))
      return Attribute();
    return MaskAttr::getChecked([&] { return reader.emitError(); },
                                getContext(), kind, window);
  }

  void writeVersion(DialectBytecodeWriter &writer) const override {
    uint64_t number = BytecodeVersion::kCurrent;
    FailureOr<const DialectVersion *> wanted =
        writer.getDialectVersion<KVDialect>();
    if (succeeded(wanted))
      number = static_cast<const BytecodeVersion *>(*wanted)->number;
    writer.writeVarInt(number);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number > BytecodeVersion::kCurrent) {
      reader.emitError() << "written with version " << number
                         << " of the kv dialect, this tool reads up to "
                         << BytecodeVersion::kCurrent;
      return nullptr;
    }
    return std::make_unique<BytecodeVersion>(number);
  }

  /// Where an older version's operations become this one's. There is no
  /// difference between operations of the versions so far.
  LogicalResult
  upgradeFromVersion(Operation *topLevelOp,
                     const DialectVersion &version) const override {
    return success();
  }
};
} // namespace

void kv::addBytecodeInterface(KVDialect &dialect) {
  dialect.addInterfaces<KVBytecodeInterface>();
}
