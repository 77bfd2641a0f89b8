//===- CacheEngineModelTest.cpp - The engine against a map ----------------===//
//
// Random operations on small pools. The model knows prefixes, not pages: a map
// from (epoch, tokens up to a page's end) to references and time of release. It
// predicts every hit, refusal, eviction and count. Beside it, each page has a
// memory that only "computation" writes: what a sequence reads back through
// its pages must be its own tokens.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/CacheEngine.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

using namespace kv;

namespace {

using Tokens = std::vector<int32_t>;

struct Model {
  struct Entry {
    int holds = 0;
    int64_t released = 0;
  };
  struct Request {
    Tokens tokens;
    int64_t processed = 0;
    int pages = 0, committed = 0, epoch = 0;
  };
  struct Outcome {
    bool fits;
    int hits;
  };

  int total, pageSize;
  bool caching;
  int epoch = 0;
  int64_t clock = 0, evictions = 0;
  int privatePages = 0;
  std::map<std::pair<int, Tokens>, Entry> entries = {};

  std::pair<int, Tokens> key(const Request &request, int page) const {
    return {request.epoch,
            Tokens(request.tokens.begin(),
                   request.tokens.begin() + (page + 1) * pageSize)};
  }
  int blank() const {
    return total - privatePages - static_cast<int>(entries.size());
  }
  int free() const {
    int result = blank();
    for (const auto &[key, entry] : entries)
      result += entry.holds == 0;
    return result;
  }

  Outcome reserve(Request &request, int64_t length) {
    int hits = 0, revived = 0;
    if (caching && request.epoch == epoch &&
        request.pages == request.committed) {
      int last = (static_cast<int>(request.tokens.size()) - 1) / pageSize;
      for (int page = request.committed; page < last; ++page, ++hits) {
        auto at = entries.find(key(request, page));
        if (at == entries.end())
          break;
        revived += at->second.holds == 0;
      }
    }
    int needed = static_cast<int>((length + pageSize - 1) / pageSize);
    int fresh = std::max(0, needed - request.pages - hits);
    if (fresh + revived > free())
      return {false, hits};
    for (int i = 0; i < hits; ++i)
      ++entries[key(request, request.committed++)].holds;
    if (hits)
      request.processed = int64_t(request.committed) * pageSize;
    for (int i = 0; i < fresh; ++i) {
      if (blank() == 0) {
        auto victim = entries.end();
        for (auto at = entries.begin(); at != entries.end(); ++at)
          if (at->second.holds == 0 &&
              (victim == entries.end() ||
               at->second.released < victim->second.released))
            victim = at;
        entries.erase(victim);
        ++evictions;
      }
      ++privatePages;
    }
    request.pages += hits + fresh;
    return {true, hits};
  }

  void commit(Request &request, int64_t processed) {
    request.processed = processed;
    if (!caching || request.epoch != epoch)
      return;
    for (; (request.committed + 1) * pageSize <= processed;
         ++request.committed) {
      ++entries[key(request, request.committed)].holds;
      --privatePages;
    }
  }

  void release(Request &request) {
    privatePages -= request.pages - request.committed;
    for (int page = request.committed; page-- > 0;) {
      auto at = entries.find(key(request, page));
      if (--at->second.holds > 0)
        continue;
      if (request.epoch != epoch)
        entries.erase(at);
      else
        at->second.released = ++clock;
    }
  }
};

struct OpenRequest {
  Sequence sequence;
  Model::Request request;
};

uint64_t weakTag(uint64_t, NodeRef, std::span<const int32_t> tokens) {
  return uint64_t(tokens[0] & 1) << 63;
}

struct Parameters {
  int pages, pageSize;
  bool caching;
  PrefixIndex::TagFunction tag;
};

class CacheEngineModel : public testing::TestWithParam<Parameters> {};

} // namespace

