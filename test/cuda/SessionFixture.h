//===- SessionFixture.h - An artifact on a CUDA device ----------*- C++ -*-===//
//
// Inputs/CudaArtifact.c through session, weights, manager and runner, and the
// same model computed here.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_CUDA_SESSIONFIXTURE_H
#define KV_TEST_CUDA_SESSIONFIXTURE_H

#include "CudaFixture.h"
#include "kv/Runtime/Manager/LoadKVCacheManager.h"
#include "kv/Runtime/Serving/ArtifactRunner.h"
#include "test/unit/TemporaryFile.h"
#include "test/unit/session/SafetensorsWriter.h"

#include <algorithm>

namespace kv::test {

using kv::cuda::narrow;
using kv::cuda::widen;

inline constexpr int Vocab = 96, Hidden = 64, Heads = 2, Dim = 64, Layers = 2,
                     Positions = 64;

struct Weights {
  std::vector<Bf16> embedding = randomValues<Bf16>(Vocab * Hidden, 1),
                    norm = randomValues<Bf16>(Hidden, 2),
                    qkv = randomValues<Bf16>((Heads + 2) * Dim * Hidden, 3),
                    output = randomValues<Bf16>(Hidden * Heads * Dim, 4);
  std::vector<float> angles;

  Weights() {
    for (int i = 0; i < Positions * Dim / 2; ++i) {
      angles.push_back(std::cos(float(i / (Dim / 2)) / float(1 + i % 32)));
      angles.push_back(std::sin(float(i / (Dim / 2)) / float(1 + i % 32)));
    }
    // Small, so that layers neither explode nor agree on one token.
    for (auto *list : {&qkv, &output})
      for (Bf16 &x : *list)
        x = narrow<Bf16>(widen(x) / 16);
  }

  /// `packed`: qkv in blocks of 16 rows, as a CPU wants it.
  std::string file(bool packed) const {
    std::vector<Bf16> rows = qkv;
    for (int n = 0; packed && n < (Heads + 2) * Dim; ++n)
      for (int k = 0; k < Hidden; ++k)
        rows[(n / 16 * Hidden + k) * 16 + n % 16] = qkv[n * Hidden + k];
    auto bytes = [](const std::vector<Bf16> &list) {
      return std::string(reinterpret_cast<const char *>(list.data()),
                         list.size() * 2);
    };
    SafetensorsWriter writer;
    writer.add("embedding", "BF16", {Vocab, Hidden}, bytes(embedding))
        .add("norm", "BF16", {Hidden}, bytes(norm))
        .add("output", "BF16", {Hidden, Heads * Dim}, bytes(output))
        .add("angles", {Positions, Dim}, angles);
    if (packed)
      writer
          .add("qkv", "BF16", {(Heads + 2) * Dim / 16, Hidden, 16}, bytes(rows))
          .metadata("layout.qkv", "n16k");
    else
      writer.add("qkv", "BF16", {(Heads + 2) * Dim, Hidden}, bytes(rows));
    return writer.bytes();
  }
};

inline float rounded(double x) { return widen(narrow<Bf16>(float(x))); }

using Row = std::vector<float>;

inline Row multiply(const std::vector<Bf16> &weight, const Row &x,
                    bool round = true) {
  Row out(weight.size() / x.size());
  for (size_t n = 0; n < out.size(); ++n) {
    double sum = 0;
    for (size_t k = 0; k < x.size(); ++k)
      sum += double(widen(weight[n * x.size() + k])) * x[k];
    out[n] = round ? rounded(sum) : float(sum);
  }
  return out;
}

/// The logits after each token of a sequence.
inline std::vector<Row> reference(const Weights &w,
                                  std::span<const int32_t> tokens) {
  std::vector<Row> x;
  for (int32_t token : tokens) {
    Row row;
    for (int i = 0; i < Hidden; ++i)
      row.push_back(widen(w.embedding[token * Hidden + i]));
    x.push_back(row);
  }
  for (int layer = 0; layer < Layers; ++layer) {
    std::vector<Row> all;
    for (size_t t = 0; t < x.size(); ++t) {
      double square = 0;
      for (float value : x[t])
        square += double(value) * value;
      Row normed;
      for (int i = 0; i < Hidden; ++i)
        normed.push_back(rounded(x[t][i] / std::sqrt(square / Hidden + 1e-5) *
                                 widen(w.norm[i])));
      Row qkv = multiply(w.qkv, normed);
      for (int h = 0; h < Heads + 1; ++h)
        for (int i = 0; i < Dim / 2; ++i) {
          float &a = qkv[h * Dim + i], &b = qkv[h * Dim + i + Dim / 2];
          double c = w.angles[t * Dim + 2 * i],
                 s = w.angles[t * Dim + 2 * i + 1];
          double turned = a * c - b * s;
          b = rounded(a * s + b * c);
          a = rounded(turned);
        }
      all.push_back(qkv);
    }
    for (size_t t = 0; t < x.size(); ++t) {
      Row mixed(Heads * Dim);
      for (int h = 0; h < Heads; ++h) {
        std::vector<double> weights;
        double sum = 0;
        for (size_t key = 0; key <= t; ++key) {
          double score = 0;
          for (int i = 0; i < Dim; ++i)
            score += double(all[t][h * Dim + i]) * all[key][Heads * Dim + i];
          weights.push_back(std::exp(score * 0.125));
          sum += weights.back();
        }
        for (int i = 0; i < Dim; ++i) {
          double value = 0;
          for (size_t key = 0; key <= t; ++key)
            value += weights[key] / sum * all[key][(Heads + 1) * Dim + i];
          mixed[h * Dim + i] = rounded(value);
        }
      }
      Row added = multiply(w.output, mixed);
      for (int i = 0; i < Hidden; ++i)
        x[t][i] = rounded(x[t][i] + added[i]);
    }
  }
  for (Row &row : x)
    row = multiply(w.embedding, row, /*round=*/false);
  return x;
}

class CudaSession : public ::testing::Test {
protected:
  const Device device{Device::Kind::CUDA, 0};
  DeviceBackend &backend = **device.backend();
  Weights weights;
  std::vector<std::string> notes;
  InferenceSession session = *InferenceSession::create(
      {.device = device, .threads = 1, .log = [this](std::string_view note) {
         notes.emplace_back(note);
       }});

