//===- SumOrder.cpp - The order of sums by the environment ----------------===//

#include "MatrixUnit.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace kv::cuda;

SumOrder kv::cuda::usualOrder() {
  static const SumOrder usual = [] {
    const char *given = std::getenv("KV_SUM_ORDER");
    constexpr std::string_view Names[] = {"fused", "first", "last", "pairs",
                                          "shuffled"};
    auto *name = std::find(std::begin(Names), std::end(Names),
                           given ? std::string_view(given) : Names[0]);
    if (name == std::end(Names)) {
      std::fprintf(stderr,
                   "KV_SUM_ORDER is \"%s\", and may be fused, first, last, "
                   "pairs or shuffled\n",
                   given);
      std::exit(1);
    }
    return SumOrder(name - Names);
  }();
  return usual;
}