TEST_P(CacheEngineModel, Agrees) {
  Parameters parameters = GetParam();
  std::mt19937 random(parameters.pages * 1000 + parameters.pageSize);
  auto below = [&](int limit) { return static_cast<int>(random() % limit); };
  CacheEngine engine({.numPages = parameters.pages,
                      .pageSize = parameters.pageSize,
                      .prefixCaching = parameters.caching,
                      .tagFunction = parameters.tag});
  Model model = {.total = parameters.pages,
                 .pageSize = parameters.pageSize,
                 .caching = parameters.caching};
  std::vector<Tokens> memory(parameters.pages + 1, Tokens(parameters.pageSize));
  std::vector<std::unique_ptr<OpenRequest>> runs;
  int64_t hitPages = 0, refusals = 0;

  for (int step = 0; step < 20000; ++step) {
    int operation = below(100);
    if (operation < 20 && runs.size() < 4) {
      auto run = std::make_unique<OpenRequest>();
      int length = 1 + below(parameters.pageSize * (parameters.pages + 2));
      // Two letters, mostly the first: many shared prefixes.
      for (int i = 0; i < length; ++i)
        run->request.tokens.push_back(below(4 * parameters.pageSize) == 0);
      run->request.epoch = model.epoch;
      engine.open(run->sequence, 2 * parameters.pages + 4);
      runs.push_back(std::move(run));
    } else if (operation < 60 && !runs.empty()) {
      OpenRequest &run = *runs[below(runs.size())];
      Model::Request &request = run.request;
      int64_t length =
          request.processed + 1 + below(2 * parameters.pageSize + 1);
      length = std::max<int64_t>(length, int64_t(request.pages) *
                                             parameters.pageSize * below(2));
      std::vector<PageId> before = run.sequence.pages();
      Model::Outcome expected = model.reserve(request, length);
      CacheEngine::Plan plan =
          engine.reserve(run.sequence, request.tokens, {.length = length});
      ASSERT_EQ(plan.fits, expected.fits) << "step " << step;
      ASSERT_EQ(plan.hitPages, expected.hits) << "step " << step;
      if (!plan.fits) {
        ASSERT_EQ(run.sequence.pages(), before);
      }
      hitPages += plan.fits ? plan.hitPages : 0;
      refusals += !plan.fits;
      ASSERT_EQ(run.sequence.processedTokens(), request.processed);
    } else if (operation < 80 && !runs.empty()) {
      OpenRequest &run = *runs[below(runs.size())];
      Model::Request &request = run.request;
      int64_t room = int64_t(request.pages) * parameters.pageSize;
      if (room > static_cast<int64_t>(request.tokens.size()) && below(2))
        request.tokens.push_back(below(4 * parameters.pageSize) ==
                                 0); // a generated token
      room = std::min<int64_t>(room, request.tokens.size());
      if (room <= request.processed)
        continue;
      int64_t processed =
          request.processed + 1 + below(room - request.processed);
      for (int64_t i = request.processed; i < processed; ++i)
        memory[run.sequence.pages()[i / parameters.pageSize]]
              [i % parameters.pageSize] = request.tokens[i];
      model.commit(request, processed);
      engine.commit(run.sequence, request.tokens, processed);
    } else if (operation < 99 && !runs.empty()) {
      size_t at = below(runs.size());
      model.release(runs[at]->request);
      engine.release(runs[at]->sequence);
      runs.erase(runs.begin() + at);
    } else if (operation >= 99) {
      ++model.epoch;
      engine.resetPrefixes();
    }

    std::vector<const Sequence *> open;
    for (const auto &run : runs) {
      open.push_back(&run->sequence);
      ASSERT_EQ(static_cast<int>(run->sequence.pages().size()),
                run->request.pages);
      ASSERT_EQ(run->sequence.committedPages(), run->request.committed);
      for (int64_t i = 0; i < run->request.processed; ++i)
        ASSERT_EQ(memory[run->sequence.pages()[i / parameters.pageSize]]
                        [i % parameters.pageSize],
                  run->request.tokens[i])
            << "step " << step << " position " << i;
    }
    ASSERT_EQ(engine.check(open), "") << "step " << step;
    ASSERT_EQ(engine.pool().numFree(), model.free()) << "step " << step;
    ASSERT_EQ(engine.numEvictions(), model.evictions) << "step " << step;
  }
  EXPECT_GT(refusals, 100);
  if (parameters.caching) {
    if (parameters.pages > 1) {
      EXPECT_GT(hitPages, 200);
    }
    EXPECT_GT(model.evictions, 100);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pools, CacheEngineModel,
    testing::Values(Parameters{12, 1, true, PrefixIndex::defaultTag},
                    Parameters{9, 3, true, PrefixIndex::defaultTag},
                    Parameters{9, 2, true, weakTag},
                    Parameters{5, 16, true, PrefixIndex::defaultTag},
                    Parameters{1, 2, true, PrefixIndex::defaultTag},
                    Parameters{7, 2, false, PrefixIndex::defaultTag}));