  Model load(bool packed = false) {
    auto model = session.load(KV_CUDA_ARTIFACT);
    EXPECT_TRUE(model) << model.error().message;
    TemporaryFile file(weights.file(packed));
    auto bound = model->bindWeights(file.path());
    EXPECT_TRUE(bound) << bound.error().message;
    return *model;
  }
  void TearDown() override {
    EXPECT_TRUE(backend.synchronize());
    EXPECT_TRUE(fake::takeProblems().empty());
  }

  /// What loading a changed copy of the artifact says, after the file's name.
  std::string loadError(std::string_view from, std::string_view to,
                        InferenceSession &into) {
    std::string whole = readWhole(KV_CUDA_ARTIFACT);
    TemporaryFile file(from.empty() ? whole : replaced(whole, from, to));
    auto model = into.load(file.path());
    return model ? "no error"
                 : model.error().message.substr(file.path().string().size());
  }
};

/// Requests through manager and runner, as a server has them.
struct Serving {
  Model model;
  ForwardSignature signature = *ForwardSignature::from(model.manifest());
  std::unique_ptr<ArtifactRunner> runner =
      std::move(*ArtifactRunner::create(model, signature));
  std::unique_ptr<KVCacheManager> manager;

  Serving(Model loaded, bool prefixCache = false) : model(std::move(loaded)) {
    PagedKVCacheManager::Options options;
    options.devices = {model.device()};
    options.maxBatchSize = 4;
    options.maxSeqLen = 64;
    options.numPages = 12;
    for (KVCacheParams &one : signature.cache.params)
      one.enablePrefixCaching = prefixCache;
    auto made = loadKVCacheManager(signature.cache, options);
    EXPECT_TRUE(made) << made.error().message;
    manager = std::move(*made);
  }

  /// One step of these requests: the logits of each one's last token.
  std::vector<Row> step(std::span<TextGenerationContext *const> contexts) {
    std::vector<const TextGenerationContext *> batch(contexts.begin(),
                                                     contexts.end());
    std::vector<int32_t> tokens, offsets = {0}, rows;
    for (TextGenerationContext *context : contexts) {
      auto active = context->activeTokens();
      tokens.insert(tokens.end(), active.begin(), active.end());
      offsets.push_back(int32_t(tokens.size()));
      rows.push_back(int32_t(tokens.size()) - 1);
    }
    auto inputs = manager->runtimeInputs(batch);
    EXPECT_TRUE(inputs) << inputs.error().message;
    auto logits = runner->run({.tokens = tokens,
                               .rowOffsets = offsets,
                               .logitRows = rows,
                               .kv = *inputs});
    EXPECT_TRUE(logits) << logits.error().message;
    std::vector<Row> result;
    for (size_t i = 0; logits && i < rows.size(); ++i)
      result.emplace_back(logits->begin() + i * Vocab,
                          logits->begin() + (i + 1) * Vocab);
    return result;
  }
};

inline void expectNear(const Row &got, const Row &expected) {
  ASSERT_EQ(got.size(), expected.size());
  float largest = 0;
  for (float x : expected)
    largest = std::max(largest, std::fabs(x));
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], 0.03 * largest) << i;
}

inline int32_t best(const Row &row) {
  return int32_t(std::ranges::max_element(row) - row.begin());
}

} // namespace kv::test

#endif // KV_TEST_CUDA_SESSIONFIXTURE_H
