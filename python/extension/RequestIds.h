//===- RequestIds.h - Strings and integers as request ids -------*- C++ -*-===//
//
// The runtime's ids are integers. Python's are integers below 2^63, which stand
// for themselves, or strings, which get the numbers from there on for as long
// as a context or a claim uses them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PYTHON_REQUESTIDS_H
#define KV_PYTHON_REQUESTIDS_H

#include "Common.h"

#include <utility>

namespace kv::python {

inline constexpr uint64_t FirstNamedId = uint64_t(1) << 63;

/// A use of a string's number; of an integer nothing but the number. Movable.
class IdUse {
public:
  IdUse() = default;
  explicit IdUse(nb::handle id);
  IdUse(IdUse &&other) noexcept : number(std::exchange(other.number, 0)) {}
  IdUse &operator=(IdUse &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~IdUse();

  uint64_t value() const { return number; }

private:
  uint64_t number = 0;
};

/// The number of an id that may be in use; of a string that nobody uses, a
/// number that no request has.
uint64_t findId(nb::handle id);

/// The message with the strings that its numbers stand for: `request "a"`.
std::string withNames(std::string message);

} // namespace kv::python

#endif // KV_PYTHON_REQUESTIDS_H
