// generate MODEL.so WEIGHTS.safetensors COUNT TOKEN...: COUNT more tokens.

#include "kv/Runtime/C/Runtime.h"

#include <stdio.h>
#include <stdlib.h>

static void check(int32_t status) {
  if (status == KV_STATUS_OK)
    return;
  fprintf(stderr, "generate: %s\n", kvErrorMessage());
  exit(1);
}

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
  KvSession *session;
  KvModel *model;
  KvInvocation *forward;
  check(kvSessionCreate(NULL, &session));
  check(kvSessionLoad(session, argv[1], &model));
  check(kvModelBindWeights(model, argv[2]));
  check(kvModelPrepare(model, "forward", &forward));

  KvManager *manager; // of the artifact's caches
  KvManagerOptions options = {.maxBatchSize = 1, .numPages = 64};
  check(kvModelCreateManager(model, &options, &manager));
  check(kvInvocationSetManager(forward, manager, 0));

  int32_t count = argc - 4;
  int32_t *tokens = calloc(count, sizeof *tokens);
  for (int32_t i = 0; i < count; ++i)
    tokens[i] = atoi(argv[4 + i]);
  KvRequest *request;
  check(kvRequestCreate(1, tokens, count, &request));
  check(kvManagerClaim(manager, 1, -1));

  const KvRequest *batch[] = {request};
  for (int left = atoi(argv[3]); left > 0; --left) {
    KvAllocation pages;
    check(kvManagerAlloc(manager, request, 1, &pages));
    check(kvManagerRuntimeInputs(manager, batch, 1, 1));

    int64_t active = kvRequestActive(request), one = 1, two = 2;
    int32_t offsets[] = {0, (int32_t)active}, rows[] = {(int32_t)active - 1};
    check(
        kvInvocationBind(forward, "tokens", KV_DTYPE_I32, &active, 1, tokens));
    check(kvInvocationBind(forward, "row_offsets", KV_DTYPE_I32, &two, 1,
                           offsets));
    check(kvInvocationBind(forward, "logit_rows", KV_DTYPE_I32, &one, 1, rows));
    check(kvInvocationExecute(forward));

    KvTensorView logits; // f32 [1, vocabulary]
    check(kvInvocationGetOutput(forward, "logits", &logits));
    const float *row = logits.data;
    int32_t best = 0; // the first of the largest
    for (int32_t i = 1; i < logits.sizes[1]; ++i)
      if (row[i] > row[best])
        best = i;
    printf("%d\n", best);

    tokens[0] = best; // from now on a step computes one token
    check(kvRequestAdvance(request));
    check(kvRequestAppend(request, &best, 1));
    check(kvManagerStep(manager, batch, 1));
  }
  check(kvManagerRelease(manager, 1));
  kvRequestDestroy(request);
  kvManagerDestroy(manager);
  kvInvocationDestroy(forward);
  kvModelDestroy(model);
  kvSessionDestroy(session);
  free(tokens);
}
