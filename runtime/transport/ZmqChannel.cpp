//===- ZmqChannel.cpp - Frames between peers, over ZeroMQ -----------------===//

#include "Channel.h"
#include "Messages.h"

#include "runtime/events/Endpoint.h"

#include <optional>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

using namespace kv;

namespace {

/// DEALER where it connects, ROUTER where it listens.
class ZmqChannel final : public Channel {
public:
  ZmqChannel(std::string endpoint, bool listens)
      : endpoint(std::move(endpoint)), listens(listens),
        wakeEvent(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wakeEvent < 0)
      throw zmq::error_t(EMFILE);
  }
  ~ZmqChannel() override { ::close(wakeEvent); }

  Expected<void> open() override {
    try {
      zmq::socket_t made(context, listens ? zmq::socket_type::router
                                          : zmq::socket_type::dealer);
      made.set(zmq::sockopt::linger, listens ? 100 : 0);
      made.set(zmq::sockopt::ipv6, true);
      made.set(zmq::sockopt::maxmsgsize, peer::MostMessageBytes);
      if (!listens) {
        // nothing is sent without a receiver
        made.set(zmq::sockopt::immediate, true);
        made.set(zmq::sockopt::reconnect_ivl, 20);
        made.set(zmq::sockopt::reconnect_ivl_max, 1000);
      }
      if (Expected<void> done = attach(made, endpoint, listens); !done)
        return makeError(done.error().code, "peers: ", done.error().message);
      socket = std::move(made);
    } catch (const zmq::error_t &error) {
      return makeError(KV_STATUS_OUT_OF_MEMORY,
                       "peers: ZeroMQ makes no socket: ", error.what());
    }
    return {};
  }

  bool send(const std::string &to, std::string_view frame) override {
    if (listens &&
        !socket->send(zmq::buffer(to),
                      zmq::send_flags::sndmore | zmq::send_flags::dontwait))
      return false;
    return socket->send(zmq::buffer(frame), zmq::send_flags::dontwait)
        .has_value();
  }

  bool receive(std::string &from, std::string &frame) override {
    for (;;) {
      zmq::message_t part;
      try {
        if (!socket->recv(part, zmq::recv_flags::dontwait))
          return false;
        if (listens) {
          from = part.to_string();
          if (!part.more() || !socket->recv(part))
            continue;
        }
        bool isOne = !part.more();
        frame = part.to_string();
        while (part.more())
          (void)socket->recv(part);
        if (isOne)
          return true;
      } catch (const zmq::error_t &) {
        return false; // interrupted
      }
    }
  }

  void wait(std::chrono::milliseconds most) override {
    zmq::pollitem_t items[] = {{*socket, 0, ZMQ_POLLIN, 0},
                               {nullptr, wakeEvent, ZMQ_POLLIN, 0}};
    // Interrupted, it returns: the caller looks for frames in any case.
    (void)zmq_poll(items, std::size(items), most.count());
    uint64_t count;
    (void)!::read(wakeEvent, &count, sizeof count);
  }
  void wake() override {
    uint64_t one = 1;
    (void)!::write(wakeEvent, &one, sizeof one);
  }

  Time now() const override { return Clock::now(); }
  void pause(std::chrono::microseconds time) override {
    std::this_thread::sleep_for(time);
  }

private:
  const std::string endpoint;
  const bool listens;
  const int wakeEvent;
  zmq::context_t context;
  std::optional<zmq::socket_t> socket;
};

} // namespace

std::unique_ptr<Channel> Channel::zeromq(std::string endpoint, bool listens) {
  return std::make_unique<ZmqChannel>(std::move(endpoint), listens);
}
