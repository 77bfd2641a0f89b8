//===- Errors.cpp - Statuses as Python exceptions -------------------------===//

#include "Common.h"
#include "RequestIds.h"

#include <cctype>

using namespace kv::python;

static const char *classOf(int32_t status, int32_t refusal) {
  switch (refusal) {
  case KV_REFUSAL_WAIT:
  case KV_REFUSAL_FULL:
  case KV_REFUSAL_NEVER_FITS:
  case KV_REFUSAL_LOADING:
    return "InsufficientBlocksError";
  default:
    break;
  }
  switch (status) {
  case KV_STATUS_INVALID_ARGUMENT:
    return "InvalidArgumentError";
  case KV_STATUS_OUT_OF_RANGE:
    return "OutOfRangeError";
  case KV_STATUS_OUT_OF_MEMORY:
    return "OutOfMemoryError";
  case KV_STATUS_UNSUPPORTED:
    return "UnsupportedError";
  default:
    return "InternalError";
  }
}

void kv::python::raiseBeyond(nb::handle integer, int64_t least, int64_t most) {
  // Python writes no number of thousands of digits.
  int64_t bits = nb::cast<int64_t>(integer.attr("bit_length")());
  std::string number = bits <= 256 ? nb::cast<std::string>(nb::str(integer))
                                   : "of " + std::to_string(bits) + " bits";
  raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,
        "an argument is " + number + ", allowed: " + std::to_string(least) +
            " to " + std::to_string(most));
}

std::string kv::python::toSnake(std::string_view name) {
  std::string text;
  bool upper = false; // DType is one word
  for (char c : name) {
    if (std::isupper(c) && !text.empty() && !upper)
      text += '_';
    upper = std::isupper(c);
    text += static_cast<char>(std::tolower(c));
  }
  return text;
}

/// What messages of the runtime name as in C.
static constexpr const char *Fields[] = {
#define KV_OPTION(kind, name, ...) #name,
#include "kv/ABI/ManagerOptions.def"
#define KV_OPTION(kind, name, ...) #name,
#include "kv/ABI/ServerOptions.def"
    "maxNewTokens",      "minP",           "pageSize",
    "prefixDuration",    "prefixPriority", "prefixTokens",
    "speculativeMethod", "topK",           "topP"};

/// Those that Python spells otherwise, with its spelling.
static const std::vector<std::pair<std::string_view, std::string>> &
spellings() {
  static const auto all = [] {
    std::vector<std::pair<std::string_view, std::string>> found;
    for (const char *field : Fields)
      if (std::string keyword = toSnake(field); keyword != field)
        found.emplace_back(field, std::move(keyword));
    return found;
  }();
  return all;
}

/// Replaces each whole word `from`.
static void replaceWord(std::string &message, std::string_view from,
                        std::string_view to) {
  auto isPart = [&](size_t at) {
    return at < message.size() &&
           (std::isalnum(static_cast<unsigned char>(message[at])) ||
            message[at] == '_' || message[at] == '/' || message[at] == '.');
  };
  for (size_t at = 0; (at = message.find(from, at)) != std::string::npos;) {
    bool ends = !isPart(at + from.size()) || message[at + from.size()] == '.';
    if (ends && (at == 0 || !isPart(at - 1))) {
      message.replace(at, from.size(), to);
      at += to.size();
    } else {
      at += from.size();
    }
  }
}

/// A message of the C interface in Python's names: functions without kvManager
/// and the like, options as keywords are spelled.
std::string kv::python::inPython(std::string message) {
  if (message.starts_with("kv") && message.size() > 2 &&
      std::isupper(message[2])) {
    size_t end = message.find_first_of(": ");
    std::string_view name(message.data() + 2,
                          std::min(end, message.size()) - 2);
    for (std::string_view object :
         {"Manager", "Request", "Session", "Model", "Invocation", "Server"})
      if (name.starts_with(object) && name.size() > object.size())
        name.remove_prefix(object.size());
    bool isMaking = name == "Create"; // Python calls a class
    message.replace(0, std::min(end + (isMaking ? 2 : 0), message.size()),
                    isMaking ? "" : toSnake(name));
  }
  for (const auto &[field, keyword] : spellings())
    replaceWord(message, field, keyword);
  return message;
}

void kv::python::raise(int32_t status, int32_t refusal) {
  raise(status, refusal, kvErrorMessage());
}

void kv::python::raise(int32_t status, int32_t refusal, std::string message) {
  nb::object type =
      nb::module_::import_("kvmlir.errors").attr(classOf(status, refusal));
  nb::object error = type(withNames(inPython(std::move(message))));
  constexpr const char *Reasons[] = {"",           "wait", "full",
                                     "never_fits", "",     "loading"};
  if (refusal != KV_REFUSAL_NONE && refusal != KV_REFUSAL_INVALID)
    error.attr("reason") = Reasons[refusal];
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

const char *kv::python::cString(const std::string &text, const char *name) {
  if (size_t at = text.find('\0'); at != std::string::npos)
    raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,
          std::string(name) + " has a NUL at " + std::to_string(at) +
              ", allowed: a text without");
  return text.c_str();
}

nb::object kv::python::dtypeOf(int64_t dtype) {
  return nb::module_::import_("kvmlir.types").attr("DTYPES")[nb::int_(dtype)];
}

nb::tuple kv::python::argumentOf(const KvArgument &argument) {
  nb::list sizes;
  for (int32_t i = 0; i < argument.rank; ++i)
    if (argument.symbols[i])
      sizes.append(argument.symbols[i]);
    else
      sizes.append(argument.sizes[i]);
  auto text = [](const char *given) {
    return given ? nb::object(nb::str(given)) : nb::none();
  };
  return nb::make_tuple(argument.name, argument.kind, argument.dtype,
                        argument.onHost != 0, nb::tuple(sizes),
                        text(argument.collection), text(argument.layout));
}
