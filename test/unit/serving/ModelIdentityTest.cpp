//===- ModelIdentityTest.cpp - Which files compute pages ------------------===//

#include "kv/Runtime/Serving/ModelIdentity.h"

#include "test/unit/TemporaryFile.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

struct Files {
  TemporaryFile artifact{"code"}, weights{"numbers"};
  ModelIdentity identity() const {
    return {artifact.path().string(), weights.path().string()};
  }
};

Manifest manifestOf(const std::string &cpu, const std::string &activations) {
  Manifest manifest;
  manifest.model.name = "tiny";
  manifest.targetKind = "cpu";
  manifest.targetCpu = cpu;
  manifest.activations = activations;
  return manifest;
}

} // namespace

/// Weights of tens of gigabytes are not read for each name.
TEST(ModelIdentity, ReadsAFileOnce) {
  Files files;
  ModelIdentity one = files.identity();
  Manifest manifest = manifestOf("x86-64-v4", "");
  std::string pages = *one.ofPages();
  std::string peers = *files.identity().ofPeers(manifest);
  files.artifact.write("other code");
  files.weights.write("other numbers");
  EXPECT_EQ(*one.ofPages(), pages);
  EXPECT_EQ(*one.ofPeers(manifest), peers);
  EXPECT_NE(*files.identity().ofPages(), pages);
  EXPECT_NE(*files.identity().ofPeers(manifest), peers);
}

TEST(ModelIdentity, FollowsFromWhatDecidesAboutBits) {
  Files files;
  std::string pages = *files.identity().ofPages();
  auto peers = [&](const std::string &cpu, const std::string &activations) {
    return *files.identity().ofPeers(manifestOf(cpu, activations));
  };
  std::string plain = peers("x86-64-v4", "");
  // Pages of other code are none of ours; a peer may have another processor.
  EXPECT_EQ(peers("x86-64-v3", ""), plain);
  EXPECT_EQ(peers("x86-64-v4-amx", ""), plain);
  EXPECT_NE(peers("x86-64-v4", "bf16"), plain);
  EXPECT_NE(peers("x86-64-v4-amx", "bf16"), peers("x86-64-v4", "bf16"));
  files.artifact.write("other code");
  EXPECT_NE(*files.identity().ofPages(), pages);
  EXPECT_EQ(peers("x86-64-v4", ""), plain);
  files.weights.write("number5");
  EXPECT_NE(peers("x86-64-v4", ""), plain);
}

TEST(ModelIdentity, NamesTheFileThatCannotBeRead) {
  Files files;
  ModelIdentity identity(files.artifact.path().string(), "/no/such/file");
  EXPECT_EQ(identity.ofPages().error().message,
            "/no/such/file: No such file or directory");
  EXPECT_EQ(identity.ofPeers({}).error().message,
            "/no/such/file: No such file or directory");
}
