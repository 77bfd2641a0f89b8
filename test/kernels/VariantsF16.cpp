//===- VariantsF16.cpp
//------------------------------------------------------===//

#include "Variants.h"

::testing::AssertionResult kv::cuda::test::checkF16(const Variant &variant,
                                                    const AttentionCase &c) {
  return checkTyped<F16, F16>(variant, c);
}
