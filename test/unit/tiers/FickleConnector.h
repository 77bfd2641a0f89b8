//===- FickleConnector.h - A connector with moods ---------------*- C++ -*-===//
//
// Delays, refuses, loses, fails and hangs, as a seed says. Says what its caller
// does wrong. Cheap: names are weak, and lists are short and searched in order.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_TIERS_FICKLECONNECTOR_H
#define KV_TEST_UNIT_TIERS_FICKLECONNECTOR_H

#include "kv/Runtime/Tiers/PageConnector.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace kv::test {

class FickleConnector final : public PageConnector {
public:
  /// Chances are of 256.
  struct Moods {
    int32_t diskRecords = 0;
    uint32_t delay = 0; // most calls of poll() that a read takes
    uint32_t refuses = 0, loses = 0, fails = 0, hangs = 0;
    /// The records behind memory are those of a store, which has to be asked,
    /// and lies with this chance.
    bool isStore = false;
    uint32_t lies = 0;
  };

  struct Record {
    PrefixName name;
    std::vector<std::byte> bytes;
  };
  /// Those behind memory, which connectors of one thread may share.
  using Records = std::vector<Record>;

  FickleConnector(
      const Options &options, const Moods &moods, uint64_t seed,
      std::string &fault,
      std::shared_ptr<Records> records = std::make_shared<Records>())
      : options(options), moods(moods), state(seed), fault(fault),
        slots(options.numSlots), records(std::move(records)),
        disk(*this->records) {
    figures.hostPages = options.numSlots;
  }
  ~FickleConnector() override {
    for (const Host &host : slots)
      if (host.users != (host.state == Coming))
        blame("a slot was not given back");
  }

  PrefixName nameScope(std::span<const std::byte> scope) override {
    uint64_t hash = 1;
    for (std::byte one : scope)
      hash = mix(hash, static_cast<uint64_t>(one));
    return nameOf(hash);
  }
  PrefixName namePage(const PrefixName &parent,
                      std::span<const std::byte> images,
                      std::span<const int32_t> tokens) override {
    uint64_t hash = mix(hashOf(parent), images.size());
    for (std::byte one : images)
      hash = mix(hash, static_cast<uint64_t>(one));
    for (int32_t token : tokens)
      hash = mix(hash, static_cast<uint64_t>(token));
    return nameOf(hash);
  }

  Place find(const PrefixPage &page) override {
    look(page);
    if (const Host *host = search(page.name))
      return host->state == Ready    ? Place::Memory
             : host->state == Coming ? Place::Coming
                                     : Place::Absent;
    if (moods.isStore)
      return ask(page.name);
    return searchDisk(page.name) < disk.size() ? Place::Disk : Place::Absent;
  }
  void touch(const PrefixName &, const RecordWorth &) override { mayLose(); }

  Slot acquire(const PrefixPage &page) override {
    look(page);
    Host *host = search(page.name);
    if (!host || host->state != Ready || happens(moods.refuses))
      return {};
    ++host->users;
    return slotOf(*host);
  }
  void release(Slot slot) override { drop(slots[slot.index]); }

  bool fetch(const PrefixPage &page) override {
    look(page);
    // A store that has lied has nothing to bring.
    bool isThere = moods.isStore ? ask(page.name) == Place::Store
                                 : searchDisk(page.name) < disk.size();
    if (!isThere || search(page.name) || happens(moods.refuses))
      return false;
    Host *host = take(page.name, Coming);
    if (!host)
      return isUnderWay();
    host->comes =
        happens(moods.hangs) ? Never : clock + random(moods.delay + 1);
    ++figures.diskOperations;
    return true;
  }

  Slot reserve(const PrefixPage &page, const RecordWorth &) override {
    look(page);
    if (search(page.name) || happens(moods.refuses))
      return {};
    Host *host = take(page.name, Reserved);
    return host ? slotOf(*host) : Slot();
  }
  void publish(Slot slot, bool written) override {
    Host &host = slots[slot.index];
    if (host.state != Reserved)
      blame("a slot was published that was not reserved");
    host.state = written ? Ready : Free;
    host.isKnown &= written;
    if (host.isKnown) {
      ++figures.storedPages;
      if (moods.diskRecords > 0)
        write(host);
    }
    drop(host);
  }

  void poll() override {
    ++clock;
    mayLose();
    for (Host &host : slots)
      if (host.state == Coming && host.comes <= clock)
        arrive(host);
  }
  bool wait(std::chrono::nanoseconds most) override {
    // Of one deadline there is ever less left.
    numDeadlines += most > left;
    left = most;
    int64_t next = Never;
    for (const Host &host : slots)
      if (host.state == Coming)
        next = std::min(next, host.comes);
    for (const Question &question : questions)
      if (question.comes > clock)
        next = std::min(next, question.comes);
    clock = next == Never ? clock : std::max(clock, next);
    poll();
    return next != Never;
  }
  Expected<void> reset() override {
    for (Host &host : slots) {
      host.isKnown = false;
      if (host.users == 0)
        host.state = Free;
    }
    disk.clear();
    questions.clear();
    if (happens(moods.fails))
      return makeError(KV_STATUS_INTERNAL, "the disk could not be told");
    return {};
  }
  const TierMetrics &metrics() const override { return figures; }
  /// For how many ends callers have waited, however often for each.
  int64_t deadlines() const { return numDeadlines; }

private:
  static constexpr int64_t Never = INT64_MAX;
  enum State : uint8_t { Free, Reserved, Coming, Ready };
  struct Host {
    PrefixName name;
    State state = Free;
    bool isKnown = false;
    int32_t users = 0;
    int64_t comes = 0;
  };
  struct Question {
    uint64_t name;
    int64_t comes; // the answer
    bool isPresent;
  };

