/*===- CacheManager.h - The cache managers in C -----------------*- C -*-===*/
/* The way in for every other language: opaque handles, plain structs, views.

   A function returns a KvStatus; anything but KV_STATUS_OK has changed nothing,
   and kvErrorMessage() says what was asked and what is allowed. Results are
   written through the last arguments, on success only. No exception crosses
   this interface. One thread at a time uses a manager and its requests. */

#ifndef KV_RUNTIME_C_CACHEMANAGER_H
#define KV_RUNTIME_C_CACHEMANAGER_H

#include "kv/Runtime/C/Api.h"
#include "kv/Runtime/C/Inputs.h"
#include "kv/Runtime/C/Managers.h"
#include "kv/Runtime/C/Parameters.h"
#include "kv/Runtime/C/Requests.h"
#include "kv/Runtime/C/Sizes.h"
#include "kv/Runtime/C/SymbolicInputs.h"

#endif /* KV_RUNTIME_C_CACHEMANAGER_H */
