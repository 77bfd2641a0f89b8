//===- LocalChannel.h - Frames and time within one thread -------*- C++ -*-===//
//
// As ZeroMQ's channels: frames come in order, late, or not at all if the other
// end is gone. Time passes by a microsecond whenever somebody looks at it, and
// when somebody waits; then the others have their turn.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_TRANSPORT_LOCALCHANNEL_H
#define KV_TEST_UNIT_TRANSPORT_LOCALCHANNEL_H

#include "runtime/transport/Channel.h"

#include <deque>
#include <functional>
#include <map>

namespace kv::test {

class LocalChannel;

/// One endpoint, and those who are connected to it.
struct LocalNetwork {
  Channel::Time time = Channel::Time(std::chrono::hours(1));
  std::chrono::microseconds delay = {}; // of each frame
  LocalChannel *listening = nullptr;
  std::map<std::string, LocalChannel *> connected; // by name
  int64_t numConnected = 0;                        // ever
  /// What the other sides do while one waits.
  std::function<void()> others = [] {};
};

class LocalChannel final : public Channel {
public:
  LocalChannel(LocalNetwork &network, bool listens)
      : network(network), listens(listens) {}
  ~LocalChannel() override { close(); }

  Expected<void> open() override {
    close();
    if (listens) {
      network.listening = this;
    } else {
      name = std::to_string(++network.numConnected);
      network.connected[name] = this;
    }
    return {};
  }
  bool send(const std::string &to, std::string_view frame) override {
    LocalChannel *other = network.listening;
    if (listens) {
      auto at = network.connected.find(to);
      other = at == network.connected.end() ? nullptr : at->second;
    }
    if (other)
      other->frames.push_back(
          {network.time + network.delay, name, std::string(frame)});
    return other != nullptr;
  }
  bool receive(std::string &from, std::string &frame) override {
    if (frames.empty() || frames.front().comes > now())
      return false;
    from = std::move(frames.front().from);
    frame = std::move(frames.front().text);
    frames.pop_front();
    return true;
  }
  void wait(std::chrono::milliseconds most) override {
    if (frames.empty())
      network.others();
    network.time = frames.empty()
                       ? network.time + most
                       : std::max(network.time, std::min(network.time + most,
                                                         frames.front().comes));
  }
  void wake() override {}
  Time now() const override {
    return network.time += std::chrono::microseconds(1);
  }
  void pause(std::chrono::microseconds time) override { network.time += time; }

private:
  struct Frame {
    Time comes;
    std::string from, text;
  };

  void close() {
    frames.clear();
    if (network.listening == this)
      network.listening = nullptr;
    network.connected.erase(name);
  }

  LocalNetwork &network;
  const bool listens;
  std::string name;
  std::deque<Frame> frames;
};

} // namespace kv::test

#endif // KV_TEST_UNIT_TRANSPORT_LOCALCHANNEL_H
