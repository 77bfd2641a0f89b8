/*===- Peer.h - A library to compare with -------------------------*- C -*-===*\
|*
|* gpu-verify --peer=NAME=PATH times kvPeerAttention of a shared library beside
|* the project's kernels, on the same memory.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KV_TEST_GPU_PEER_H
#define KV_TEST_GPU_PEER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* bf16, causal, rows of one sequence after those of another, all sequences of
   the same lengths. Addresses are the device's. */
typedef struct KvPeerAttention {
  const void *q;          /* [sequences * added][heads * group][dim] */
  void *out;              /* like q */
  const void *k, *v;      /* [pages][page][heads][dim], page_stride elements */
  int64_t page_stride;    /* from one page to the next, of k and of v */
  const int32_t *table;   /* [sequences][table_columns] of pages */
  const int32_t *lengths; /* [sequences]: keys, this step's among them */
  const int32_t *offsets; /* [sequences + 1]: rows of q */
  int32_t sequences, added, length, table_columns;
  int32_t heads, group, dim, page, pages;
  float scale;
} KvPeerAttention;

/* Queues the attention on a CUstream; nonzero: not this shape. The first call
   of a shape may take as long as it likes. */
int kvPeerAttention(const KvPeerAttention *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif /* KV_TEST_GPU_PEER_H */
