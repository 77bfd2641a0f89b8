/*===- c-calls.c - What the calls of the C interface cost -------*- C -*-===*/
/* c-calls: the calls that benchmarks/python_calls.py makes from Python, made
   here: "name<tab>nanoseconds a call" a line, the least of some rounds; of a
   decode step microseconds, the median. */

#define _POSIX_C_SOURCE 200809L

#include "kv/Runtime/C/Runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { Sequences = 256, Prompt = 512, Page = 16, Steps = 400, Calls = 20000 };

static void check(int32_t status) {
  if (status == KV_STATUS_OK)
    return;
  fprintf(stderr, "c-calls: %s\n", kvErrorMessage());
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static KvManager *manager;
static KvRequest *requests[Sequences];

static int64_t contains(void) {
  int32_t result;
  check(kvManagerContains(manager, 3, &result));
  return result;
}
static int64_t freeBlocks(void) {
  int64_t result;
  check(kvManagerNumFreeBlocks(manager, -1, &result));
  return result;
}
static int64_t replica(void) {
  int32_t result;
  check(kvManagerGetReplica(manager, 3, &result));
  return result;
}
static int64_t metrics(void) {
  KvMetrics result;
  check(kvManagerGetMetrics(manager, &result));
  return result.inputTokens;
}
static int64_t blocks(void) {
  const int32_t *pages;
  int64_t count;
  check(kvManagerGetReqBlocks(manager, 3, &pages, &count));
  return count;
}
static int64_t alloc(void) { /* of what is reserved already */
  KvAllocation result;
  check(kvManagerAlloc(manager, requests[3], 1, &result));
  return result.newPages;
}
static int64_t claim(void) {
  check(kvManagerClaim(manager, Sequences, -1));
  check(kvManagerRelease(manager, Sequences));
  return 0;
}
static int64_t active(void) { return kvRequestActive(requests[0]); }

static void call(const char *name, int64_t (*function)(void)) {
  double least = 1e18;
  volatile int64_t sink = 0;
  for (int round = 0; round < 7; ++round) {
    double start = now();
    for (int i = 0; i < Calls; ++i)
      sink += function();
    double taken = (now() - start) / Calls;
    least = taken < least ? taken : least;
  }
  printf("%s\t%f\n", name, least);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void step(void) {
  const KvRequest *const *batch = (const KvRequest *const *)requests;
  for (int i = 0; i < Sequences; ++i) {
    KvAllocation result;
    check(kvManagerAlloc(manager, requests[i], 1, &result));
  }
  check(kvManagerRuntimeInputs(manager, batch, Sequences, 1));
  for (int32_t i = 0; i < Sequences; ++i) {
    check(kvRequestAdvance(requests[i]));
    check(kvRequestAppend(requests[i], &i, 1));
  }
  check(kvManagerStep(manager, batch, Sequences));
}

int main(void) {
  KvCollectionSpec cache;
  memset(&cache, 0, sizeof cache);
  cache.layers = cache.heads = 1;
  cache.dim = 8;
  cache.page = Page;
  KvCacheSpec spec;
  memset(&spec, 0, sizeof spec);
  spec.collections = &cache;
  spec.numCollections = 1;
  spec.enablePrefixCaching = 1;
  KvManagerOptions options;
  memset(&options, 0, sizeof options);
  options.maxBatchSize = Sequences + 1;
  options.maxSeqLen = 4096;
  options.numPages = Sequences * 80;
  check(kvManagerCreate(&spec, &options, &manager));
  srand(1);
  for (int i = 0; i < Sequences; ++i) {
    int32_t tokens[Prompt];
    for (int t = 0; t < Prompt; ++t)
      tokens[t] = rand() % 50000;
    check(kvRequestCreate((uint64_t)i, tokens, Prompt, &requests[i]));
    check(kvManagerClaim(manager, (uint64_t)i, -1));
  }
  step(); /* the prompts */
  static double times[Steps];
  for (int i = 0; i < Steps; ++i) {
    double start = now();
    step();
    times[i] = now() - start;
  }
  qsort(times, Steps, sizeof *times, compare);
  printf("step\t%f\n", times[Steps / 2] / 1000);
  call("contains", contains);
  call("num_free_blocks", freeBlocks);
  call("get_replica", replica);
  call("metrics", metrics);
  call("get_req_blocks", blocks);
  call("alloc", alloc);
  call("claim, release", claim);
  call("active_length", active);
  for (int i = 0; i < Sequences; ++i)
    kvRequestDestroy(requests[i]);
  kvManagerDestroy(manager);
}
