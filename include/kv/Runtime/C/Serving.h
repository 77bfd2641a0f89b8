/*===- Serving.h - Requests in, tokens out ----------------------*- C -*-===*/
/* A server answers requests with a model, step by step: it decides who takes
   part in each step, computes prompts in chunks, samples, and gives pages up
   and takes them again where there are too few. The caller has the loop:

     while (more) {
       kvServerStep(server, &more);
       kvServerGetEvents(server, &events, &count);
     }

   Requests may be added and aborted between any two steps. A server is used by
   one thread at a time, and alone uses its model and its manager while it has
   requests. */

#ifndef KV_RUNTIME_C_SERVING_H
#define KV_RUNTIME_C_SERVING_H

#include "kv/Runtime/C/Sessions.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct KvServer KvServer;

/* Zeros and a null pointer are the defaults. With windows a step has at most
   the manager's maxChunkTokens. scripts/options.py makes the fields of
   kv/ABI/ServerOptions.def. */
typedef struct KvServerOptions {
  /* Most requests of a step (1 to 1048575; default: 16). */
  int32_t maxBatch;
  /* Most tokens of a step: longer prompts are computed in chunks (1 to
     16777216; default: 512). */
  int64_t maxBatchTokens;
  /* Most draft tokens of a step, taken from where a request's last tokens
     stand earlier in its text, and verified; 0: none (0 to 64). */
  int32_t ngram;
  /* Most draft tokens of a step that a draft model guesses (1 to 64; default:
     4). */
  int32_t draftLength;
} KvServerOptions;

/* For a model with bound weights that has an entry `forward` as
   docs/reference/module.md describes it, and a manager of its caches: one
   device a replica, on a CPU any number of replicas. Keeps what it needs of
   both alive. Errors: another model; a manager of other caches or elsewhere. */
KV_C_API int32_t kvServerCreate(const KvModel *model, const KvManager *manager,
                                const KvServerOptions *options,
                                KvServer **server);
/* Has a smaller model guess options.draftLength tokens of each request in each
   step, where nobody else guesses any; the server verifies them. It has bound
   weights and the same vocabulary. Makes a cache for it, and keeps what it
   needs of it alive. Before the first request. Errors: another vocabulary; a
   cache of one of the models that has recurrent states. */
KV_C_API int32_t kvServerSetDraft(KvServer *server, const KvModel *draft);
/* Releases the requests that are left. */
KV_C_API void kvServerDestroy(KvServer *server);

typedef struct KvLogitBias {
  int32_t token;
  float value;
} KvLogitBias;

/* Sets bit t % 32 of allowed[t / 32] for each token t that may follow the
   answer so far; all bits are 0 before. Called within kvServerStep(), once for
   each token of the answer, in order. Returns 0; another number fails the
   request. */
typedef int32_t (*KvTokenMask)(void *data, const int32_t *answer,
                               int64_t numTokens, uint32_t *allowed,
                               int64_t numWords);

/* Writes to drafts[0 .. most - 1] tokens that may follow the answer so far, and
   returns how many. The next step verifies them: wrong ones change no token.
   Called within kvServerStep(), at most once a step; not for models whose
   caches have recurrent states. A negative number fails the request. */
typedef int64_t (*KvDraftTokens)(void *data, const int32_t *answer,
                                 int64_t numTokens, int32_t *drafts,
                                 int64_t most);

enum KvEmbedding {
  KV_EMBEDDING_NONE = 0,
  KV_EMBEDDING_LAST = 1, /* the last hidden state of the prompt */
  KV_EMBEDDING_MEAN = 2  /* of all, which computes the whole prompt */
};

/* Zero everything first. All that it points to is copied, but maskData
   and draftsData. */
typedef struct KvGenerationRequest {
  const char *id;        /* unique among the requests that the server has */
  const int32_t *tokens; /* of the prompt */
  int64_t numTokens;
  int64_t maxNewTokens; /* 0: as many as the model takes */
  double temperature;   /* 0: greedy */
  int64_t topK;         /* the most likely tokens that are kept; 0: all */
  double topP; /* of which the fewest with this share are kept; 0: all (1) */
  uint64_t seed;
  const int32_t *stopTokens; /* end the answer, and are not part of it */
  int64_t numStopTokens;
  const char *salt; /* shares cached prefixes with requests of an equal salt
                       only; null: with those that have none */
  double minP; /* of what topK and topP keep, those with at least this share of
                  the most likely token's probability are kept; 0: all */
  /* Logits of tokens of the prompt and the answer are divided by this where
     they are positive, else multiplied; 0: 1, which is off. */
  double repetitionPenalty;
  /* Subtracted from the logits of tokens of the answer: once, and for each time
     that they are there. */
  double presencePenalty, frequencyPenalty;
  const KvLogitBias *logitBias; /* added to logits; a token may be there once */
  int64_t numLogitBias;
  /* Of the answer, before a stop token may be drawn, unless the mask allows
     nothing else. */
  int64_t minNewTokens;
  KvTokenMask mask; /* null: all tokens; called until the last event */
  void *maskData;
  KvDraftTokens drafts; /* null: none but the server's; called as the mask is */
  void *draftsData;
  /* 0: no log probabilities; else those of each token of the answer, and of the
     numLogprobs - 1 most likely ones. The same of the prompt's tokens but the
     first, which computes the whole prompt, whatever is cached. */
  int32_t numLogprobs, numPromptLogprobs;
  int32_t priority; /* of requests that wait the smallest begins first */
  /* A KvEmbedding: instead of an answer the request has an embedding. */
  int32_t embedding;
  /* Of requests that wait with equal priority, the first one of the tenant for
     which the fewest tokens were computed; null: "". */
  const char *tenant;
} KvGenerationRequest;

