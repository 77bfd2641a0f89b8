/* The same with one contiguous slot a sequence. */

#define PAGE 64
#define TABLE                                                                  \
  1, { BATCH }
#include "HistoryArtifact.c"
