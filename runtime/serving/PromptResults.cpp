//===- PromptResults.cpp - What requests want of their prompts ------------===//

#include "kv/Runtime/Serving/TextGenerator.h"

#include <algorithm>

using namespace kv;

/// The row at a position of the prompt: it predicts the token after it.
void TextGenerator::passPromptRow(ActiveRequest &request, int64_t position,
                                  std::span<const float> row) {
  const GenerationRequest &asked = *request.request;
  if (asked.promptLogits)
    sink.promptLogits(asked, position, row);
  if (asked.promptLogprobs < 0 || position + 1 == request.promptTokens())
    return;
  TokenLogprobs found =
      reader.logprobs(row, asked.tokens[position + 1],
                      std::max(asked.promptLogprobs, kept.ranks()));
  auto first = [&](int32_t count) {
    return found.top.first(std::min<size_t>(count, found.top.size()));
  };
  if (!request.payload.empty())
    kept.write(request.payload, position + 1,
               {found.chosen, found.rank, first(kept.ranks())});
  found.top = first(asked.promptLogprobs);
  sink.logprobs(asked, position + 1, found);
}

void TextGenerator::passPayload(ActiveRequest &request) {
  const GenerationRequest &asked = *request.request;
  int64_t cached = request.context.processed();
  if (request.payload.empty())
    return;
  if (cached >= request.promptTokens())
    return request.setPayload(0); // its pages have it
  for (int64_t &at = request.promptLogits; at < cached; ++at)
    sink.logprobs(asked, at + 1,
                  kept.read(request.payload, at + 1, asked.tokens[at + 1],
                            asked.promptLogprobs, top));
}

/// A request that was preempted computes again what it has.
bool TextGenerator::needsHidden(const ActiveRequest &request,
                                int64_t position) {
  switch (request.request->embedding) {
  case Embedding::None:
    return false;
  case Embedding::Last:
    return position + 1 == request.promptTokens();
  case Embedding::Mean:
    return position >= request.hiddenCount;
  }
}

/// Rows come in their order, whatever the steps are: equal bits.
void TextGenerator::addHidden(ActiveRequest &request,
                              std::span<const float> row) {
  request.hiddenSum.resize(row.size());
  for (size_t i = 0; i < row.size(); ++i)
    request.hiddenSum[i] += row[i];
  ++request.hiddenCount;
}

void TextGenerator::passEmbedding(const ActiveRequest &request) {
  auto count = static_cast<double>(request.hiddenCount);
  std::vector<float> mean(request.hiddenSum.size());
  std::ranges::transform(request.hiddenSum, mean.begin(), [&](double sum) {
    return static_cast<float>(sum / count);
  });
  sink.embedding(*request.request, mean);
}
