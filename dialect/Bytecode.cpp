//===- Bytecode.cpp - Types and attributes in numbers ---------------------===//

#include "kv/Dialect/Bytecode.h"

#include "kv/Dialect/KV.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kv;

uint64_t kv::versionOf(DialectBytecodeReader &reader) {
  FailureOr<const DialectVersion *> version =
      reader.getDialectVersion<KVDialect>();
  return succeeded(version)
             ? static_cast<const BytecodeVersion *>(*version)->number
             : 0;
}

uint64_t kv::versionToWrite(DialectBytecodeWriter &writer) {
  FailureOr<const DialectVersion *> wanted =
      writer.getDialectVersion<KVDialect>();
  return succeeded(wanted)
             ? static_cast<const BytecodeVersion *>(*wanted)->number
             : BytecodeVersion::kCurrent;
}

namespace {
// These numbers stand in files, so a number once given stays.
enum TypeCode : uint64_t { kCollection = 0, kCache = 1, kQuant = 2 };
enum AttributeCode : uint64_t { kMask = 0, kKernel = 1, kQuantFormat = 2 };

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

/// The fields of a type with the geometry of a cache. Version 1 had the
/// parameters up to `page`, version 2 those up to `layout`.
template <typename GeometryType>
LogicalResult writeGeometry(GeometryType type, uint64_t code, uint64_t version,
                            DialectBytecodeWriter &writer) {
  uint64_t since = 1;
  if (type.getStrategy() != Strategy::Paged || type.getVDim() ||
      type.getScale() || type.getLayout() != Layout::NHD)
    since = 2;
  if (type.getWindow() || type.getPageLayers())
    since = 3;
  if (type.getStrategy() == Strategy::Recurrent)
    since = 5;
  if (version < since)
    return failure(); // as text
  writer.writeVarInt(code);
  writer.writeVarInt(static_cast<uint64_t>(type.getStrategy()));
  writer.writeType(type.getElementType());
  for (int64_t number :
       {type.getLayers(), type.getHeads(), type.getDim(), type.getPage()})
    writer.writeSignedVarInt(number);
  if (version == 1)
    return success();
  writer.writeSignedVarInt(type.getVDim());
  writer.writeOptionalAttribute(type.getScale());
  writer.writeVarInt(static_cast<uint64_t>(type.getLayout()));
  if (version == 2)
    return success();
  writer.writeSignedVarInt(type.getWindow());
  writer.writeSignedVarInt(type.getPageLayers());
  return success();
}

template <typename GeometryType>
Type readGeometry(DialectBytecodeReader &reader, MLIRContext *context) {
  Strategy strategy = Strategy::Paged;
  Type elementType;
  int64_t layers, heads, dim, page, vDim = 0, window = 0, pageLayers = 0;
  ScaleAttr scale;
  Layout layout = Layout::NHD;
  if (failed(readEnum(reader, "strategy", symbolizeStrategy, strategy)) ||
      failed(reader.readType(elementType)) ||
      failed(reader.readSignedVarInt(layers)) ||
      failed(reader.readSignedVarInt(heads)) ||
      failed(reader.readSignedVarInt(dim)) ||
      failed(reader.readSignedVarInt(page)))
    return Type();
  if (versionOf(reader) >= 2 &&
      (failed(reader.readSignedVarInt(vDim)) ||
       failed(reader.readOptionalAttribute(scale)) ||
       failed(readEnum(reader, "layout", symbolizeLayout, layout))))
    return Type();
  if (versionOf(reader) >= 3 && (failed(reader.readSignedVarInt(window)) ||
                                 failed(reader.readSignedVarInt(pageLayers))))
    return Type();
  return GeometryType::getChecked(
      [&] { return reader.emitError(); }, context, strategy, elementType,
      layers, heads, dim, page, vDim, scale, layout, window, pageLayers);
}

struct KVBytecodeInterface : BytecodeDialectInterface {
  explicit KVBytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  LogicalResult writeType(Type type,
                          DialectBytecodeWriter &writer) const override {
    uint64_t version = versionToWrite(writer);
    return llvm::TypeSwitch<Type, LogicalResult>(type)
        .Case([&](CollectionType collection) {
          return writeGeometry(collection, kCollection, version, writer);
        })
        .Case([&](CacheType cache) {
          return writeGeometry(cache, kCache, version, writer);
        })
        .Case([&](QuantType quant) -> LogicalResult {
          if (version < 4)
            return failure();
          writer.writeVarInt(kQuant);
          writer.writeVarInt(static_cast<uint64_t>(quant.getFormat()));
          return success();
        })
        .Default([](Type) { return failure(); });
  }

