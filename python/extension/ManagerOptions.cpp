//===- ManagerOptions.cpp - What cache managers are made with -------------===//

#include "Managers.h"

using namespace kv::python;

namespace {

/// The number of a choice of which None is 0.
int32_t choose(nb::handle value, const char *keyword, std::string_view first,
               std::string_view second) {
  if (value.is_none())
    return 0;
  std::string given = nb::cast<std::string>(nb::str(value));
  if (given != first && given != second)
    raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,
          std::string(keyword) + " is " + given + ", allowed: " +
              std::string(first) + ", " + std::string(second) + ", None");
  return given == first ? 1 : 2;
}

} // namespace

ManagerOptions::ManagerOptions(const nb::kwargs &fields) {
#define SET(name, place, ...)                                                  \
  {#name,                                                                      \
   [](ManagerOptions &own, nb::handle value,                                   \
      [[maybe_unused]] const char *keyword) { own.place = __VA_ARGS__; }},
#define SET_NUMBER(name, type, ...)                                            \
  SET(name, options.name, castTo<type>(value, keyword))
#define SET_COUNT(name, type, ...)                                             \
  SET(name, options.name, castToCount<type>(value, keyword))
#define SET_SWITCH(name, ...)                                                  \
  SET(name, options.name, castTo<bool>(value, keyword))
#define SET_TEXT(name, ...) SET(name, options.name, own.text(value, keyword))
#define SET_CHOICE(name, place, first, second, ...)                            \
  SET(name, options.name, choose(value, keyword, first, second))
#define SET_OTHER(...)
#define KV_OPTION(kind, ...) SET_##kind(__VA_ARGS__)
  setFields<ManagerOptions>(
      *this, fields, "a manager",
      {
#include "kv/ABI/ManagerOptions.def"
          SET(devices, devices,
              castTo<std::vector<std::string>>(value, keyword))
              SET(warn, warns, castTo<bool>(value, keyword))
                  SET(command, command, nb::borrow(value))
                      SET(note, note, nb::borrow(value))});
  for (const std::string &device : devices)
    names.push_back(device.c_str());
  options.devices = names.empty() ? nullptr : names.data();
  options.numDevices = static_cast<int32_t>(names.size());
  options.warnContext = this;
  if (warns)
    options.warn = [](void *context, const char *sentence) {
      static_cast<ManagerOptions *>(context)->warnings.emplace_back(sentence);
    };
  if (note.is_valid() && !note.is_none()) {
    options.note = [](void *own, const char *line) { tell(own, "note", line); };
    options.noteContext = note.ptr();
  }
  if (command.is_valid() && !command.is_none()) {
    options.command = [](void *own, int32_t replica, const char *line) {
      tell(own, "command", replica, line);
    };
    options.commandContext = command.ptr();
  }
}

const char *ManagerOptions::text(nb::handle value, const char *keyword) {
  if (value.is_none())
    return nullptr;
  return texts.emplace_back(castTo<std::string>(value, keyword)).c_str();
}

KvManager *ManagerOptions::make(
    const std::function<int32_t(const KvManagerOptions *, KvManager **)>
        &create) {
  KvManager *manager = nullptr;
  std::mutex alone;
  unlocked(alone, [&] { return create(&options, &manager); });
  std::unique_ptr<KvManager, decltype(&kvManagerDestroy)> owned(
      manager, &kvManagerDestroy);
  for (const std::string &sentence : warnings)
    if (PyErr_WarnEx(PyExc_UserWarning, inPython(sentence).c_str(), 2) < 0)
      throw nb::python_error();
  return owned.release();
}

Manager::Manager(const Spec &spec, const nb::kwargs &fields) {
  ManagerOptions options(fields);
  handle = options.make([&](auto *given, auto *out) {
    return kvManagerCreate(&spec.spec, given, out);
  });
  command = options.command;
  note = options.note;
  collections = spec.spec.numCollections;
}
