//===- VariantsF8.cpp
//------------------------------------------------------===//

#include "Variants.h"

::testing::AssertionResult kv::cuda::test::checkF8(const Variant &variant,
                                                   const AttentionCase &c) {
  return checkTyped<Bf16, F8E4M3>(variant, c);
}
