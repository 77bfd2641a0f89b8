//===- Comparisons.h - Those of all types of numbers ------------*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_PTX_COMPARISONS_H
#define KV_KERNELS_EMULATOR_PTX_COMPARISONS_H

#include "Program.h"

namespace kv::ptx {

template <class T> bool equal(T a, T b) { return a == b; }
/// Not of a NaN.
template <class T> bool unequal(T a, T b) { return a < b || a > b; }
template <class T> bool less(T a, T b) { return a < b; }
template <class T> bool atMost(T a, T b) { return a <= b; }
template <class T> bool greater(T a, T b) { return a > b; }
template <class T> bool atLeast(T a, T b) { return a >= b; }

template <class T> void addOrder(Forms &forms, const std::string &type) {
  forms["setp.eq" + type] = pure<equal<T>>();
  forms["setp.ne" + type] = pure<unequal<T>>();
  forms["setp.lt" + type] = pure<less<T>>();
  forms["setp.le" + type] = pure<atMost<T>>();
  forms["setp.gt" + type] = pure<greater<T>>();
  forms["setp.ge" + type] = pure<atLeast<T>>();
}

} // namespace kv::ptx

#endif // KV_KERNELS_EMULATOR_PTX_COMPARISONS_H