  Type readType(DialectBytecodeReader &reader) const override {
    uint64_t code;
    if (failed(reader.readVarInt(code)))
      return Type();
    if (code == kCollection)
      return readGeometry<CollectionType>(reader, getContext());
    if (code == kCache)
      return readGeometry<CacheType>(reader, getContext());
    if (code == kQuant) {
      QuantFormat format = QuantFormat::Q8_0;
      if (failed(readEnum(reader, "format", symbolizeQuantFormat, format)))
        return Type();
      return QuantType::get(getContext(), format);
    }
    reader.emitError() << "no type of the kv dialect has the code " << code;
    return Type();
  }

  LogicalResult writeAttribute(Attribute attribute,
                               DialectBytecodeWriter &writer) const override {
    uint64_t version = versionToWrite(writer);
    if (auto mask = dyn_cast<MaskAttr>(attribute); mask && version >= 1) {
      writer.writeVarInt(kMask);
      writer.writeVarInt(static_cast<uint64_t>(mask.getKind()));
      writer.writeSignedVarInt(mask.getWindow());
      return success();
    }
    if (auto kernel = dyn_cast<KernelAttr>(attribute); kernel && version >= 2) {
      writer.writeVarInt(kKernel);
      writer.writeVarInt(static_cast<uint64_t>(kernel.getKind()));
      return success();
    }
    auto format = dyn_cast<QuantFormatAttr>(attribute);
    if (format && version >= 4) {
      writer.writeVarInt(kQuantFormat);
      writer.writeVarInt(static_cast<uint64_t>(format.getValue()));
      return success();
    }
    return failure(); // as text
  }

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    uint64_t code;
    if (failed(reader.readVarInt(code)))
      return Attribute();
    if (code == kKernel) {
      KernelKind kernel = KernelKind::Decomposition;
      if (failed(readEnum(reader, "kernel", symbolizeKernelKind, kernel)))
        return Attribute();
      return KernelAttr::get(getContext(), kernel);
    }
    if (code == kQuantFormat) {
      QuantFormat format = QuantFormat::Q8_0;
      if (failed(readEnum(reader, "format", symbolizeQuantFormat, format)))
        return Attribute();
      return QuantFormatAttr::get(getContext(), format);
    }
    if (code != kMask) {
      reader.emitError() << "no attribute of the kv dialect has the code "
                         << code;
      return Attribute();
    }
    MaskKind kind = MaskKind::None;
    int64_t window;
    if (failed(readEnum(reader, "mask", symbolizeMaskKind, kind)) ||
        failed(reader.readSignedVarInt(window)))
      return Attribute();
    return MaskAttr::getChecked([&] { return reader.emitError(); },
                                getContext(), kind, window);
  }

  void writeVersion(DialectBytecodeWriter &writer) const override {
    writer.writeVarInt(versionToWrite(writer));
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

  /// Where an older version's operations become this one's: kv.store had no
  /// operand segments, and always both k and v; kv.matmul had none, one weight,
  /// and `out` on buffers.
  LogicalResult
  upgradeFromVersion(Operation *topLevelOp,
                     const DialectVersion &version) const override {
    if (static_cast<const BytecodeVersion &>(version).number >= 2)
      return success();
    topLevelOp->walk([](MatmulOp op) {
      auto &segments = op.getProperties().operandSegmentSizes;
      if (segments[0] == 0 && op->getNumOperands() >= 2)
        segments = {1, 1, static_cast<int32_t>(op->getNumOperands()) - 2};
    });
    topLevelOp->walk([](StoreOp op) {
      op.getProperties().operandSegmentSizes[2] =
          static_cast<int32_t>(op->getNumOperands()) - 4;
    });
    return success();
  }
};
} // namespace

