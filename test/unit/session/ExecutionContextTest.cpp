//===- ExecutionContextTest.cpp - The function table ----------------------===//

#include "kv/Runtime/Device/ExecutionContext.h"
#include "kv/Runtime/Device/Buffer.h"

#include <atomic>
#include <gtest/gtest.h>

using namespace kv;

namespace {

class Context : public ::testing::Test {
protected:
  ThreadPool pool{3};
  std::unique_ptr<ExecutionContext> context =
      std::move(*ExecutionContext::create(pool, 1 << 20));
  KvContext *abi = context->abi();
  const KvFunctionTable *functions = abi->functions;

  std::string message() const {
    auto result = context->result();
    return result ? "" : result.error().message;
  }
};

TEST_F(Context, EveryRowIsThere) {
  EXPECT_EQ(abi->abiVersion, uint32_t(KV_ABI_VERSION));
#define KV_FUNCTION(Name, Result, Where, ...)                                  \
  EXPECT_NE(functions->Name, nullptr) << #Name;
#include "kv/ABI/Symbols.def"
}

TEST_F(Context, RowsOfDevices) {
  EXPECT_EQ(functions->planBytes(abi, nullptr, 1, 1, 1), 0);
  EXPECT_EQ(abi->status, KV_STATUS_UNSUPPORTED);
  EXPECT_EQ(message(), "'planBytes' runs on a device with kernels of its own "
                       "and was called on a CPU: compile the model for a CPU");
  context->reset();
  functions->matmul(abi, nullptr, nullptr, nullptr);
  EXPECT_EQ(message(), "'matmul' runs on a device with kernels of its own and "
                       "was called on a CPU: compile the model for a CPU");
}

TEST_F(Context, IndicesAreChecked) {
  char name[] = "tokens";
  auto check = [&](const KvTensorView &view, int64_t count) {
    context->reset();
    functions->checkIndices(abi, &view, name, count);
    return message();
  };
  int32_t narrow[] = {0, 4, -1, 2, 5, 3};
  EXPECT_EQ(check(makeView(narrow, DType::I32, {2}), 5), "");
  EXPECT_EQ(check(makeView(narrow, DType::I32, {2}), 4),
            "tokens: element 1 is 4, allowed: 0 to 3");
  EXPECT_EQ(abi->status, KV_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(check(makeView(narrow, DType::I32, {2, 3}), 9),
            "tokens: element 2 is -1, allowed: 0 to 8");
  EXPECT_EQ(check(makeView(narrow, DType::I32, {1}), 0),
            "tokens: element 0 is 0, allowed: none, there are no rows");
  EXPECT_EQ(check(makeView(nullptr, DType::I32, {0}), 0), "");
  // Every third element.
  KvTensorView apart = makeView(narrow, DType::I32, {2});
  apart.offset = 1;
  apart.strides[0] = 3;
  EXPECT_EQ(check(apart, 5), "tokens: element 1 is 5, allowed: 0 to 4");
  EXPECT_EQ(check(apart, 6), "");
  int64_t wide[] = {7, int64_t(1) << 32};
  EXPECT_EQ(check(makeView(wide, DType::I64, {2}), 8),
            "tokens: element 1 is 4294967296, allowed: 0 to 7");
}

TEST_F(Context, FirstErrorStays) {
  functions->recordError(abi, KV_STATUS_OUT_OF_RANGE,
                         const_cast<char *>("first"));
  functions->recordError(abi, KV_STATUS_INTERNAL, const_cast<char *>("second"));
  EXPECT_EQ(abi->status, KV_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(message(), "first");
  context->reset();
  EXPECT_EQ(abi->status, KV_STATUS_OK);
  EXPECT_EQ(message(), "");
}

TEST_F(Context, OneOfManyThreadsRecords) {
  auto body = [](KvContext *ctx, void *, int64_t, int64_t) {
    ctx->functions->recordError(ctx, KV_STATUS_INTERNAL,
                                const_cast<char *>("some thread's message"));
  };
  for (int round = 0; round < 200; ++round) {
    context->reset();
    functions->parallelFor(
        abi, reinterpret_cast<void *>(static_cast<KvParallelBody>(body)),
        nullptr, 30, 1);
    ASSERT_EQ(message(), "some thread's message");
  }
}

TEST_F(Context, LoopsAfterAnErrorDoNotRun) {
  std::atomic<int64_t> count = 0;
  auto body = [](KvContext *, void *env, int64_t lo, int64_t hi) {
    *static_cast<std::atomic<int64_t> *>(env) += hi - lo;
  };
  void *pointer = reinterpret_cast<void *>(static_cast<KvParallelBody>(body));
  functions->parallelFor(abi, pointer, &count, 100, 1);
  EXPECT_EQ(count, 100);
  context->recordError(KV_STATUS_INTERNAL, "stop");
  functions->parallelFor(abi, pointer, &count, 100, 1);
  EXPECT_EQ(count, 100);
}

// Code that goes on after an error still needs memory to write to.
TEST_F(Context, ArenaWorksAfterAnError) {
  context->recordError(KV_STATUS_INTERNAL, "stop");
  int64_t mark = functions->arenaMark(abi);
  EXPECT_NE(functions->arenaAlloc(abi, 100), nullptr);
  functions->arenaRelease(abi, mark);
  EXPECT_EQ(context->arena().used(), 0u);
}

TEST_F(Context, ExhaustedArena) {
  EXPECT_EQ(functions->arenaAlloc(abi, 2 << 20), nullptr);
  EXPECT_EQ(message(), "the arena: 2097152 bytes asked for, 1048576 of "
                       "1048576 are free");
  KvEntry entry = [](KvContext *ctx, const KvTensorView *, int32_t) {
    *static_cast<char *>(ctx->functions->arenaAlloc(ctx, 1L << 40)) = 1;
    return 0;
  };
  auto done = context->call(entry, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, KV_STATUS_OUT_OF_MEMORY);
  // The context is as good as new.
  KvEntry good = [](KvContext *ctx, const KvTensorView *, int32_t) {
    *static_cast<char *>(ctx->functions->arenaAlloc(ctx, 100)) = 1;
    return ctx->status;
  };
  EXPECT_TRUE(context->call(good, {}));
  EXPECT_EQ(context->arena().used(), 0u);
}

TEST_F(Context, StatusWithoutMessage) {
  KvEntry entry = [](KvContext *, const KvTensorView *, int32_t) {
    return int32_t(KV_STATUS_UNSUPPORTED);
  };
  auto done = context->call(entry, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, KV_STATUS_UNSUPPORTED);
  EXPECT_EQ(done.error().message,
            "the entry returned status 4 without a message");
}

TEST_F(Context, ArenaReturn) {
  int64_t mark = functions->arenaMark(abi);
  functions->arenaAlloc(abi, 64);
  auto *kept = static_cast<char *>(functions->arenaAlloc(abi, 3));
  kept[0] = 'k';
  void *pointers[] = {kept};
  int64_t bytes[] = {3};
  functions->arenaReturn(abi, mark, pointers, bytes, 1);
  EXPECT_EQ(pointers[0], kept - 64);
  EXPECT_EQ(kept[-64], 'k');
  EXPECT_EQ(context->arena().used(), 64u);
}

class Arguments : public Context {
protected:
  std::vector<KvArgumentSpec> specs = {
      {KV_DTYPE_I32, 1, {-1}, "tokens"},
      {KV_DTYPE_F32, 3, {-1, 4, -2}, "x"},
      {KV_DTYPE_F32, 2, {-2, -1}, "y"},
  };
  std::vector<float> memory = std::vector<float>(1000);
  std::vector<KvTensorView> args = {
      makeView(memory.data(), DType::I32, {5}),
      makeView(memory.data(), DType::F32, {5, 4, 3}),
      makeView(memory.data(), DType::F32, {3, 5}),
  };

  std::string check() {
    context->reset();
    int32_t status = functions->checkArguments(abi, specs.data(), specs.size(),
                                               args.data(), args.size());
    EXPECT_EQ(status, abi->status);
    return message();
  }
};

TEST_F(Arguments, Good) { EXPECT_EQ(check(), ""); }

TEST_F(Arguments, Count) {
  args.pop_back();
  EXPECT_EQ(check(), "the entry takes 3 arguments, 2 are given");
}

TEST_F(Arguments, ElementType) {
  args[0].dtype = KV_DTYPE_I64;
  EXPECT_EQ(check(),
            "argument 0 (tokens) has the element type i64, expected i32");
}

TEST_F(Arguments, Rank) {
  args[1].rank = 2;
  EXPECT_EQ(check(), "argument 1 (x) has rank 2, expected 3");
}

TEST_F(Arguments, StaticSize) {
  args[1] = makeView(memory.data(), DType::F32, {5, 6, 3});
  EXPECT_EQ(check(), "argument 1 (x) is f32[5, 6, 3], expected the size 4 in "
                     "dimension 1");
}

TEST_F(Arguments, SymbolIsBoundOnce) {
  args[2] = makeView(memory.data(), DType::F32, {3, 6});
  EXPECT_EQ(check(), "argument 2 (y) is f32[3, 6], expected the size 5 in "
                     "dimension 1, as dimension 0 of argument 0 (tokens)");
}

TEST_F(Arguments, NegativeSize) {
  args[0].sizes[0] = -5;
  EXPECT_EQ(check(), "argument 0 (tokens) has the size -5 in dimension 0");
}

TEST_F(Arguments, Dense) {
  args[1].strides[0] = 24;
  EXPECT_EQ(check(), "argument 1 (x) has the stride 24 in dimension 0, "
                     "expected 12 (dense, row-major)");
}

TEST_F(Arguments, NoMemory) {
  args[2].data = nullptr;
  EXPECT_EQ(check(), "argument 2 (y) has no memory");
}

TEST_F(Arguments, EmptyNeedsNoMemory) {
  args = {makeView(nullptr, DType::I32, {0}),
          makeView(nullptr, DType::F32, {0, 4, 3}),
          makeView(nullptr, DType::F32, {3, 0})};
  EXPECT_EQ(check(), "");
}

} // namespace
