//===- ManagerSetup.cpp - A manager and what is around it -----------------===//

#include "kv/Runtime/Manager/ManagerSetup.h"

#include <utility>

using namespace kv;

Expected<void> ManagerSetup::validate() const {
#define RANGE_NUMBER(name, type, place, standard, least, most, ...)            \
  if (type value = place;                                                      \
      value && (std::cmp_less(value, least) || std::cmp_greater(value, most))) \
    return makeError(KV_STATUS_INVALID_ARGUMENT,                               \
                     "cache manager: " #name " is ", value,                    \
                     ", allowed: ", least, " to ", most);
#define RANGE_COUNT RANGE_NUMBER
#define RANGE_SWITCH(...)
#define RANGE_TEXT(...)
#define RANGE_CHOICE(...)
#define RANGE_OTHER(...)
#define KV_OPTION(kind, ...) RANGE_##kind(__VA_ARGS__)
#include "kv/ABI/ManagerOptions.def"
  return {};
}
