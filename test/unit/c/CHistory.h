/*===- CHistory.h - The model of tests in C --------------------*- C -*-===*/
/* KV_HISTORY_ARTIFACT keeps tokens in a paged cache; its logits depend on all
   of them, and are the weight `bias` plus what follows from the history. */

#ifndef KV_TEST_UNIT_C_CHISTORY_H
#define KV_TEST_UNIT_C_CHISTORY_H

#include "CExpect.h"

#include "kv/Runtime/C/Runtime.h"

#include <stdlib.h>

enum { Vocab = 50 };

static char weights[4096];

// A safetensors file at `path` with one tensor of zeros.
static void writeWeights(char *path, const char *name, int32_t count) {
  snprintf(path, 4096, "%s/kv-c-session-XXXXXX",
           getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  int descriptor = mkstemp(path);
  EXPECT(descriptor >= 0);
  FILE *file = fdopen(descriptor, "wb");
  char header[256];
  uint64_t length = (uint64_t)snprintf(
      header, sizeof header,
      "{\"%s\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[0,%d]}}",
      name, count, 4 * count);
  float zeros[Vocab] = {0};
  EXPECT(fwrite(&length, 8, 1, file) == 1);
  EXPECT(fwrite(header, 1, length, file) == length);
  EXPECT(fwrite(zeros, 4, (size_t)count, file) == (size_t)count);
  fclose(file);
}

static KvModel *load(KvSession *session) {
  KvModel *model = NULL;
  OK(kvSessionLoad(session, KV_HISTORY_ARTIFACT, &model));
  OK(kvModelBindWeights(model, weights));
  return model;
}

static KvModel *loadAlone(void) {
  KvSession *session = NULL;
  OK(kvSessionCreate(NULL, &session));
  KvModel *model = load(session);
  kvSessionDestroy(session); // the model keeps what it needs
  return model;
}

static KvManager *managerOf(const KvModel *model) {
  KvManagerOptions options;
  memset(&options, 0, sizeof options);
  options.numPages = 16;
  options.enableRuntimeChecks = 1;
  KvManager *manager = NULL;
  OK(kvModelCreateManager(model, &options, &manager));
  return manager;
}

#endif /* KV_TEST_UNIT_C_CHISTORY_H */
