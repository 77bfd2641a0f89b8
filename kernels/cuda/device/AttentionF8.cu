#define KV_ATTENTION_TYPES 4
#include "Attention.inc"
