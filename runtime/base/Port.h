//===- Port.h - The port of an address --------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_BASE_PORT_H
#define KV_RUNTIME_BASE_PORT_H

#include <charconv>
#include <optional>
#include <string_view>

namespace kv {

inline constexpr int MostPort = 65535;

/// The number after an address's last colon, 0 to MostPort; nothing if there is
/// none.
inline std::optional<int> portOf(std::string_view address) {
  std::string_view text = address.substr(address.rfind(':') + 1);
  int port = -1;
  auto [end, status] =
      std::from_chars(text.data(), text.data() + text.size(), port);
  if (status != std::errc() || end != text.data() + text.size() || port < 0 ||
      port > MostPort)
    return std::nullopt;
  return port;
}

} // namespace kv

#endif // KV_RUNTIME_BASE_PORT_H
