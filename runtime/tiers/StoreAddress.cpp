//===- StoreAddress.cpp - Where a store that machines share is ------------===//

#include "StoreAddress.h"

#include <charconv>
#include <optional>

using namespace kv;

namespace {

/// Splits `text` at the first `at`: what is before it, and what follows is left
/// in `text`. Nullopt, and all is left: there is none.
std::optional<std::string_view> cut(std::string_view &text, char at) {
  size_t end = text.find(at);
  if (end == std::string_view::npos)
    return std::nullopt;
  std::string_view first = text.substr(0, end);
  text.remove_prefix(end + 1);
  return first;
}

Expected<int64_t> number(std::string_view name, std::string_view text,
                         int64_t least, int64_t most) {
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      value < least || value > most)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "store: ", name, " is '", text,
                     "', allowed: ", least, " to ", most);
  return value;
}

Expected<void> readQuery(std::string_view query, StoreAddress &address) {
  while (!query.empty()) {
    std::string_view value = query;
    if (std::optional<std::string_view> first = cut(query, '&'))
      value = *first;
    else
      query = {};
    std::string_view name = cut(value, '=').value_or(std::string_view());
    bool isDb = name == "db", isTimeout = name == "timeout";
    if (!isDb && !isTimeout && name != "ttl")
      return makeError(KV_STATUS_INVALID_ARGUMENT, "store: an option is '",
                       name.empty() ? value : name,
                       "', allowed: db=N, timeout=MILLISECONDS, ttl=SECONDS");
    Expected<int64_t> read =
        number(name, value, isTimeout ? 1 : 0,
               isDb        ? INT32_MAX
               : isTimeout ? 60'000
                           : int64_t(100) * 365 * 24 * 3600);
    if (!read)
      return std::unexpected(read.error());
    if (isDb)
      address.db = static_cast<int>(*read);
    else if (isTimeout)
      address.timeout = std::chrono::milliseconds(*read);
    else
      address.ttl = *read;
  }
  return {};
}

Expected<void> readHost(std::string_view text, StoreAddress &address) {
  if (size_t at = text.rfind('@'); at != std::string_view::npos) {
    std::string_view secret = text.substr(0, at);
    text.remove_prefix(at + 1);
    address.user = cut(secret, ':').value_or(std::string_view());
    address.password = secret;
  }
  std::string_view authority = text;
  if (std::optional<std::string_view> first = cut(text, '/')) {
    authority = *first;
    if (!text.empty()) {
      Expected<int64_t> db = number("db", text, 0, INT32_MAX);
      if (!db)
        return std::unexpected(db.error());
      address.db = static_cast<int>(*db);
    }
  }
  if (authority.starts_with('[')) { // an address of IPv6
    authority.remove_prefix(1);
    address.host = cut(authority, ']').value_or(std::string_view());
    if (authority.starts_with(':'))
      authority.remove_prefix(1);
  } else if (std::optional<std::string_view> host = cut(authority, ':')) {
    address.host = *host;
  } else {
    address.host = authority;
    authority = {};
  }
  if (address.host.empty())
    return makeError(KV_STATUS_INVALID_ARGUMENT, "store: no host is given");
  if (!authority.empty()) {
    Expected<int64_t> port = number("port", authority, 1, 65535);
    if (!port)
      return std::unexpected(port.error());
    address.port = static_cast<int>(*port);
  }
  return {};
}

} // namespace

Expected<StoreAddress> StoreAddress::parse(std::string_view text) {
  StoreAddress address;
  std::string_view query = text, where = text;
  if (std::optional<std::string_view> first = cut(query, '?'))
    where = *first;
  else
    query = {};
  if (where.starts_with("unix://"))
    where.remove_prefix(7);
  if (where.starts_with('/')) {
    address.path = where;
  } else if (where.starts_with("redis://") || where.starts_with("valkey://")) {
    where.remove_prefix(where.find("//") + 2);
    if (Expected<void> read = readHost(where, address); !read)
      return std::unexpected(read.error());
  } else {
    // Not the text itself, which may hold a password.
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "store: the address begins "
                     "with '",
                     where.substr(0, where.find("//")),
                     "', allowed: redis://[[user]:password@]host[:port][/db], "
                     "unix:///path, /path");
  }
  if (Expected<void> read = readQuery(query, address); !read)
    return std::unexpected(read.error());
  return address;
}
