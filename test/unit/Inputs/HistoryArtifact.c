/* A text-generation artifact by hand: FakeModel.h in C. It keeps tokens in the
 * paged cache, and its logits depend on the history that it reads back. */

#include "kv/ABI/Context.h"

__asm__(".section .kv.manifest,\"\",@progbits\n"
        ".incbin \"" MANIFEST_FILE "\"\n"
        ".previous\n");

#define EXPORT __attribute__((visibility("default")))

#ifndef PAGE
#define PAGE 4
#define TABLE                                                                  \
  2, { BATCH, PITCH }
#endif
enum { VOCAB = 50, PAGES = -1, BATCH = -2, PITCH = -3, T = -4 };
enum { OFFSETS = -5, R = -6, STEPS = -7 };

static const KvArgumentSpec Specs[] = {
    {KV_DTYPE_I32, 1, {T}, "tokens"},
    {KV_DTYPE_I32, 1, {OFFSETS}, "row_offsets"},
    {KV_DTYPE_I32, 1, {R}, "logit_rows"},
    {KV_DTYPE_F32, 6, {PAGES, 2, 1, PAGE, 1, 1}, "kv.blocks"},
    {KV_DTYPE_I32, 1, {BATCH}, "kv.cache_lengths"},
    {KV_DTYPE_I32, TABLE, "kv.lookup_table"},
    {KV_DTYPE_I32, 2, {STEPS, 2}, "kv.max_lengths"},
    {KV_DTYPE_F32, 1, {VOCAB}, "bias"},
    {KV_DTYPE_F32, 2, {R, VOCAB}, "logits"},
};

static void writeLogits(uint64_t state, const float *bias, float *row) {
  for (int64_t token = 0; token < VOCAB; ++token) {
    uint64_t bits = (state + token) * 0xBF58476D1CE4E5B9ull;
    bits = (bits ^ (bits >> 31)) * 0x94D049BB133111EBull;
    row[token] = (float)(bits >> 40) / (1 << 22) + bias[token];
  }
}

EXPORT int32_t kv_entry_forward(KvContext *ctx, const KvTensorView *args,
                                int32_t count) {
  int32_t status =
      ctx->functions->checkArguments(ctx, (void *)Specs, 9, args, count);
  if (status)
    return status;
  ctx->functions->checkIndices(ctx, &args[2], (void *)"logit_rows",
                               args[0].sizes[0]);
  const int32_t *tokens = (const int32_t *)args[0].data;
  const int32_t *offsets = (const int32_t *)args[1].data;
  const int32_t *wanted = (const int32_t *)args[2].data;
  float *cells = (float *)args[3].data;
  const int32_t *lengths = (const int32_t *)args[4].data;
  const int32_t *table = (const int32_t *)args[5].data;
  int64_t pitch = args[5].rank == 2 ? args[5].sizes[1] : 1, done = 0;
  for (int64_t b = 0; b < args[4].sizes[0]; ++b)
    for (int64_t row = offsets[b]; row < offsets[b + 1]; ++row) {
      int64_t position = lengths[b] + row - offsets[b];
      const int32_t *pages = table + b * pitch;
      cells[pages[position / PAGE] * 2 * PAGE + position % PAGE] =
          (float)tokens[row];
      if (done == args[2].sizes[0] || wanted[done] != row)
        continue;
      uint64_t state = 0x1234;
      for (int64_t at = 0; at <= position; ++at) {
        float token = cells[pages[at / PAGE] * 2 * PAGE + at % PAGE];
        state =
            (state ^ (uint64_t)token) * 0x9E3779B97F4A7C15ull + (state >> 29);
      }
      writeLogits(state, (const float *)args[7].data,
                  (float *)args[8].data + VOCAB * done++);
    }
  return ctx->status;
}