  /// What a store has said of a record, which is believed for a while, or that
  /// it has been asked.
  Place ask(const PrefixName &name) {
    constexpr int64_t BelievedFor = 200;
    std::erase_if(questions, [&](const Question &question) {
      return question.comes + BelievedFor < clock;
    });
    auto at = std::ranges::find(questions, hashOf(name), &Question::name);
    if (at == questions.end()) {
      bool isThere = searchDisk(name) < disk.size();
      questions.push_back(
          {hashOf(name), clock + static_cast<int64_t>(random(moods.delay + 1)),
           isThere != happens(moods.lies)});
      at = questions.end() - 1;
    }
    return at->comes > clock ? Place::Asked
           : at->isPresent   ? Place::Store
                             : Place::Absent;
  }

  static uint64_t mix(uint64_t hash, uint64_t with) {
    hash = (hash ^ with) * 0x9E3779B97F4A7C15ull;
    return hash ^ (hash >> 29);
  }
  static PrefixName nameOf(uint64_t hash) {
    PrefixName name = {};
    std::memcpy(name.data(), &hash, sizeof hash);
    return name;
  }
  static uint64_t hashOf(const PrefixName &name) {
    uint64_t hash;
    std::memcpy(&hash, name.data(), sizeof hash);
    return hash;
  }

  uint64_t random(uint64_t below) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % below;
  }
  bool happens(uint32_t chance) { return chance && random(256) < chance; }
  void blame(const char *text) {
    if (fault.empty())
      fault = text;
  }
  void look(const PrefixPage &page) {
    if (static_cast<int32_t>(page.tokens.size()) != options.pageSize)
      blame("a page has another number of tokens");
    if (namePage(page.parent, page.images, page.tokens) != page.name)
      blame("a page has the name of another one");
  }

  Slot slotOf(const Host &host) {
    int32_t index = static_cast<int32_t>(&host - slots.data());
    return {data(host), index};
  }
  std::byte *data(const Host &host) {
    return options.memory +
           static_cast<size_t>(&host - slots.data()) * options.recordBytes;
  }
  Host *search(const PrefixName &name) {
    for (Host &host : slots)
      if (host.isKnown && hashOf(host.name) == hashOf(name))
        return &host;
    return nullptr;
  }
  size_t searchDisk(const PrefixName &name) const {
    size_t at = 0;
    while (at < disk.size() && hashOf(disk[at].name) != hashOf(name))
      ++at;
    return at;
  }
  bool isUnderWay() const {
    return std::ranges::any_of(
        slots, [](const Host &host) { return host.state == Coming; });
  }
  Host *take(const PrefixName &name, State as) {
    size_t first = random(slots.size());
    for (bool evicts : {false, true})
      for (size_t i = 0; i < slots.size(); ++i)
        if (Host &host = slots[(first + i) % slots.size()];
            host.state == Free || (evicts && host.users == 0)) {
          host = {name, as, /*isKnown=*/true, /*users=*/1};
          std::memset(data(host), 0xEE, options.recordBytes);
          return &host;
        }
    return nullptr;
  }
  void drop(Host &host) {
    if (--host.users < 0)
      blame("a slot was given back twice");
    if (host.users == 0 && !host.isKnown)
      host.state = Free;
  }
  void write(const Host &host) {
    size_t at = searchDisk(host.name);
    if (at == disk.size() &&
        disk.size() == static_cast<size_t>(moods.diskRecords))
      at = random(disk.size());
    if (at == disk.size())
      disk.emplace_back();
    disk[at].name = host.name;
    disk[at].bytes.assign(data(host), data(host) + options.recordBytes);
  }
  void arrive(Host &host) {
    size_t at = searchDisk(host.name);
    bool good = at < disk.size() && !happens(moods.fails);
    if (!good) // nor does anybody believe that it is there
      std::erase_if(questions, [&](const Question &question) {
        return question.name == hashOf(host.name);
      });
    if (good && host.isKnown)
      std::memcpy(data(host), disk[at].bytes.data(), options.recordBytes);
    else if (host.isKnown && at < disk.size())
      disk.erase(disk.begin() + static_cast<int64_t>(at));
    host.isKnown &= good;
    host.state = good ? Ready : Free;
    figures.diskOperations += -1;
    figures.storeReadPages += good && moods.isStore;
    drop(host);
  }
  /// Somebody else needs the room.
  void mayLose() {
    if (!happens(moods.loses))
      return;
    Host &host = slots[random(slots.size())];
    if (host.users == 0 && host.isKnown) {
      host.isKnown = false;
      host.state = Free;
    }
    if (!disk.empty())
      disk.erase(disk.begin() + static_cast<int64_t>(random(disk.size())));
  }

  Options options;
  Moods moods;
  uint64_t state;
  std::string &fault;
  std::vector<Host> slots;
  std::vector<Question> questions;
  std::shared_ptr<Records> records;
  Records &disk;
  TierMetrics figures;
  int64_t clock = 0;
  std::chrono::nanoseconds left = {};
  int64_t numDeadlines = 0;
};

} // namespace kv::test

#endif // KV_TEST_UNIT_TIERS_FICKLECONNECTOR_H
