/*===- CacheManager.h - The cache managers in C -----------------*- C -*-===*/
/* For bindings of other languages: opaque handles, plain structs and views.

   Functions return a KvStatus. A call that does not return KV_STATUS_OK has
   changed nothing, and kvErrorMessage() says what was given and what is
   allowed. Results are written through the last arguments, on success only. No
   exception crosses this interface. A manager and its requests are used by one
   thread at a time. */

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
