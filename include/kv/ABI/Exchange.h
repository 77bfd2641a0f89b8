//===- Exchange.h - Bytes of keys and values, described ---------*- C -*-===//
//
// A descriptor of 128 bytes says what the bytes of keys and values after it
// mean, so that other engines and stores read them without a guess. Its bytes
// are defined by docs/reference/exchange.md. C99; includes nothing of kv-mlir.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_EXCHANGE_H
#define KV_ABI_EXCHANGE_H

#include <stdint.h>
#include <string.h>

#define KV_EXCHANGE_SIZE 128
#define KV_EXCHANGE_MAGIC 0x3158564b // the letters KVX1

/// Dimensions of the rows, in their logical order. Each is a number in `order`.
enum {
  KV_EXCHANGE_PAGE,
  KV_EXCHANGE_PLANE,
  KV_EXCHANGE_LAYER,
  KV_EXCHANGE_TOKEN,
  KV_EXCHANGE_HEAD,
  KV_EXCHANGE_DIMS
};

typedef struct KvExchange {
  uint8_t dtype;      // a value of DTypes.def: 0 to 4 and 6
  uint8_t planes;     // 2: keys and values; 1: latent rows
  uint8_t scaleDtype; // a value of DTypes.def: 0, 1, 2 or 5; 255: no scales
  uint8_t order[KV_EXCHANGE_DIMS]; // from the outermost to the innermost
  uint32_t layers, firstLayer;     // in these bytes; the first one's number
  uint32_t heads, firstHead;       // the same of KV heads
  uint32_t allHeads;               // of the model
  uint32_t dim;                    // elements of a row
  uint32_t valueDim;   // of a value: dim, or of a latent row its leading ones
  uint32_t scaleGroup; // elements that share a scale; 0: no scales
  uint32_t page;       // tokens of a page
  uint32_t window;     // tokens that a query sees; 0: all
  uint64_t pages;
  uint64_t first;     // position of the first token; a multiple of page
  uint64_t tokens;    // that have rows; those of the last page may be fewer
  uint8_t model[16];  // who computed: never all 0
  uint8_t prefix[16]; // digest of the tokens up to the last one; 0: not given
} KvExchange;

static inline uint64_t kvExchangeGet(const uint8_t *bytes, int count) {
  uint64_t value = 0;
  while (count-- > 0)
    value = value << 8 | bytes[count];
  return value;
}

static inline void kvExchangePut(uint8_t *bytes, int count, uint64_t value) {
  for (int i = 0; i < count; ++i, value >>= 8)
    bytes[i] = (uint8_t)value;
}

/// Bytes of an element; 0: not a type of rows or scales.
static inline uint32_t kvExchangeElement(uint8_t dtype) {
  static const uint8_t bytes[] = {4, 2, 2, 1, 1, 1, 1};
  return dtype < sizeof bytes ? bytes[dtype] : 0;
}

/// The size of a dimension.
static inline uint64_t kvExchangeExtent(const KvExchange *it, int dim) {
  switch (dim) {
  case KV_EXCHANGE_PAGE:
    return it->pages;
  case KV_EXCHANGE_PLANE:
    return it->planes;
  case KV_EXCHANGE_LAYER:
    return it->layers;
  case KV_EXCHANGE_TOKEN:
    return it->page;
  default:
    return it->heads;
  }
}

/// Bytes of all rows and of all scales, which follow them; UINT64_MAX: more
/// than 2^62.
static inline uint64_t kvExchangeBytes(const KvExchange *it) {
  uint64_t bytes = (uint64_t)it->dim * kvExchangeElement(it->dtype);
  if (it->scaleGroup)
    bytes += (uint64_t)(it->dim / it->scaleGroup) *
             kvExchangeElement(it->scaleDtype);
  for (int dim = 0; dim < KV_EXCHANGE_DIMS; ++dim) {
    uint64_t extent = kvExchangeExtent(it, dim);
    if (bytes == 0 || extent > ((uint64_t)1 << 62) / bytes)
      return UINT64_MAX;
    bytes *= extent;
  }
  return bytes;
}

/// Byte of a row's first element, or of its first scale. The page and the token
/// are those of the position: position = first + page * it->page + token.
static inline uint64_t kvExchangeOffset(const KvExchange *it, int ofScales,
                                        uint64_t page, uint32_t plane,
                                        uint32_t layer, uint32_t token,
                                        uint32_t head) {
  const uint64_t index[] = {page, plane, layer, token, head};
  uint64_t rows = 0, count = 1;
  for (int i = 0; i < KV_EXCHANGE_DIMS; ++i) {
    int dim = it->order[i];
    rows = rows * kvExchangeExtent(it, dim) + index[dim];
    count *= kvExchangeExtent(it, dim);
  }
  uint64_t row = (uint64_t)it->dim * kvExchangeElement(it->dtype);
  if (!ofScales)
    return rows * row;
  return count * row +
         rows * (it->dim / it->scaleGroup) * kvExchangeElement(it->scaleDtype);
}

