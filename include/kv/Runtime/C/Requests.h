/*===- Requests.h - A request as managers see it ----------------*- C -*-===*/
/* Requests: tokens, how far they have been processed, and which other requests
   may share their pages. */

#ifndef KV_RUNTIME_C_REQUESTS_H
#define KV_RUNTIME_C_REQUESTS_H

#include "kv/Runtime/C/Api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A request. Owns copies of the tokens, strings and hashes that it is given. */
typedef struct KvRequest KvRequest;

KV_C_API int32_t kvRequestCreate(uint64_t id, const int32_t *tokens,
                                 int64_t count, KvRequest **request);
KV_C_API void kvRequestDestroy(KvRequest *request);

/* 0 for a null pointer, as are the figures of a manager that have no status. */
KV_C_API uint64_t kvRequestId(const KvRequest *request);
KV_C_API int64_t kvRequestLength(const KvRequest *request);
/* kvRequestLength tokens, valid until more are appended; null for a null
   pointer. */
KV_C_API const int32_t *kvRequestTokens(const KvRequest *request);
KV_C_API int64_t kvRequestProcessed(const KvRequest *request);
KV_C_API int64_t kvRequestActive(const KvRequest *request);
/* Tokens before the first draft. */
KV_C_API int64_t kvRequestVouched(const KvRequest *request);

/* Read by the first alloc. A null string is an absent field, which differs from
   an empty one. */
KV_C_API int32_t kvRequestSetScope(KvRequest *request, const char *model,
                                   const char *adapter, const char *salt);
/* Adds an image; images are added in the order of their positions. Error: an
   alloc has seen the image's tokens, so the cache knows them without it. */
KV_C_API int32_t kvRequestAddImage(KvRequest *request, int64_t begin,
                                   int64_t length, const void *hash,
                                   int64_t hashBytes);
/* How long a request's pages should outlive it. Priorities are 0 to 127, and 64
   by default; pages of lower priority are evicted first. A priority above 64
   becomes 64 when its duration is over: nanoseconds from the release on, at
   most 4094 times the manager's retentionTick; 0: it never ends. Pages that
   hold any of the first prefixTokens tokens have prefixPriority and
   prefixDuration. */
typedef struct KvRetention {
  int32_t priority;
  int32_t prefixPriority;
  int64_t prefixTokens;
  int64_t duration;
  int64_t prefixDuration;
} KvRetention;
KV_C_API int32_t kvRequestSetRetention(KvRequest *request,
                                       const KvRetention *retention);
/* Gives a request a payload of so many bytes, zeros, before its first alloc:
   kvManagerPayloadBytesPerToken for each of its first tokens, opaque to the
   manager. The request owns them; `payload` may be null. An alloc then takes
   over only cached pages with a payload, copies it here, and leaves their last
   token to be computed. Before kvManagerStep the caller writes the payload of
   all pages that it completes. */
KV_C_API int32_t kvRequestSetPayload(KvRequest *request, int64_t bytes,
                                     void **payload);
KV_C_API int32_t kvRequestSetReusesPrefix(KvRequest *request, int32_t reuses);
/* From now on a step computes at most `count` tokens; 0: all. */
KV_C_API int32_t kvRequestLimitActive(KvRequest *request, int64_t count);

/* Appends tokens, which are still to be computed. Behind a request of which
   something has been computed the first active token is the model's, and those
   after it may be drafts: no cached page is taken over for them. */
KV_C_API int32_t kvRequestAppend(KvRequest *request, const int32_t *tokens,
                                 int64_t count);
/* Appends tokens of which the last `drafts` are drafts, 0 to `count`. The
   request vouches for the others: cached pages may be taken over for them,
   unless they follow drafts of an earlier call. */
KV_C_API int32_t kvRequestAppendDrafts(KvRequest *request,
                                       const int32_t *tokens, int64_t count,
                                       int64_t drafts);
/* The active tokens have been computed: they are processed now. */
KV_C_API int32_t kvRequestAdvance(KvRequest *request);
KV_C_API int32_t kvRequestSkip(KvRequest *request, int64_t count);
KV_C_API int32_t kvRequestRewind(KvRequest *request, int64_t count);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_REQUESTS_H */
