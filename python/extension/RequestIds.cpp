//===- RequestIds.cpp - Strings and integers as request ids ---------------===//

#include "RequestIds.h"

#include <string_view>
#include <unordered_map>

using namespace kv::python;

namespace {

/// Used with the GIL held only.
struct IdTable {
  struct IdEntry {
    std::string name;
    int64_t uses = 0;
  };
  std::unordered_map<std::string, uint64_t> numbers;
  std::unordered_map<uint64_t, IdEntry> entries;
  uint64_t next = FirstNamedId;
  std::string unknown; // the latest name that was looked for and not found
};

/// Never destroyed: contexts may outlive everything else.
IdTable &table() {
  static IdTable *own = new IdTable;
  return *own;
}

uint64_t integerOf(nb::handle id) {
  uint64_t number = 0;
  // An int, or what stands for one: an integer of numpy.
  nb::object index = nb::steal(PyNumber_Index(id.ptr()));
  if (!index.is_valid())
    PyErr_Clear();
  if (!index.is_valid() || !nb::try_cast(index, number) ||
      number >= FirstNamedId)
    raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,
          std::string("request_id is ") + nb::repr(id).c_str() +
              ", allowed: a string, or an integer from 0 to 2**63 - 1");
  return number;
}

std::string_view textOf(nb::handle id) {
  Py_ssize_t length = 0;
  const char *text = PyUnicode_AsUTF8AndSize(id.ptr(), &length);
  if (!text)
    throw nb::python_error();
  return {text, static_cast<size_t>(length)};
}

} // namespace

IdUse::IdUse(nb::handle id) {
  if (!PyUnicode_Check(id.ptr())) {
    number = integerOf(id);
    return;
  }
  IdTable &own = table();
  std::string name(textOf(id));
  auto [at, fresh] = own.numbers.emplace(name, own.next);
  if (fresh)
    own.entries[own.next++].name = std::move(name);
  number = at->second;
  ++own.entries[number].uses;
}

IdUse::~IdUse() {
  if (number < FirstNamedId)
    return;
  IdTable &own = table();
  auto at = own.entries.find(number);
  if (--at->second.uses == 0) {
    own.numbers.erase(at->second.name);
    own.entries.erase(at);
  }
}

uint64_t kv::python::findId(nb::handle id) {
  if (!PyUnicode_Check(id.ptr()))
    return integerOf(id);
  IdTable &own = table();
  auto at = own.numbers.find(std::string(textOf(id)));
  if (at != own.numbers.end())
    return at->second;
  own.unknown = textOf(id);
  return UINT64_MAX;
}

std::string kv::python::withNames(std::string message) {
  constexpr std::string_view Word = "request ";
  for (size_t at = 0; (at = message.find(Word, at)) != std::string::npos;) {
    at += Word.size();
    size_t end = message.find_first_not_of("0123456789", at);
    std::string digits = message.substr(at, end - at);
    if (digits.size() != 19 && digits.size() != 20)
      continue;
    auto entry =
        table().entries.find(std::strtoull(digits.c_str(), nullptr, 10));
    std::string name;
    if (entry != table().entries.end())
      name = '"' + entry->second.name + '"';
    else if (digits == std::to_string(UINT64_MAX))
      name = '"' + table().unknown + '"';
    if (!name.empty())
      message.replace(at, digits.size(), name);
  }
  return message;
}
