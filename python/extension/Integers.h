//===- Integers.h - Integers of Python as arguments -------------*- C++ -*-===//
//
// nanobind answers an integer that an argument's type does not hold with a
// list of the function's signatures. With these casters such an integer is an
// invalid argument, which a sentence names. Every file that binds functions
// includes this one, through Common.h.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PYTHON_INTEGERS_H
#define KV_PYTHON_INTEGERS_H

#include <cstdint>
#include <limits>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

namespace kv::python {

/// Raises InvalidArgumentError: the integer is given, `least` to `most` are
/// allowed.
[[noreturn]] void raiseBeyond(nanobind::handle integer, int64_t least,
                              int64_t most);

/// Reads a Python integer. Returns false for an object that is none.
template <class T> class Integer {
public:
  bool read(nanobind::handle source) noexcept {
    nanobind::object index = nanobind::steal(PyNumber_Index(source.ptr()));
    if (!index.is_valid()) {
      PyErr_Clear();
      return false;
    }
    int overflow = 0;
    int64_t number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow != 0 || number < std::numeric_limits<T>::min() ||
        number > std::numeric_limits<T>::max())
      beyond = std::move(index);
    value = static_cast<T>(number);
    return true;
  }

  bool fits() const noexcept { return !beyond.is_valid(); }

  T get() const {
    if (!fits())
      raiseBeyond(beyond, std::numeric_limits<T>::min(),
                  std::numeric_limits<T>::max());
    return value;
  }

private:
  T value = 0;
  nanobind::object beyond; // the integer that T does not hold
};

template <class T> struct IntegerCaster {
  static constexpr auto Name = nanobind::detail::const_name("int");
  template <typename> using Cast = T;

  bool from_python(nanobind::handle source, uint32_t,
                   nanobind::detail::cleanup_list *) noexcept {
    return integer.read(source);
  }
  static nanobind::handle from_cpp(T number, nanobind::rv_policy,
                                   nanobind::detail::cleanup_list *) noexcept {
    return PyLong_FromLongLong(number);
  }
  /// Of lists, whose casters may not throw.
  template <typename> bool can_cast() const noexcept { return integer.fits(); }
  operator T() const { return integer.get(); }

  Integer<T> integer;
};

template <class T> struct OptionalIntegerCaster : IntegerCaster<T> {
  static constexpr auto Name = nanobind::detail::const_name("int | None");
  template <typename> using Cast = std::optional<T>;

  bool from_python(nanobind::handle source, uint32_t,
                   nanobind::detail::cleanup_list *) noexcept {
    isNone = source.is_none();
    return isNone || this->integer.read(source);
  }
  static nanobind::handle from_cpp(std::optional<T> number, nanobind::rv_policy,
                                   nanobind::detail::cleanup_list *) noexcept {
    return number ? PyLong_FromLongLong(*number)
                  : nanobind::none().release().ptr();
  }
  operator std::optional<T>() const {
    return isNone ? std::nullopt : std::optional<T>(this->integer.get());
  }

  bool isNone = false;
};

} // namespace kv::python

template <>
struct nanobind::detail::type_caster<int32_t>
    : kv::python::IntegerCaster<int32_t> {};
template <>
struct nanobind::detail::type_caster<int64_t>
    : kv::python::IntegerCaster<int64_t> {};
template <>
struct nanobind::detail::type_caster<std::optional<int32_t>>
    : kv::python::OptionalIntegerCaster<int32_t> {};
template <>
struct nanobind::detail::type_caster<std::optional<int64_t>>
    : kv::python::OptionalIntegerCaster<int64_t> {};

#endif // KV_PYTHON_INTEGERS_H
