/*===- Arguments.h - What an entry or a graph takes -------------*- C -*-===*/
/* An argument of an entry, as an artifact's manifest or a cache manager tells
   it. */

#ifndef KV_RUNTIME_C_ARGUMENTS_H
#define KV_RUNTIME_C_ARGUMENTS_H

#include "kv/ABI/TensorView.h"
#include "kv/Runtime/C/Api.h"

/* The strings are valid as long as what they were asked of. */
typedef struct KvArgument {
  const char *name;
  const char *kind; /* "input", "weight", "output", "kv.blocks", ... */
  int32_t dtype;    /* a KvDType */
  int32_t rank;
  int32_t onHost; /* 1: lies in host memory on any device */
  /* In elements, row-major: -1 where there is a symbol. Equal symbols of one
     entry are equal sizes. */
  int64_t sizes[KV_MAX_RANK];
  const char *symbols[KV_MAX_RANK]; /* null where there is a size */
  const char *collection; /* of a kv.* argument: the cache's name; else null */
  /* of a weight: docs/reference/artifact.md; else "row_major" */
  const char *layout;
} KvArgument;

#endif /* KV_RUNTIME_C_ARGUMENTS_H */
