//===- ResetServer.cpp - Receives requests for a reset --------------------===//

#include "ResetServer.h"
#include "BlockSignals.h"
#include "Endpoint.h"

#include <sys/eventfd.h>
#include <unistd.h>

using namespace kv;

/// The suffix that MAX's frontend appends to the endpoint's base.
static constexpr std::string_view Name = "-reset_prefix_cache";
static constexpr std::string_view Request = "reset_prefix_cache";

static void signalEvent(int event) {
  uint64_t one = 1;
  (void)!::write(event, &one, sizeof one);
}
static void clearEvent(int event) {
  uint64_t count;
  (void)!::read(event, &count, sizeof count);
}

ResetServer::ResetServer()
    : pull(context, zmq::socket_type::pull),
      router(context, zmq::socket_type::router),
      wanted(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      woken(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Expected<std::unique_ptr<ResetServer>>
ResetServer::open(const Options &options) {
  std::unique_ptr<ResetServer> server(new ResetServer);
  if (server->wanted < 0 || server->woken < 0)
    return makeError(KV_STATUS_OUT_OF_MEMORY,
                     "reset socket: the system has no descriptor left");
  if (Expected<void> connected = server->connect(options); !connected)
    return std::unexpected(connected.error());
  server->thread = std::jthread(
      [self = server.get()](const std::stop_token &stop) { self->run(stop); });
  return server;
}

Expected<void> ResetServer::connect(const Options &options) {
  router.set(zmq::sockopt::linger, 1000);
  Expected<void> done;
  if (!options.endpointBase.empty())
    done = attach(pull, concat(options.endpointBase, Name), /*binds=*/false);
  if (done && !options.endpoint.empty())
    done = attach(router, options.endpoint, /*binds=*/true);
  if (!done)
    return makeError(done.error().code, "reset socket: ", done.error().message);
  return {};
}

ResetServer::~ResetServer() {
  thread.request_stop();
  signalEvent(woken);
  if (thread.joinable())
    thread.join();
  ::close(wanted);
  ::close(woken);
}

//===----------------------------------------------------------------------===//
// The manager's thread
//===----------------------------------------------------------------------===//

uint64_t ResetServer::take() {
  // First the event: a request that comes now raises it again.
  clearEvent(wanted);
  return asked.load(std::memory_order_acquire);
}

void ResetServer::answer(uint64_t upTo, const Expected<void> &done) {
  {
    std::lock_guard lock(mutex);
    lastAnswer = done ? "ok" : concat("error: ", done.error().message);
  }
  answered.store(upTo, std::memory_order_release);
  signalEvent(woken);
}

//===----------------------------------------------------------------------===//
// The sockets' thread
//===----------------------------------------------------------------------===//

void ResetServer::run(const std::stop_token &stop) {
  blockSignals();
  while (!stop.stop_requested()) {
    zmq::pollitem_t items[] = {{pull, 0, ZMQ_POLLIN, 0},
                               {router, 0, ZMQ_POLLIN, 0},
                               {nullptr, woken, ZMQ_POLLIN, 0}};
    zmq::poll(items, 3, std::chrono::milliseconds(-1));
    if (items[0].revents || items[1].revents)
      receive();
    if (items[2].revents)
      clearEvent(woken);
    sendAnswers();
  }
}

void ResetServer::receive() {
  auto all = [](zmq::socket_t &socket) {
    std::vector<zmq::message_t> frames;
    zmq::message_t frame;
    while (socket.recv(frame, zmq::recv_flags::dontwait)) {
      bool more = frame.more();
      frames.push_back(std::move(frame));
      if (!more)
        break;
      frame.rebuild();
    }
    return frames;
  };
  auto ask = [&] {
    uint64_t request = asked.load(std::memory_order_relaxed) + 1;
    asked.store(request, std::memory_order_release);
    signalEvent(wanted);
    return request;
  };
  while (!all(pull).empty())
    ask();
  for (auto frames = all(router); !frames.empty(); frames = all(router)) {
    std::string_view what = frames.back().to_string_view();
    if (frames.size() == 3 && (what.empty() || what == Request)) {
      waiting.push_back({ask(), std::move(frames[0])});
      continue;
    }
    std::string refusal = concat("error: a request of ", what.size(),
                                 " bytes, allowed: an empty one, or ", Request);
    router.send(frames[0], zmq::send_flags::sndmore);
    router.send(zmq::str_buffer(""), zmq::send_flags::sndmore);
    router.send(zmq::buffer(refusal), zmq::send_flags::none);
  }
}

void ResetServer::sendAnswers() {
  uint64_t upTo = answered.load(std::memory_order_acquire);
  std::string answer;
  {
    std::lock_guard lock(mutex);
    answer = lastAnswer;
  }
  std::erase_if(waiting, [&](Waiting &one) {
    if (one.request > upTo)
      return false;
    router.send(one.reader, zmq::send_flags::sndmore);
    router.send(zmq::str_buffer(""), zmq::send_flags::sndmore);
    router.send(zmq::buffer(answer), zmq::send_flags::none);
    return true;
  });
}
