#define KV_ATTENTION_TYPES 1
#include "Attention.inc"
