//===- BytecodeTest.cpp - Versions of the dialect's bytecode --------------===//

#include "kv/Dialect/Bytecode.h"

#include "kv/Dialect/KV.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;

namespace {
constexpr StringRef kText = R"mlir(
func.func private @f(!kv.collection<paged, bf16, layers = 30, heads = 3, dim = 64, page = 128>,
                       !kv.cache<paged, f16, layers = 2, heads = 5, dim = 32, page = 16>)
    attributes {a = #kv.mask<sliding = 7>, b = #kv.mask<none>, c = #kv.kernel<reference>}
)mlir";

class BytecodeTest : public testing::Test {
protected:
  BytecodeTest() {
    DialectRegistry registry;
    kv::registerKVDialect(registry);
    registry.insert<func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  static std::string print(Operation *operation) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    operation->print(stream);
    return text;
  }

  /// A module as a file of the given version; of the current one without.
  std::string write(std::optional<uint64_t> version = {},
                    StringRef text = kText) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module);
    BytecodeWriterConfig config;
    if (version)
      config.setDialectVersion<kv::KVDialect>(
          std::make_unique<kv::BytecodeVersion>(*version));
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(*module, stream, config)));
    return bytes;
  }

  /// What a file says, printed; the first error if it cannot be read.
  std::string read(StringRef bytes) {
    std::string error;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (error.empty())
        error = diagnostic.str();
      return success();
    });
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(bytes, ParserConfig(&context));
    return module ? print(*module) : "error: " + error;
  }

  std::string parsed(StringRef text = kText) {
    return print(*parseSourceString<ModuleOp>(text, ParserConfig(&context)));
  }

  MLIRContext context;
};

TEST_F(BytecodeTest, RoundTrip) { EXPECT_EQ(read(write()), parsed()); }

TEST_F(BytecodeTest, TypesAndAttributesAreNumbers) {
  std::string bytes = write();
  EXPECT_EQ(bytes.find("collection<"), std::string::npos);
  EXPECT_EQ(bytes.find("kv.cache"), std::string::npos);
  EXPECT_EQ(bytes.find("paged"), std::string::npos);
  EXPECT_EQ(bytes.find("sliding"), std::string::npos);
  EXPECT_EQ(bytes.find("reference"), std::string::npos);
}

TEST_F(BytecodeTest, CurrentVersionIsTheDefault) {
  EXPECT_EQ(write(), write(kv::BytecodeVersion::kCurrent));
}

TEST_F(BytecodeTest, OlderVersionIsWrittenAndRead) {
  std::string bytes = write(0);
  EXPECT_NE(bytes.find("#kv.mask<sliding = 7>"), std::string::npos);
  EXPECT_NE(bytes.find("!kv.collection<paged"), std::string::npos);
  EXPECT_EQ(read(bytes), parsed());
}

TEST_F(BytecodeTest, NewerVersionIsRefused) {
  uint64_t newest = kv::BytecodeVersion::kCurrent;
  EXPECT_THAT(
      read(write(newest + 1)),
      testing::HasSubstr(
          (llvm::Twine("written with version ") + llvm::Twine(newest + 1) +
           " of the kv dialect, this tool reads up to " + llvm::Twine(newest))
              .str()));
}

/// What a version before an attribute cannot say is an error when it is
/// written, and such a file is not read as an operation without.
TEST_F(BytecodeTest, AttributesAreNotLost) {
  struct Case {
    std::string name, spelling;
    uint64_t since;
    std::string text;
  } cases[] = {
      {"products", "products f8E4M3FN", 7, R"mlir(
!kv = !kv.collection<paged, f8E4M3FN, layers = 2, heads = 1, dim = 64, page = 16>
func.func @f(%q: tensor<?x1x64xf32>, %kv: !kv, %rows: tensor<?xi32>, %l: index) -> tensor<?x1x64xf32> {
  %o = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.125 ATTRIBUTE
      : tensor<?x1x64xf32> in !kv, tensor<?xi32> -> tensor<?x1x64xf32>
  return %o : tensor<?x1x64xf32>
}
)mlir"},
      {"sigmoid", "sigmoid", 7, R"mlir(
func.func @f(%l: tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %e, %s = kv.route %l ATTRIBUTE : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  return %e, %s : tensor<?x2xi32>, tensor<?x2xf32>
}
)mlir"},
      {"tree", "tree", 6, R"mlir(
!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 4>
func.func @f(%kv: !kv, %rows: tensor<?xi32>) -> tensor<?x4xi32> {
  %p = kv.plan %kv rows %rows mask <causal> ATTRIBUTE : !kv, tensor<?xi32> -> tensor<?x4xi32>
  return %p : tensor<?x4xi32>
}
)mlir"},
      {"formats", "{formats = [#kv.quant<q4_k>]}", 4, R"mlir(
func.func @f(%x: memref<?x256xf32>, %w: memref<2x1x2368xi8>, %y: memref<?x32xf32>) {
  kv.matmul %x, %w outs(%y) ATTRIBUTE : memref<?x256xf32>, memref<2x1x2368xi8> outs memref<?x32xf32>
  return
}
)mlir"},
  };
  for (const Case &one : cases) {
    SCOPED_TRACE(one.name);
    std::string with = one.text, without = one.text;
    size_t place = one.text.find("ATTRIBUTE");
    with.replace(place, 9, one.spelling);
    without.replace(place, 9, "");
    EXPECT_EQ(read(write({}, with)), parsed(with));
    std::string told;
    {
      ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
        told += diagnostic.str();
        return success();
      });
      // Of quantised weights no version could do without.
      if (one.name != "formats") {
        EXPECT_EQ(read(write(one.since - 1, without)), parsed(without));
        EXPECT_EQ(told, "");
      }
      EXPECT_THAT(read(write(one.since - 1, with)),
                  testing::StartsWith("error: "));
    }
    EXPECT_THAT(told, testing::HasSubstr("has '" + one.name +
                                         "', which files of version " +
                                         std::to_string(one.since - 1) +
                                         " cannot hold, only those since " +
                                         std::to_string(one.since)));
  }
}

/// Numbers that this version does not know, and values that no verifier takes:
/// errors that say so.
TEST_F(BytecodeTest, DamagedFiles) {
  // A number is a varint: (n << 1) | 1 while it fits one byte; signed ones are
  // zigzag before. The mask is its code, kind and window.
  const std::string mask = "\x01\x05\x1d";
  // The layers and heads of the collection.
  const std::string geometry = "\x79\x0d\x02\x02";
  struct Case {
    std::string from, to, message;
  } cases[] = {
      {mask, "\x0b\x05\x1d", "no attribute of the kv dialect has the code 5"},
      {mask, "\x01\x13\x1d", "no mask has the number 9"},
      {mask, "\x01\x05\x01", "mask 'sliding' needs a positive window, not 0"},
      {geometry, "\x79\x01\x02\x02",
       "collection: 'heads' must be positive, not 0"},
  };
  std::string bytes = write();
  for (const Case &damage : cases) {
    size_t place = bytes.find(damage.from);
    ASSERT_NE(place, std::string::npos) << damage.message;
    ASSERT_EQ(bytes.find(damage.from, place + 1), std::string::npos);
    std::string damaged = bytes;
    damaged.replace(place, damage.to.size(), damage.to);
    EXPECT_THAT(read(damaged), testing::HasSubstr(damage.message));
  }
}
} // namespace
