//===- Specs.h - Specs of caches --------------------------------*- C++ -*-===//

#ifndef KV_PYTHON_SPECS_H
#define KV_PYTHON_SPECS_H

#include "Common.h"

#include <deque>

namespace kv::python {

/// A KvCacheSpec with what it points to.
struct Spec {
  Spec(const nb::list &collections, const nb::kwargs &fields);
  Spec(const Spec &) = delete;

  KvCacheSpec spec = {};
  std::deque<std::string> names; // never moved
  std::vector<KvCollectionSpec> collections;
};

/// A keyword's value. Raises ValueError where it is no such T.
template <class T> T castTo(nb::handle value, const std::string &name) {
  T result = {};
  if (nb::try_cast(value, result))
    return result;
  const char *allowed = std::is_same_v<T, bool>          ? "True or False"
                        : std::is_same_v<T, std::string> ? "a text"
                        : std::is_arithmetic_v<T>        ? "a number that fits"
                        : std::is_same_v<T, std::vector<std::string>>
                            ? "a list of texts"
                            : "pairs of a token id and a number";
  raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,
        name + " is " + nb::repr(value).c_str() + ", allowed: " + allowed);
}

/// A number for which the C interface takes 0 as a default, which Python has
/// as the absence of the keyword.
template <class T> T castToCount(nb::handle value, const std::string &name) {
  if (T result = castTo<T>(value, name))
    return result;
  raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,
        name + " is 0, allowed: 1 or more");
}

/// Sets the fields of a C struct from keyword arguments: one setter a name, as
/// C spells it, which is given the keyword. Errors: a keyword that there is
/// not.
template <class Struct>
void setFields(
    Struct &target, const nb::kwargs &fields, const char *subject,
    std::initializer_list<
        std::pair<const char *, void (*)(Struct &, nb::handle, const char *)>>
        setters) {
  for (auto [key, value] : fields) {
    const char *name = nb::borrow<nb::str>(key).c_str();
    auto at = std::find_if(setters.begin(), setters.end(), [&](auto &one) {
      return toSnake(one.first) == name;
    });
    if (at == setters.end())
      throw nb::type_error(
          (std::string(subject) + " has no field " + name).c_str());
    at->second(target, value, name);
  }
}

} // namespace kv::python

#endif // KV_PYTHON_SPECS_H
