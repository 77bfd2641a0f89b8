//===- KernelImages.h - Device code in an artifact --------------*- C++ -*-===//
//
// The section .kv.kernels of an artifact for a GPU: a KvKernelImages, `count`
// rows of KvKernelImage, and the images, each aligned to 16 bytes. kv-compile
// writes the section from the files next to it, and the runtime reads it
// without loading the artifact.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_KERNELIMAGES_H
#define KV_ABI_KERNELIMAGES_H

#include <stdint.h>

#define KV_KERNEL_IMAGES_SECTION ".kv.kernels"
#define KV_KERNEL_IMAGES_MAGIC "KVKERNEL"
#define KV_KERNEL_IMAGES_VERSION 1

typedef struct KvKernelImages {
  char magic[8]; // KV_KERNEL_IMAGES_MAGIC, without its NUL
  uint32_t version;
  uint32_t count;
} KvKernelImages;

/// One image: an attention kernel with the name `name`, for example
/// "kv_attention_decode_bf16_64", or all movers, "kv_movers". `chip` says where
/// the image runs: "sm_80", "sm_90a", "sm_100a" and "sm_120" are cubins for
/// such chips; "compute_80" is PTX text, which a driver translates for this
/// chip and later ones. Both strings are NUL-terminated.
typedef struct KvKernelImage {
  char name[48];
  char chip[16];
  uint64_t offset; // from the section's beginning
  uint64_t bytes;
} KvKernelImage;

#ifdef __cplusplus
static_assert(sizeof(KvKernelImages) == 16,
              "KvKernelImages is part of the ABI");
static_assert(sizeof(KvKernelImage) == 80, "KvKernelImage is part of the ABI");
#endif

#endif // KV_ABI_KERNELIMAGES_H
