#define KV_ATTENTION_TYPES 2
#include "Attention.inc"
