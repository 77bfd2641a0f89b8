//===- FakeModel.h - A model whose cache is its memory ----------*- C++ -*-===//
//
// Stores each token in the cache at its position, and computes logits from the
// history that it reads back through the lookup table. A wrong page, a stale
// page or a skipped position changes the tokens that come out.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_FAKEMODEL_H
#define KV_TEST_UNIT_FAKEMODEL_H

#include "kv/Runtime/Serving/LogitRules.h"
#include "kv/Runtime/Serving/ModelRunner.h"
#include "kv/Runtime/Serving/Sampler.h"

#include <algorithm>
#include <functional>

namespace kv::test {

/// One f32 for keys and one for values a token.
inline KVCacheParams fakeParams(int64_t pageSize) {
  return {.geometry = {.dtype = KV_DTYPE_F32,
                       .layers = 1,
                       .heads = 1,
                       .dim = 1,
                       .page = pageSize},
          .enablePrefixCaching = true};
}

class FakeModel : public ModelRunner {
public:
  static constexpr int64_t Vocab = 50;

  /// The logits that follow `history`.
  static std::vector<float> logits(std::span<const int32_t> history) {
    uint64_t state = 0x1234;
    for (int32_t token : history)
      state = (state ^ static_cast<uint64_t>(token)) * 0x9E3779B97F4A7C15ull +
              (state >> 29);
    std::vector<float> row;
    for (int64_t token = 0; token < Vocab; ++token) {
      uint64_t bits = (state + token) * 0xBF58476D1CE4E5B9ull;
      bits = (bits ^ (bits >> 31)) * 0x94D049BB133111EBull;
      row.push_back(static_cast<float>(bits >> 40) / (1 << 22));
    }
    return row;
  }

  /// What `request` gets from this model when it is alone and has all memory.
  /// Ends before a stop token.
  template <class Request>
  static std::vector<int32_t> answer(const Request &request,
                                     int64_t maxSeqLen) {
    std::vector<int32_t> history = request.tokens, result;
    Sampler sampler;
    LogitReader reader;
    while (static_cast<int64_t>(result.size()) < request.maxNewTokens &&
           static_cast<int64_t>(history.size()) < maxSeqLen) {
      std::vector<float> computed = logits(history);
      std::span<const float> row = computed;
      if constexpr (requires { request.rules; })
        row = *reader.apply(request.rules, row, history, request.tokens.size(),
                            request.stopTokens);
      int32_t token = *sampler.sample(row, request.sampling, result.size());
      for (int32_t stop : request.stopTokens)
        if (token == stop)
          return result;
      history.push_back(token);
      result.push_back(token);
    }
    return result;
  }

  int64_t vocabSize() const override { return Vocab; }

  Expected<std::span<const float>> run(const ModelStep &step) override {
    ++steps;
    stepsElsewhere += step.replica != 0;
    std::vector<int64_t> shape;
    const KvTensorView &blocks = step.kv[0].blocks;
    // A continuous cache is one page a sequence; slot 0 is an ordinary one.
    bool paged = step.kv[0].lookupTable.rank == 2;
    int64_t pageSize = blocks.sizes[3];
    int64_t pitch = paged ? step.kv[0].lookupTable.sizes[1] : 1;
    float *cells = static_cast<float *>(blocks.data);
    auto *lengths = static_cast<const int32_t *>(step.kv[0].cacheLengths.data);
    auto *table = static_cast<const int32_t *>(step.kv[0].lookupTable.data);
    output.clear();
    size_t logitRow = 0;
    for (size_t b = 0; b + 1 < step.rowOffsets.size(); ++b) {
      int32_t first = step.rowOffsets[b], last = step.rowOffsets[b + 1];
      shape.push_back(last - first);
      auto cell = [&](int64_t position) -> float & {
        int64_t page = table[b * pitch + position / pageSize];
        return cells[(page * 2) * pageSize + position % pageSize];
      };
      for (int32_t row = first; row < last; ++row) {
        int64_t position = lengths[b] + row - first;
        if (paged && table[b * pitch + position / pageSize] <= 0)
          return makeError(KV_STATUS_INTERNAL, "a row writes the null page");
        cell(position) = static_cast<float>(step.tokens[row]);
        if (logitRow == step.logitRows.size() ||
            step.logitRows[logitRow] != row)
          continue;
        ++logitRow;
        std::vector<int32_t> history;
        for (int64_t at = 0; at <= position; ++at)
          history.push_back(static_cast<int32_t>(cell(at)));
        std::vector<float> computed = logits(history);
        output.insert(output.end(), computed.begin(), computed.end());
      }
    }
    shapes.push_back(shape);
    if (logitRow != step.logitRows.size())
      return makeError(KV_STATUS_INTERNAL, "a logit row is out of range");
    if (sabotage)
      return sabotage(steps, output);
    return std::span<const float>(output);
  }

  bool canChoose() const override { return chooses; }
  Expected<std::span<const int32_t>>
  choose(const ModelStep &step,
         std::span<const sampling::Choice> choices) override {
    Expected<std::span<const float>> rows = run(step);
    if (!rows)
      return std::unexpected(rows.error());
    chosen.clear();
    sampling::RowSampler sampler;
    for (size_t i = 0; i < choices.size(); ++i)
      chosen.push_back(
          sampler.sample(rows->subspan(i * Vocab, Vocab), choices[i]));
    return std::span<const int32_t>(chosen);
  }

  bool chooses = false; // as a device does that keeps its logits
  int steps = 0;
  int stepsElsewhere = 0; // than on replica 0
  /// Of each step: the new tokens of each sequence.
  std::vector<std::vector<int64_t>> shapes;
  /// Replaces the result of a step.
  std::function<Expected<std::span<const float>>(int step,
                                                 std::vector<float> &)>
      sabotage;

private:
  std::vector<float> output;
  std::vector<int32_t> chosen;
};

/// Guesses what follows the answer in `tokens`.
inline auto guess(std::vector<int32_t> tokens) {
  return [tokens = std::move(tokens)](std::span<const int32_t> answer,
                                      std::span<int32_t> drafts) {
    int64_t left = std::ssize(tokens) - std::ssize(answer);
    int64_t count = std::clamp<int64_t>(left, 0, std::ssize(drafts));
    std::copy_n(tokens.begin() + std::ssize(answer), count, drafts.begin());
    return count;
  };
}

} // namespace kv::test

#endif // KV_TEST_UNIT_FAKEMODEL_H
