/*===- Api.h - Errors and visibility of the C interface ---------*- C -*-===*/

#ifndef KV_RUNTIME_C_API_H
#define KV_RUNTIME_C_API_H

#include "kv/ABI/Context.h"

#include <stdint.h>

#if defined(__GNUC__)
#define KV_C_API __attribute__((visibility("default")))
#else
#define KV_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The message of the last call of this thread that failed. */
KV_C_API const char *kvErrorMessage(void);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_API_H */
