//===- ResetServer.h - Receives requests for a reset ------------*- C++ -*-===//

#ifndef KV_RUNTIME_EVENTS_RESETSERVER_H
#define KV_RUNTIME_EVENTS_RESETSERVER_H

#include "kv/Runtime/Events/ResetSocket.h"

#include <zmq.hpp>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kv {

class ResetServer final : public ResetSocket {
public:
  static Expected<std::unique_ptr<ResetServer>> open(const Options &options);
  ~ResetServer() override;

  uint64_t take() override;
  void answer(uint64_t upTo, const Expected<void> &done) override;
  int descriptor() const override { return wanted; }

private:
  ResetServer();
  Expected<void> connect(const Options &options);
  void run(const std::stop_token &stop);
  void receive();
  void sendAnswers();

  zmq::context_t context;
  zmq::socket_t pull, router;
  int wanted = -1; // an event: a reset is wanted
  int woken = -1;  // an event: the thread has something to do
  struct Waiting {
    uint64_t request;
    zmq::message_t reader;
  };
  std::vector<Waiting> waiting; // the thread's
  std::mutex mutex;             // of what the last answer was
  std::string lastAnswer;
  std::jthread thread;
};

} // namespace kv

#endif // KV_RUNTIME_EVENTS_RESETSERVER_H