/// The first thing that is wrong with the fields, as a sentence; null if
/// nothing is.
static inline const char *kvExchangeProblem(const KvExchange *it) {
  static const uint8_t none[16] = {0};
  unsigned seen = 0;
  for (int i = 0; i < KV_EXCHANGE_DIMS; ++i)
    seen |= it->order[i] < KV_EXCHANGE_DIMS ? 1u << it->order[i] : 0;
  if (it->dtype > 6 || it->dtype == 5)
    return "dtype is no type of rows, allowed: 0 to 4 and 6";
  if (it->planes != 1 && it->planes != 2)
    return "planes must be 1 or 2";
  if (seen != (1u << KV_EXCHANGE_DIMS) - 1)
    return "order must have each of 0 to 4 once";
  if (!it->layers || it->firstLayer > UINT32_MAX - it->layers)
    return "layers must be positive, and end below 2^32";
  if (!it->heads || it->firstHead > UINT32_MAX - it->heads ||
      it->firstHead + it->heads > it->allHeads)
    return "heads must be positive, and be among all_heads";
  if (it->planes == 1 && it->allHeads != 1)
    return "all_heads must be 1 where planes is 1";
  if (!it->dim || !it->valueDim || it->valueDim > it->dim ||
      (it->planes == 2 && it->valueDim != it->dim))
    return "value_dim must be dim, or 1 to dim where planes is 1";
  if (it->scaleGroup ? it->dim % it->scaleGroup != 0 ||
                           (it->scaleDtype > 2 && it->scaleDtype != 5)
                     : it->scaleDtype != 255)
    return "scale_group must divide dim, with scale_dtype 0, 1, 2 or 5; or be "
           "0 with 255";
  if (!it->page || !it->pages || it->pages > UINT32_MAX)
    return "page and pages must be positive, and below 2^32";
  if (it->tokens <= (it->pages - 1) * it->page ||
      it->tokens > it->pages * it->page)
    return "tokens must end in the last page";
  if (it->first % it->page || it->first > INT64_MAX - it->tokens)
    return "first must be a multiple of page, and the last position below 2^63";
  if (!memcmp(it->model, none, sizeof none))
    return "model must not be 0";
  if (kvExchangeBytes(it) == UINT64_MAX)
    return "there are more than 2^62 bytes";
  return NULL;
}

/// Writes the fields as bytes. Null, or a sentence that says why not.
static inline const char *kvExchangeWrite(const KvExchange *it,
                                          uint8_t bytes[KV_EXCHANGE_SIZE]) {
  const char *problem = kvExchangeProblem(it);
  if (problem)
    return problem;
  const uint32_t words[] = {
      it->layers, it->firstLayer, it->heads,      it->firstHead, it->allHeads,
      it->dim,    it->valueDim,   it->scaleGroup, it->page,      it->window};
  const uint64_t longs[] = {it->pages, it->first, it->tokens,
                            kvExchangeBytes(it)};
  memset(bytes, 0, KV_EXCHANGE_SIZE);
  kvExchangePut(bytes, 4, KV_EXCHANGE_MAGIC);
  bytes[4] = KV_EXCHANGE_SIZE;
  bytes[8] = it->dtype;
  bytes[9] = it->planes;
  bytes[10] = it->scaleDtype;
  memcpy(bytes + 11, it->order, KV_EXCHANGE_DIMS);
  for (int i = 0; i < 10; ++i)
    kvExchangePut(bytes + 24 + 4 * i, 4, words[i]);
  for (int i = 0; i < 4; ++i)
    kvExchangePut(bytes + 64 + 8 * i, 8, longs[i]);
  memcpy(bytes + 96, it->model, 16);
  memcpy(bytes + 112, it->prefix, 16);
  return NULL;
}

/// Reads bytes into fields. Null, or a sentence that says why the bytes are no
/// descriptor; the fields are then not to be used.
static inline const char *kvExchangeRead(const void *given, uint64_t size,
                                         KvExchange *it) {
  const uint8_t *bytes = (const uint8_t *)given;
  if (size < KV_EXCHANGE_SIZE || kvExchangeGet(bytes, 4) != KV_EXCHANGE_MAGIC)
    return "there is no descriptor: 128 bytes that begin with KVX1";
  if (kvExchangeGet(bytes + 4, 4) != KV_EXCHANGE_SIZE)
    return "the descriptor's size must be 128";
  if (kvExchangeGet(bytes + 16, 8))
    return "bytes 16 to 23 must be 0";
  uint32_t *const words[] = {&it->layers,    &it->firstLayer, &it->heads,
                             &it->firstHead, &it->allHeads,   &it->dim,
                             &it->valueDim,  &it->scaleGroup, &it->page,
                             &it->window};
  uint64_t *const longs[] = {&it->pages, &it->first, &it->tokens};
  it->dtype = bytes[8];
  it->planes = bytes[9];
  it->scaleDtype = bytes[10];
  memcpy(it->order, bytes + 11, KV_EXCHANGE_DIMS);
  for (int i = 0; i < 10; ++i)
    *words[i] = (uint32_t)kvExchangeGet(bytes + 24 + 4 * i, 4);
  for (int i = 0; i < 3; ++i)
    *longs[i] = kvExchangeGet(bytes + 64 + 8 * i, 8);
  memcpy(it->model, bytes + 96, 16);
  memcpy(it->prefix, bytes + 112, 16);
  const char *problem = kvExchangeProblem(it);
  if (!problem && kvExchangeGet(bytes + 88, 8) != kvExchangeBytes(it))
    return "the number of bytes is not that of the fields";
  return problem;
}

#endif // KV_ABI_EXCHANGE_H