/* Errors, which name the request: an id that is there; tokens that the
   vocabulary does not have; more than the model or the cache takes. */
KV_C_API int32_t kvServerAdd(KvServer *server,
                             const KvGenerationRequest *request);
/* Gives a request up: it has no more events, and its pages are free. Error: no
   such request. */
KV_C_API int32_t kvServerAbort(KvServer *server, const char *id);

typedef struct KvGenerationCounts {
  int64_t promptTokens, cachedTokens, newTokens;
  double queueSeconds; /* from kvServerAdd() to its first step, or to now */
} KvGenerationCounts;
/* What a request has so far, such as before it is given up. Error: no such
   request. */
KV_C_API int32_t kvServerGetCounts(const KvServer *server, const char *id,
                                   KvGenerationCounts *counts);

/* Executes one step; nothing, if there is no request. `more` is 1 if requests
   are left, else 0. What goes wrong for a request is one of its events. Of a
   manager with the role KV_PEER_PREFILL, prompts of peers are requests, too,
   but have no events. */
KV_C_API int32_t kvServerStep(KvServer *server, int32_t *more);

/* A file descriptor that is readable while peers want prompts, for callers that
   wait with kvServerStep() until there is something to do; -1: the manager has
   no such peers. It is the server's. */
KV_C_API int32_t kvServerGetPromptDescriptor(const KvServer *server,
                                             int32_t *descriptor);

enum KvServerEventKind {
  KV_SERVER_TOKEN = 0,
  /* The last event of a request is one of these. */
  KV_SERVER_STOPPED = 1, /* a stop token was drawn */
  KV_SERVER_LENGTH = 2,  /* as many tokens as allowed */
  KV_SERVER_FAILED = 3,
  /* A token of the prompt with its log probability, before the answer. */
  KV_SERVER_PROMPT_TOKEN = 4,
  KV_SERVER_EMBEDDING = 5 /* before the last event */
};
typedef struct KvTokenLogprob {
  int32_t token;
  float logprob; /* natural logarithm, of the logits as the model has them */
} KvTokenLogprob;
typedef struct KvServerEvent {
  const char *id;
  int32_t kind;  /* a KvServerEventKind */
  int32_t token; /* of KV_SERVER_TOKEN, KV_SERVER_PROMPT_TOKEN */
  int64_t index; /* the token's in the answer or in the prompt, from 0 */
  /* Of the last event, unless it failed. */
  int64_t promptTokens, cachedTokens, newTokens;
  const char *message; /* of KV_SERVER_FAILED; else null */
  int64_t rank;        /* of the token; 1: the most likely; 0: not asked for */
  float logprob;
  const KvTokenLogprob *top; /* the most likely tokens, from the first on */
  int64_t numTop;
  const float *values; /* of KV_SERVER_EMBEDDING */
  int64_t numValues;
  double queueSeconds; /* of the last event, as KvGenerationCounts has it */
} KvServerEvent;
/* Of the latest step, those of one request in its order. Valid until the next
   call for the server. */
KV_C_API int32_t kvServerGetEvents(const KvServer *server,
                                   const KvServerEvent **events,
                                   int64_t *count);

/* Since the server was made. */
typedef struct KvServerFigures {
  int64_t requests; /* added, refused ones included */
  int64_t stopped, reachedEnd, failed, aborted;
  int64_t running, waiting; /* now */
  int64_t preemptions;
  int64_t prefillTokens, decodeTokens; /* computed */
  int64_t generatedTokens;
  int64_t draftTokens, acceptedTokens; /* verified, and right of them */
  double stepSeconds;                  /* of all steps */
} KvServerFigures;
KV_C_API int32_t kvServerGetFigures(const KvServer *server,
                                    KvServerFigures *figures);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_SERVING_H */
