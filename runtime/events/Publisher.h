//===- Publisher.h - Sends cache events -------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_EVENTS_PUBLISHER_H
#define KV_RUNTIME_EVENTS_PUBLISHER_H

#include "EventEncoder.h"
#include "EventQueue.h"

#include <zmq.hpp>

#include <deque>
#include <thread>

namespace kv {

class Publisher final : public EventPublisher {
public:
  static Expected<std::unique_ptr<Publisher>> open(const Options &options);
  /// Sends what the queue still holds.
  ~Publisher() override;

  void stored(const StoredPages &pages) override { queue.stored(pages); }
  void restored(int32_t node, uint32_t groups) override {
    queue.restored(node, groups);
  }
  void removed(std::span<const int32_t> nodes, uint32_t groups) override {
    queue.removed(nodes, groups);
  }
  void cleared() override { queue.cleared(); }
  bool wantsAll() const override { return queue.wantsAll(); }
  void beginAll() override { queue.beginAll(); }
  void endAll() override { queue.endAll(); }
  TierInterest tierInterest() const override { return queue.tierInterest(); }
  void tiersChanged(std::span<const TierChange> changes, bool all) override {
    queue.tiersChanged(changes, all);
  }

  Figures figures() const override;
  uint64_t incarnation() const override { return identity; }

private:
  explicit Publisher(const Options &options);
  Expected<void> connect();

  // All that follows belongs to the thread.
  void run(const std::stop_token &stop);
  void drain();
  void leaveGap();
  void add(CacheEvent event);
  void send();
  void answer();
  void replay(const zmq::message_t &reader, int64_t from);
  void giveSnapshot(const zmq::message_t &reader);
  std::string status(std::string_view error = {}) const;
  void reply(const zmq::message_t &reader, bool withTopic, int64_t sequence,
             const std::string &payload);

  Options options;
  EventQueue queue;
  BlockTable table;
  EventEncoder encoder;
  uint64_t identity;

  zmq::context_t context;
  zmq::socket_t publish, requests;
  std::vector<CacheEvent> batch;
  size_t batchBlocks = 0;
  int64_t nextSequence = 0;
  std::deque<std::pair<int64_t, std::string>> sent; // for replay

  struct {
    std::atomic<int64_t> batches, stored, removed, cleared, requests;
  } counted = {};
  std::jthread thread;
};

} // namespace kv

#endif // KV_RUNTIME_EVENTS_PUBLISHER_H
