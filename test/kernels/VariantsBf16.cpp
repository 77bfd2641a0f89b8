//===- VariantsBf16.cpp
//------------------------------------------------------===//

#include "Variants.h"

::testing::AssertionResult kv::cuda::test::checkBf16(const Variant &variant,
                                                     const AttentionCase &c) {
  return checkTyped<Bf16, Bf16>(variant, c);
}
