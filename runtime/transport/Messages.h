//===- Messages.h - The control channel between peers -----------*- C++ -*-===//
//
// Each message is one frame: its kind and its fields, in MessagePack. A
// decoding peer (DEALER) talks to a prefilling one (ROUTER);
// docs/guides/transport.md says what happens when.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TRANSPORT_MESSAGES_H
#define KV_RUNTIME_TRANSPORT_MESSAGES_H

#include "PageType.h"

#include <optional>
#include <string_view>

namespace kv::peer {

/// Grows with every change of the messages.
inline constexpr uint32_t ProtocolVersion = 2;

using Bytes = std::string;

/// A longer message ends its connection: ten million tokens take less.
inline constexpr int64_t MostMessageBytes = int64_t(64) << 20;

// Messages of the decoding side.

struct Hello {
  static constexpr uint8_t Kind = 1;
  uint32_t version = ProtocolVersion;
  std::string digest;
  PageType type;
  MSGPACK_DEFINE(version, digest, type)
};

/// Asks which of the pages of these tokens, from the first on, are there.
/// Missing pages should be computed.
struct Ask {
  static constexpr uint8_t Kind = 2;
  uint64_t incarnation = 0;
  uint64_t ask = 0;
  Bytes scope; // as ScopeBytes frames its fields
  std::vector<int32_t> tokens;
  MSGPACK_DEFINE(incarnation, ask, scope, tokens)
};

/// Pins the records [first, end) of an ask: of its n pages, in pages of the
/// prefilling side, and then those of the parts of the states after 1, 2, … n
/// pages.
struct Lease {
  static constexpr uint8_t Kind = 3;
  uint64_t incarnation = 0;
  uint64_t request = 0;
  uint64_t ask = 0;
  int64_t first = 0, end = 0;
  MSGPACK_DEFINE(incarnation, request, ask, first, end)
};

/// Everything has been read.
struct Return {
  static constexpr uint8_t Kind = 4;
  uint64_t incarnation = 0;
  uint64_t request = 0;
  uint64_t generation = 0;
  MSGPACK_DEFINE(incarnation, request, generation)
};

struct Ping {
  static constexpr uint8_t Kind = 5;
  uint64_t incarnation = 0;
  MSGPACK_DEFINE(incarnation)
};

// Messages of the prefilling side.

struct Welcome {
  static constexpr uint8_t Kind = 64;
  uint64_t incarnation = 0;
  PageType type;
  int64_t leaseMilliseconds = 0;
  Bytes address; // of its transport
  MSGPACK_DEFINE(incarnation, type, leaseMilliseconds, address)
};

/// A Hello is refused, in a sentence.
struct Refusal {
  static constexpr uint8_t Kind = 65;
  std::string sentence;
  MSGPACK_DEFINE(sentence)
};

/// The first `tokens` tokens of an ask can be leased, and the states after each
/// number of pages in `states`. `final`: no more will come.
struct Have {
  static constexpr uint8_t Kind = 66;
  uint64_t ask = 0;
  int64_t tokens = 0;
  bool final = false;
  std::vector<int64_t> states;
  MSGPACK_DEFINE(ask, tokens, final, states)
};

/// The leading records of a Lease: none is a refusal.
struct Leased {
  static constexpr uint8_t Kind = 67;
  uint64_t request = 0;
  uint64_t generation = 0;
  std::vector<uint64_t> addresses;
  MSGPACK_DEFINE(request, generation, addresses)
};

/// Whether a lease lasted until it was returned: if not, what was read may be
/// anything.
struct Returned {
  static constexpr uint8_t Kind = 68;
  uint64_t request = 0;
  bool valid = false;
  MSGPACK_DEFINE(request, valid)
};

struct Pong {
  static constexpr uint8_t Kind = 69;
  uint8_t nothing = 0;
  MSGPACK_DEFINE(nothing)
};

/// There was a message for an earlier incarnation: say Hello again.
struct Stranger {
  static constexpr uint8_t Kind = 70;
  uint8_t nothing = 0;
  MSGPACK_DEFINE(nothing)
};

template <class Message> msgpack::sbuffer encode(const Message &message) {
  msgpack::sbuffer buffer;
  msgpack::packer<msgpack::sbuffer> packer(buffer);
  packer.pack_fix_int8(static_cast<int8_t>(Message::Kind));
  packer.pack(message);
  return buffer;
}

/// A frame that somebody has sent: nothing in it is trusted.
class Received {
public:
  explicit Received(std::string_view frame) : frame(frame) {}

  uint8_t kind() const {
    return frame.size() < 2 ? 0 : static_cast<uint8_t>(frame[1]);
  }
  /// The fields, if it is a well-formed message of this kind.
  template <class Message> std::optional<Message> as() const {
    if (kind() != Message::Kind)
      return std::nullopt;
    try {
      size_t at = 2; // after the kind
      // Memory is allocated for as many elements as a message claims to have:
      // each takes a byte at least.
      size_t most = frame.size();
      msgpack::object_handle handle = msgpack::unpack(
          frame.data(), frame.size(), at, nullptr, nullptr,
          msgpack::unpack_limit(most, most, most, most, most, /*depth=*/8));
      return handle.get().template as<Message>();
    } catch (const std::exception &) {
      return std::nullopt;
    }
  }

private:
  std::string_view frame;
};

} // namespace kv::peer

#endif // KV_RUNTIME_TRANSPORT_MESSAGES_H