/// The one rule for an attribute that files have since some version. To write
/// an operation with it to an older version is an error, and the operation is
/// written without properties. So even if a caller ignores the error, no reader
/// takes it for an operation without the attribute, which would compute
/// something else. Returns whether the file can hold `op`.
static bool canHold(Operation *op, DialectBytecodeWriter &writer,
                    Attribute attribute, StringRef name, uint64_t since) {
  uint64_t version = versionToWrite(writer);
  if (!attribute || version >= since)
    return true;
  op->emitOpError() << "has '" << name << "', which files of version "
                    << version << " cannot hold, only those since " << since;
  return false;
}

LogicalResult MatmulOp::readProperties(DialectBytecodeReader &reader,
                                       OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (versionOf(reader) >= 4 &&
      failed(reader.readOptionalAttribute(properties.formats)))
    return failure();
  return reader.readSparseArray(
      MutableArrayRef(properties.operandSegmentSizes));
}

void MatmulOp::writeProperties(DialectBytecodeWriter &writer) {
  if (!canHold(*this, writer, getProperties().formats, "formats", 4))
    return;
  if (versionToWrite(writer) >= 4)
    writer.writeOptionalAttribute(getProperties().formats);
  writer.writeSparseArray(ArrayRef(getProperties().operandSegmentSizes));
}

LogicalResult AttentionOp::readProperties(DialectBytecodeReader &reader,
                                          OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.collection)) ||
      failed(reader.readAttribute(properties.mask)) ||
      failed(reader.readAttribute(properties.scale)) ||
      failed(reader.readOptionalAttribute(properties.softcap)) ||
      (versionOf(reader) >= 7 &&
       failed(reader.readOptionalAttribute(properties.products))))
    return failure();
  if (failed(reader.readSparseArray(
          MutableArrayRef(properties.operandSegmentSizes))))
    return failure();
  return reader.readSparseArray(MutableArrayRef(properties.resultSegmentSizes));
}

void AttentionOp::writeProperties(DialectBytecodeWriter &writer) {
  if (!canHold(*this, writer, getProperties().products, "products", 7))
    return;
  writer.writeOptionalAttribute(getProperties().collection);
  writer.writeAttribute(getProperties().mask);
  writer.writeAttribute(getProperties().scale);
  writer.writeOptionalAttribute(getProperties().softcap);
  if (versionToWrite(writer) >= 7)
    writer.writeOptionalAttribute(getProperties().products);
  writer.writeSparseArray(ArrayRef(getProperties().operandSegmentSizes));
  writer.writeSparseArray(ArrayRef(getProperties().resultSegmentSizes));
}

LogicalResult PlanOp::readProperties(DialectBytecodeReader &reader,
                                     OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.collection)) ||
      failed(reader.readAttribute(properties.mask)) ||
      (versionOf(reader) >= 6 &&
       failed(reader.readOptionalAttribute(properties.tree))))
    return failure();
  return reader.readSparseArray(
      MutableArrayRef(properties.operandSegmentSizes));
}

void PlanOp::writeProperties(DialectBytecodeWriter &writer) {
  if (!canHold(*this, writer, getProperties().tree, "tree", 6))
    return;
  writer.writeOptionalAttribute(getProperties().collection);
  writer.writeAttribute(getProperties().mask);
  if (versionToWrite(writer) >= 6)
    writer.writeOptionalAttribute(getProperties().tree);
  writer.writeSparseArray(ArrayRef(getProperties().operandSegmentSizes));
}

LogicalResult RouteOp::readProperties(DialectBytecodeReader &reader,
                                      OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.normalised)) ||
      (versionOf(reader) >= 7 &&
       failed(reader.readOptionalAttribute(properties.sigmoid))) ||
      failed(reader.readSparseArray(
          MutableArrayRef(properties.operandSegmentSizes))))
    return failure();
  return reader.readSparseArray(MutableArrayRef(properties.resultSegmentSizes));
}

void RouteOp::writeProperties(DialectBytecodeWriter &writer) {
  if (!canHold(*this, writer, getProperties().sigmoid, "sigmoid", 7))
    return;
  writer.writeOptionalAttribute(getProperties().normalised);
  if (versionToWrite(writer) >= 7)
    writer.writeOptionalAttribute(getProperties().sigmoid);
  writer.writeSparseArray(ArrayRef(getProperties().operandSegmentSizes));
  writer.writeSparseArray(ArrayRef(getProperties().resultSegmentSizes));
}

void kv::addBytecodeInterface(KVDialect &dialect) {
  dialect.addInterfaces<KVBytecodeInterface>();
}
