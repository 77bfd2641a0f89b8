/*===- Runtime.h - The whole C interface ------------------------*- C -*-===*/
/* Artifacts and the managers of their caches; docs/guides/c.md shows a program.
   Errors are as CacheManager.h says. */

#ifndef KV_RUNTIME_C_RUNTIME_H
#define KV_RUNTIME_C_RUNTIME_H

#include "kv/Runtime/C/CacheManager.h"
#include "kv/Runtime/C/Invocations.h"
#include "kv/Runtime/C/Manifests.h"
#include "kv/Runtime/C/Serving.h"
#include "kv/Runtime/C/Sessions.h"

#endif /* KV_RUNTIME_C_RUNTIME_H */
