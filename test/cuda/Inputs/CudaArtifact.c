/* An artifact for CUDA by hand: embedding, two layers of attention with the
 * same weights, logits by the embedding. What a lowering makes, as calls. */

#include "kv/ABI/Context.h"

__asm__(".section .kv.manifest,\"\",@progbits\n"
        ".incbin \"" MANIFEST_FILE "\"\n"
        ".previous\n");

/* PTX, as far as the fake driver looks at it. */
__asm__(".macro image name\n"
        "1: .ascii \"\\name\"\n"
        ".zero 48 - (. - 1b)\n"
        "2: .ascii \"compute_80\"\n"
        ".zero 16 - (. - 2b)\n"
        ".quad code - begin, end - code\n"
        ".endm\n"
        ".section .kv.kernels,\"\",@progbits\n"
        "begin: .ascii \"KVKERNEL\"\n"
        ".long 1, 3\n"
        "image kv_movers\n"
        "image kv_attention_decode_bf16_64\n"
        "image kv_attention_prefill_bf16_64\n"
        "code: .ascii \".version 8.0\\n.target sm_80\\n\"\n"
        ".ascii \"kv_plan kv_positions kv_copy_pages kv_store kv_store_scaled "
        "kv_rope kv_norm "
        "kv_pair kv_embedding kv_cast kv_argmax \"\n"
        ".ascii \"kv_attention_decode_bf16_64 kv_attention_prefill_bf16_64\"\n"
        "end:\n"
        ".previous\n");

#define EXPORT __attribute__((visibility("default")))

enum { Vocab = 96, Hidden = 64, Heads = 2, Dim = 64, Layers = 2 };

static const KvArgumentSpec Specs[] = {
    {KV_DTYPE_I32, 1, {-1}, "tokens"},
    {KV_DTYPE_I32, 1, {-2}, "row_offsets"},
    {KV_DTYPE_I32, 1, {-3}, "logit_rows"},
    {KV_DTYPE_BF16, 6, {-4, 2, Layers, 16, 1, Dim}, "kv.blocks"},
    {KV_DTYPE_I32, 1, {-5}, "kv.cache_lengths"},
    {KV_DTYPE_I32, 2, {-5, -6}, "kv.lookup_table"},
    {KV_DTYPE_I32, 2, {-7, 2}, "kv.max_lengths"},
    {KV_DTYPE_BF16, 2, {Vocab, Hidden}, "embedding"},
    {KV_DTYPE_BF16, 1, {Hidden}, "norm"},
    {KV_DTYPE_BF16, 2, {(Heads + 2) * Dim, Hidden}, "qkv"},
    {KV_DTYPE_BF16, 2, {Hidden, Heads * Dim}, "output"},
    {KV_DTYPE_F32, 2, {64, Dim}, "angles"},
    {KV_DTYPE_F32, 2, {-3, Vocab}, "logits"},
};
enum { Count = sizeof(Specs) / sizeof(Specs[0]) };

/* A temporary of the arena. */
static KvTensorView make(KvContext *ctx, int64_t dtype, int64_t rows,
                         int64_t width) {
  KvTensorView view = {0};
  view.rank = 2;
  view.dtype = dtype;
  view.sizes[0] = rows;
  view.sizes[1] = width;
  view.strides[0] = width;
  view.strides[1] = 1;
  view.data = ctx->functions->arenaAlloc(ctx, rows * width * 4);
  return view;
}

static KvTensorView integers(KvContext *ctx, int64_t count) {
  KvTensorView view = make(ctx, KV_DTYPE_I32, 1, count);
  view.rank = 1;
  view.sizes[0] = count;
  view.strides[0] = 1;
  return view;
}

/* Columns [first, first + heads * Dim) of rows, by heads. */
static KvTensorView heads(const KvTensorView *rows, int64_t first,
                          int64_t count) {
  KvTensorView view = *rows;
  view.rank = 3;
  view.offset += first;
  view.sizes[1] = count;
  view.sizes[2] = Dim;
  view.strides[1] = Dim;
  view.strides[2] = 1;
  return view;
}

EXPORT int32_t kv_entry_forward(KvContext *ctx, const KvTensorView *args,
                                int32_t count) {
  const KvFunctionTable *f = ctx->functions;
  int32_t status = f->checkArguments(ctx, (void *)Specs, Count, args, count);
  if (status)
    return status;
  const KvTensorView *offsets = &args[1], *blocks = &args[3],
                     *lengths = &args[4], *table = &args[5],
                     *longest = &args[6];
  int64_t tokens = args[0].sizes[0], sequences = lengths->sizes[0];
  int64_t bytes = f->planBytes(ctx, blocks, Heads, sequences, tokens);
  KvTensorView plan = make(ctx, KV_DTYPE_I8, 1, bytes);
  plan.rank = 1;
  plan.sizes[0] = bytes;
  plan.strides[0] = 1;
  f->plan(ctx, blocks, lengths, table, offsets, longest, Heads, tokens,
          KV_MASK_CAUSAL, 0, &plan);
  KvTensorView positions = integers(ctx, tokens);
  f->positions(ctx, lengths, offsets, &positions);
  KvTensorView x = make(ctx, KV_DTYPE_BF16, tokens, Hidden);
  f->embedding(ctx, &args[0], &args[7], &x);
  KvTensorView normed = make(ctx, KV_DTYPE_BF16, tokens, Hidden);
  KvTensorView qkv = make(ctx, KV_DTYPE_BF16, tokens, (Heads + 2) * Dim);
  KvTensorView rotated = make(ctx, KV_DTYPE_BF16, tokens, (Heads + 1) * Dim);
  KvTensorView mixed = make(ctx, KV_DTYPE_BF16, tokens, Heads * Dim);
  KvTensorView added = make(ctx, KV_DTYPE_BF16, tokens, Hidden);
  KvTensorView qk = heads(&qkv, 0, Heads + 1),
               rqk = heads(&rotated, 0, Heads + 1);
  KvTensorView q = heads(&rotated, 0, Heads),
               k = heads(&rotated, Heads * Dim, 1);
  KvTensorView v = heads(&qkv, (Heads + 1) * Dim, 1),
               o = heads(&mixed, 0, Heads);
  for (int64_t layer = 0; layer < Layers; ++layer) {
    f->norm(ctx, &x, &args[8], 1e-5f, 0, &normed);
    f->matmul(ctx, &normed, &args[9], &qkv);
    f->rope(ctx, &qk, &positions, &args[11], 0, &rqk);
    f->store(ctx, blocks, 0, lengths, table, offsets, layer, &k, &v);
    f->plannedAttention(ctx, blocks, 0, lengths, table, offsets, longest, &plan,
                        layer, &q, &o, 0, 0.125f, 0, KV_MASK_CAUSAL, 0, 0);
    f->matmul(ctx, &mixed, &args[10], &added);
    f->pair(ctx, KV_PAIR_ADD, &x, &added, &x);
  }
  KvTensorView wanted = make(ctx, KV_DTYPE_BF16, args[2].sizes[0], Hidden);
  f->embedding(ctx, &args[2], &x, &wanted);
  f->matmul(ctx, &wanted, &args[7], &args[12]);
  return ctx->status;
}
