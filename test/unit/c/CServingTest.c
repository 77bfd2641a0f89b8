//===- CServingTest.c - A server, used from C -----------------------------===//

#include "CHistory.h"

// What the server gives out for a request: the tokens, then one last event.
typedef struct {
  int32_t tokens[64];
  int32_t count, last; // last: the kind of the last event; 0 before it
  int64_t promptTokens, cachedTokens, newTokens;
  char message[256];
} Answer;

static KvModel *model;
static KvManager *manager;
static const int32_t prompt[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static KvServer *serverOf(int32_t maxBatch) {
  KvServerOptions options;
  memset(&options, 0, sizeof options);
  options.maxBatch = maxBatch;
  KvServer *server = NULL;
  OK(kvServerCreate(model, manager, &options, &server));
  return server;
}

static KvGenerationRequest requestOf(const char *id, int64_t maxNewTokens) {
  KvGenerationRequest request;
  memset(&request, 0, sizeof request);
  request.id = id;
  request.tokens = prompt;
  request.numTokens = 9;
  request.maxNewTokens = maxNewTokens;
  return request;
}

// One step; what it gives out for the request `id` goes to `answer`.
static int step(KvServer *server, const char *id, Answer *answer) {
  int32_t more = -1;
  const KvServerEvent *events = NULL;
  int64_t count = -1;
  OK(kvServerStep(server, &more));
  OK(kvServerGetEvents(server, &events, &count));
  for (int64_t i = 0; i < count; ++i) {
    const KvServerEvent *event = &events[i];
    if (strcmp(event->id, id) != 0)
      continue;
    EXPECT(answer->last == 0);
    if (event->kind == KV_SERVER_TOKEN) {
      EXPECT(event->index == answer->count);
      answer->tokens[answer->count++] = event->token;
      continue;
    }
    answer->last = event->kind;
    answer->promptTokens = event->promptTokens;
    answer->cachedTokens = event->cachedTokens;
    answer->newTokens = event->newTokens;
    EXPECT((event->message != NULL) == (event->kind == KV_SERVER_FAILED));
    EXPECT((event->queueSeconds > 0) == (event->kind != KV_SERVER_FAILED));
  }
  return more;
}

static Answer serve(KvServer *server, const KvGenerationRequest *request) {
  Answer answer;
  memset(&answer, 0, sizeof answer);
  OK(kvServerAdd(server, request));
  while (step(server, request->id, &answer))
    ;
  return answer;
}

static void answers(void) {
  KvServer *server = serverOf(0);
  KvGenerationRequest request = requestOf("a", 5);
  Answer first = serve(server, &request), again = serve(server, &request);
  EXPECT(first.last == KV_SERVER_LENGTH && first.count == 5);
  EXPECT(first.promptTokens == 9 && first.newTokens == 5);
  EXPECT(first.cachedTokens == 0 && again.cachedTokens == 8);
  EXPECT(memcmp(first.tokens, again.tokens, 5 * sizeof(int32_t)) == 0);

  // Another salt shares nothing, and changes no token.
  request.salt = "s";
  Answer salted = serve(server, &request);
  EXPECT(salted.cachedTokens == 0);
  EXPECT(memcmp(first.tokens, salted.tokens, 5 * sizeof(int32_t)) == 0);

  // The stop token is not given out.
  request = requestOf("b", 5);
  request.stopTokens = &first.tokens[2];
  request.numStopTokens = 1;
  Answer stopped = serve(server, &request);
  EXPECT(stopped.last == KV_SERVER_STOPPED && stopped.count == 2);

  // 0: up to what the model takes, here 64 tokens in all.
  request = requestOf("c", 0);
  EXPECT(serve(server, &request).count == 64 - 9);

  KvServerFigures figures;
  OK(kvServerGetFigures(server, &figures));
  EXPECT(figures.requests == 5 && figures.stopped == 1);
  EXPECT(figures.reachedEnd == 4 && figures.running == 0);
  EXPECT(figures.generatedTokens == 5 + 5 + 5 + 2 + 55);
  EXPECT(figures.prefillTokens == 9 + 1 + 9 + 1 + 1);
  EXPECT(figures.stepSeconds > 0);
  kvServerDestroy(server);
}

// Guesses the same token again and again.
static int64_t guess(void *data, const int32_t *answer, int64_t numTokens,
                     int32_t *drafts, int64_t most) {
  int64_t *asked = data;
  ++*asked;
  EXPECT(numTokens >= 0 && most > 0);
  drafts[0] = numTokens ? answer[numTokens - 1] : 1;
  return 1;
}

// Guesses change no token, whoever makes them.
static void drafts(void) {
  KvServer *server = serverOf(0);
  KvGenerationRequest request = requestOf("a", 9);
  Answer plain = serve(server, &request);
  int64_t asked = 0;
  request.drafts = guess;
  request.draftsData = &asked;
  Answer guessed = serve(server, &request);
  EXPECT(guessed.count == 9 && asked > 0);
  EXPECT(memcmp(plain.tokens, guessed.tokens, 9 * sizeof(int32_t)) == 0);
  KvServerFigures figures;
  OK(kvServerGetFigures(server, &figures));
  EXPECT(figures.draftTokens == asked && figures.acceptedTokens <= asked);
  kvServerDestroy(server);

  // The model itself guesses all.
  server = serverOf(0);
  FAILS(kvServerSetDraft(server, NULL), Invalid,
        "kvServerSetDraft: draft is null");
  OK(kvServerSetDraft(server, model));
  request = requestOf("b", 9);
  OK(kvServerAdd(server, &request));
  FAILS(kvServerSetDraft(server, model), Invalid,
        "kvServerSetDraft: the server has requests, allowed: before the "
        "first");
  Answer drafted;
  memset(&drafted, 0, sizeof drafted);
  while (step(server, "b", &drafted))
    ;
  EXPECT(drafted.count == 9);
  EXPECT(memcmp(plain.tokens, drafted.tokens, 9 * sizeof(int32_t)) == 0);
  OK(kvServerGetFigures(server, &figures));
  EXPECT(figures.draftTokens > 0);
  EXPECT(figures.draftTokens == figures.acceptedTokens);
  kvServerDestroy(server);
}

// Company and aborts change no token of those that go on.
static void aborts(void) {
  KvServer *server = serverOf(2);
  KvGenerationRequest request = requestOf("alone", 9);
  Answer alone = serve(server, &request), beside;
  memset(&beside, 0, sizeof beside);
  int64_t before = 0, after = 0;
  OK(kvManagerNumFreeBlocks(manager, -1, &before));

  const char *names[] = {"x", "y", "z"}; // z waits for a slot
  for (int i = 0; i < 3; ++i) {
    request = requestOf(names[i], 9);
    OK(kvServerAdd(server, &request));
  }
  FAILS(kvServerAdd(server, &request), Invalid,
        "request z: its id is that of a running request");
  step(server, "y", &beside);
  KvGenerationCounts counts;
  OK(kvServerGetCounts(server, "y", &counts));
  EXPECT(counts.promptTokens == (int64_t)request.numTokens);
  EXPECT(counts.cachedTokens >= 0 && counts.newTokens == 1);
  OK(kvServerGetCounts(server, "z", &counts));
  EXPECT(counts.cachedTokens == 0 && counts.newTokens == 0);
  EXPECT(counts.queueSeconds > 0);
  FAILS(kvServerGetCounts(server, "w", &counts), Invalid,
        "kvServerGetCounts: the server has no request w");
  OK(kvServerAbort(server, "z"));
  OK(kvServerAbort(server, "x"));
  FAILS(kvServerAbort(server, "x"), Invalid,
        "kvServerAbort: the server has no request x");
  while (step(server, "y", &beside))
    ;
  EXPECT(beside.count == 9 && beside.last == KV_SERVER_LENGTH);
  EXPECT(memcmp(alone.tokens, beside.tokens, 9 * sizeof(int32_t)) == 0);
  OK(kvManagerNumFreeBlocks(manager, -1, &after));
  EXPECT(before == after);
  KvServerFigures figures;
  OK(kvServerGetFigures(server, &figures));
  EXPECT(figures.aborted == 2 && figures.failed == 1);

  // A server that ends releases what it still has.
  request = requestOf("left", 9);
  OK(kvServerAdd(server, &request));
  request = requestOf("last", 9);
  OK(kvServerAdd(server, &request));
  int32_t more = 0;
  OK(kvServerStep(server, &more));
  EXPECT(more == 1);
  OK(kvServerGetFigures(server, &figures));
  EXPECT(figures.running == 2);
  OK(kvServerAbort(server, "last"));
  OK(kvServerGetFigures(server, &figures));
  EXPECT(figures.running == 1);
  kvServerDestroy(server);
  OK(kvManagerNumFreeBlocks(manager, -1, &after));
  EXPECT(before == after);
}

// The tenant that had the fewest tokens begins first.
static void turns(void) {
  KvServer *server = serverOf(1);
  const char *names[] = {"a", "later", "b"}, *tenants[] = {NULL, "", "t"};
  for (int i = 0; i < 3; ++i) {
    KvGenerationRequest request = requestOf(names[i], 9);
    request.tenant = tenants[i];
    OK(kvServerAdd(server, &request));
  }
  Answer other;
  memset(&other, 0, sizeof other);
  while (!other.last)
    step(server, "b", &other);
  KvGenerationCounts counts;
  OK(kvServerGetCounts(server, "later", &counts));
  EXPECT(counts.newTokens == 0);
  kvServerDestroy(server);
}

// Tokens that are not larger than those before.
static int32_t falling(void *calls, const int32_t *answer, int64_t numTokens,
                       uint32_t *allowed, int64_t numWords) {
  EXPECT(numWords == (Vocab + 31) / 32 && allowed[0] == 0);
  EXPECT(numTokens == (*(int64_t *)calls)++);
  int32_t last = numTokens ? answer[numTokens - 1] : Vocab - 1;
  for (int32_t token = 0; token <= last; ++token)
    allowed[token / 32] |= 1u << token % 32;
  return last == 0;
}

static void rules(void) {
  KvServer *server = serverOf(0);
  KvGenerationRequest request = requestOf("forced", 4);
  KvLogitBias bias = {3, 1e6f};
  request.logitBias = &bias;
  request.numLogitBias = 1;
  Answer forced = serve(server, &request);
  EXPECT(forced.count == 4);
  for (int i = 0; i < forced.count; ++i)
    EXPECT(forced.tokens[i] == 3);

  int64_t calls = 0;
  request = requestOf("masked", 5);
  request.mask = falling;
  request.maskData = &calls;
  Answer masked = serve(server, &request);
  EXPECT(calls >= masked.count);
  for (int i = 1; i < masked.count; ++i)
    EXPECT(masked.tokens[i] <= masked.tokens[i - 1]);

  // The prompt's tokens but the first, then those of the answer.
  request = requestOf("known", 2);
  request.numLogprobs = 3;
  request.numPromptLogprobs = 1;
  OK(kvServerAdd(server, &request));
  int64_t ofPrompt = 0, ofAnswer = 0;
  for (int32_t more = 1; more;) {
    const KvServerEvent *events = NULL;
    int64_t count = 0;
    OK(kvServerStep(server, &more));
    OK(kvServerGetEvents(server, &events, &count));
    for (int64_t i = 0; i < count; ++i) {
      const KvServerEvent *event = &events[i];
      if (event->kind == KV_SERVER_PROMPT_TOKEN) {
        EXPECT(event->index == ++ofPrompt && event->numTop == 0);
        EXPECT(event->token == prompt[ofPrompt] && event->rank > 0);
        EXPECT(event->logprob <= 0);
      } else if (event->kind == KV_SERVER_TOKEN) {
        ++ofAnswer;
        EXPECT(event->rank == 1 && event->numTop == 2);
        EXPECT(event->top[0].token == event->token);
        EXPECT(event->top[0].logprob == event->logprob);
        EXPECT(event->top[1].logprob <= event->logprob);
      }
    }
  }
  EXPECT(ofPrompt == 8 && ofAnswer == 2);

  request = requestOf("a", 1);
  request.numLogprobs = -1;
  FAILS(kvServerAdd(server, &request), Invalid,
        "request a: numLogprobs is -1, allowed: 0 (none) or more");
  request.numLogprobs = 0;
  request.numLogitBias = 1;
  FAILS(kvServerAdd(server, &request), Invalid,
        "request a: 1 logit biases at null");
  kvServerDestroy(server);
}

static void refuses(void) {
  KvServer *server = serverOf(0), *none = NULL;
  KvGenerationRequest request = requestOf("a", -1);
  FAILS(kvServerAdd(server, &request), Invalid,
        "request a: maxNewTokens is -1, allowed: 0 (as many as the model "
        "takes) or more");
  request = requestOf("a", 1);
  request.temperature = -1;
  FAILS(kvServerAdd(server, &request), Invalid,
        "request a: temperature is -1.000000, allowed: 0 (greedy) or more");
  request = requestOf("a", 1);
  request.topK = -1;
  FAILS(kvServerAdd(server, &request), Invalid,
        "request a: topK is -1, allowed: 0 (all) or more");
  request.topK = 0;
  request.topP = 1.5;
  FAILS(kvServerAdd(server, &request), Invalid,
        "request a: topP is 1.500000, allowed: above 0, at most 1");
  request = requestOf("a", 1);
  request.numTokens = 0;
  FAILS(kvServerAdd(server, &request), Invalid,
        "request a: no prompt tokens, at least one is needed");
  request.numTokens = -1;
  FAILS(kvServerAdd(server, &request), Invalid,
        "request a: -1 tokens, allowed: 0 or more");
  int32_t wrong[] = {1, Vocab};
  request.tokens = wrong;
  request.numTokens = 2;
  FAILS(kvServerAdd(server, &request), Invalid,
        "request a: tokens[1] is 50, the vocabulary is 0 to 49");
  request.id = NULL;
  FAILS(kvServerAdd(server, &request), Invalid, "kvServerAdd: id is null");
  FAILS(kvServerAdd(NULL, &request), Invalid, "kvServerAdd: server is null");
  // What was refused has left nothing.
  int32_t more = 1;
  OK(kvServerStep(server, &more));
  EXPECT(more == 0);
  kvServerDestroy(server);
  kvServerDestroy(NULL);

  KvServerOptions options = {-1, 0};
  FAILS(kvServerCreate(model, manager, &options, &none), Invalid,
        "kvServerCreate: maxBatch is -1, allowed: 1 to 1048575");
  FAILS(kvServerCreate(model, NULL, NULL, &none), Invalid,
        "kvServerCreate: manager is null");
  const KvManifest *manifest = NULL;
  OK(kvModelGetManifest(model, &manifest));
  KvCacheSpec spec;
  OK(kvManifestGetCacheSpec(manifest, &spec));
  const char *devices[] = {"virtual:sm_90a"};
  KvManagerOptions other;
  memset(&other, 0, sizeof other);
  other.devices = devices;
  other.numDevices = 1;
  other.maxSeqLen = 64;
  KvManager *elsewhere = NULL;
  OK(kvManagerCreate(&spec, &other, &elsewhere));
  FAILS(kvServerCreate(model, elsewhere, NULL, &none), Invalid,
        "kvServerCreate: the manager has memory of virtual:sm_90a, the session "
        "runs on cpu:0");
  kvManagerDestroy(elsewhere);
  EXPECT(none == NULL);
}

// What pages of the model are called, and peers that cannot be.
static void identifies(void) {
  KvModelIdentity identity, again;
  OK(kvModelGetIdentity(model, &identity));
  OK(kvModelGetIdentity(model, &again));
  EXPECT(identity.pages == again.pages && identity.peers == again.peers);
  EXPECT(strlen(identity.pages) > 40 && strstr(identity.peers, " on cpu"));
  FAILS(kvModelGetIdentity(NULL, &identity), Invalid,
        "kvModelGetIdentity: model is null");

  KvManagerOptions options;
  memset(&options, 0, sizeof options);
  options.numPages = 16;
  options.peer = "ipc:///tmp/nobody";
  KvManager *none = NULL;
  FAILS(kvModelCreateManager(model, &options, &none), Invalid,
        "kvManagerCreate: peer is given, and no peerRole");
  options.peerRole = KV_PEER_DECODE;
  FAILS(kvModelCreateManager(model, &options, &none), Invalid,
        "a peer is given, and no connector: its pages come by way of host "
        "memory");
  options.peerRole = 3;
  FAILS(kvModelCreateManager(model, &options, &none), Invalid,
        "kvManagerCreate: peerRole is 3, allowed: 0 (none), 1 (prefill), 2 "
        "(decode)");
  EXPECT(none == NULL);
  KvServer *server = serverOf(0);
  int32_t descriptor = 0;
  OK(kvServerGetPromptDescriptor(server, &descriptor));
  EXPECT(descriptor == -1);
  kvServerDestroy(server);
}

int main(void) {
  writeWeights(weights, "bias", Vocab);
  model = loadAlone();
  manager = managerOf(model);
  answers();
  drafts();
  aborts();
  turns();
  rules();
  refuses();
  identifies();
  // The server keeps what it needs.
  KvServer *server = serverOf(0);
  kvModelDestroy(model);
  kvManagerDestroy(manager);
  KvGenerationRequest request = requestOf("a", 3);
  EXPECT(serve(server, &request).count == 3);
  kvServerDestroy(server);
  remove(weights);
  return report();
}
