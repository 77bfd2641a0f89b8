/* An artifact by hand: logits[t][n] = bias[n] + sum over k of
 * weight[n][k] * (tokens[t] + k), computed in parallel through the arena. */

#include "kv/ABI/Context.h"

__asm__(".section .kv.manifest,\"\",@progbits\n"
        ".incbin \"" MANIFEST_FILE "\"\n"
        ".previous\n");

#define EXPORT __attribute__((visibility("default")))

enum { N = 32, K = 3 };

static const KvArgumentSpec Specs[] = {
    {KV_DTYPE_I32, 1, {-1}, "tokens"},
    {KV_DTYPE_I32, 1, {-1}, "rows"},
    {KV_DTYPE_F32, 3, {N / 16, K, 16}, "packed"},
    {KV_DTYPE_F32, 1, {N}, "bias"},
    {KV_DTYPE_F32, 2, {-1, N}, "logits"},
};

typedef struct {
  const KvTensorView *args;
  float *scratch;
} Env;

static void body(KvContext *ctx, void *opaque, int64_t lo, int64_t hi) {
  const Env *env = (const Env *)opaque;
  const int32_t *tokens = (const int32_t *)env->args[0].data;
  const float *packed = (const float *)env->args[2].data;
  const float *bias = (const float *)env->args[3].data;
  (void)ctx;
  for (int64_t t = lo; t < hi; ++t)
    for (int64_t n = 0; n < N; ++n) {
      float sum = bias[n];
      for (int64_t k = 0; k < K; ++k)
        sum += packed[(n / 16 * K + k) * 16 + n % 16] * (float)(tokens[t] + k);
      env->scratch[t * N + n] = sum;
    }
}

EXPORT int32_t kv_entry_forward(KvContext *ctx, const KvTensorView *args,
                                int32_t count) {
  const KvFunctionTable *functions = ctx->functions;
  int32_t status =
      functions->checkArguments(ctx, (void *)Specs, 5, args, count);
  if (status)
    return status;
  int64_t rows = args[0].sizes[0];
  int64_t mark = functions->arenaMark(ctx);
  Env env = {args, (float *)functions->arenaAlloc(ctx, rows * N * 4)};
  functions->parallelFor(ctx, (void *)body, &env, rows, 1);
  float *logits = (float *)args[4].data;
  for (int64_t i = 0; i < rows * N; ++i)
    logits[i] = env.scratch[i];
  functions->arenaRelease(ctx, mark);
  return ctx->status;
}

EXPORT int32_t kv_entry_fail(KvContext *ctx, const KvTensorView *args,
                             int32_t count) {
  (void)args;
  (void)count;
  ctx->functions->recordError(ctx, KV_STATUS_OUT_OF_RANGE,
                              (void *)"token 7 is out of range");
  ctx->functions->recordError(ctx, KV_STATUS_INTERNAL, (void *)"too late");
  return ctx->status;
}

/* Writes to what it asks for, as generated code does. */
EXPORT int32_t kv_entry_hog(KvContext *ctx, const KvTensorView *args,
                            int32_t count) {
  (void)args;
  (void)count;
  char *memory = (char *)ctx->functions->arenaAlloc(ctx, (int64_t)1 << 60);
  memory[0] = 1;
  return ctx->status;
}
