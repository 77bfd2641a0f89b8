//===- main.cpp - kv-route ------------------------------------------------===//
//
// Lines of standard input, each of which is answered by a line but `done`:
//
//   {"id": "a", "tokens": [1, 2], "salt": "s", "adapter": "x", "model": "m"}
//       {"id": "a", "machine": "NAME", "hit_tokens": 0,
//        "loaded_tokens": 0, "load": 7}
//   {"done": "a"}   the answer of request a is over
//   {"status": true}
//       {"machines": [{"name", "usable", "pages", "load"}]}
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "runtime/routing/Follower.h"
#include "runtime/routing/PrefixHashes.h"
#include "tools/JsonFields.h"
#include "tools/LineBuffer.h"
#include "tools/StandardStreams.h"

#include <cstring>
#include <deque>
#include <iostream>
#include <unordered_map>

using namespace kv;
using namespace kv::route;
using Json = nlohmann::json;

namespace {

class Service {
public:
  explicit Service(const Options &options)
      : options(options), context(1),
        router(static_cast<uint32_t>(options.machines.size()),
               options.tierPercent),
        hashes(options.pageSize) {}

  /// The exit status.
  int run();

private:
  Expected<void> follow();
  Json answer(const Json &request);
  Json route(const Json &request);
  void finish(const std::string &id);
  Json status() const;
  void answerLine(std::string_view line, bool isTooLong);
  /// Answers the whole lines that have been read, at the end also one without
  /// its end. False: there are no more.
  bool readLines();

  Options options;
  zmq::context_t context;
  PrefixRouter router;
  PrefixHashes hashes;
  std::vector<std::unique_ptr<Follower>> followers;
  struct Running {
    PrefixRouter::Machine machine;
    int64_t load;
  };
  std::unordered_map<std::string, Running> running;
  LineBuffer lines;
  int failed = 0; // the errno by which reading ended before the end
};

Expected<void> Service::follow() {
  // A socket for its events and one for questions.
  context.set(zmq::ctxopt::max_sockets,
              static_cast<int>(4 * options.machines.size() + 1024));
  for (size_t i = 0; i < options.machines.size(); ++i) {
    auto opened = Follower::open(
        context,
        {.events = options.machines[i].events,
         .replay = options.machines[i].replay,
         .topic = options.topic,
         .patience = std::chrono::milliseconds(options.patience)},
        router, static_cast<PrefixRouter::Machine>(i));
    if (!opened)
      return std::unexpected(opened.error());
    followers.push_back(std::move(*opened));
  }
  return {};
}

Json Service::route(const Json &request) {
  std::optional<std::string> named, model, adapter, salt;
  Fields name(request, "not a request");
  if (!name.find("id"))
    name.fail("the field id is missing");
  name.text("id", named);
  if (!name.fault().empty())
    return {{"error", name.fault()}};
  const std::string &id = *named;
  std::vector<int32_t> tokens;
  Fields fields(request, concat("request ", id));
  if (!fields.find("tokens"))
    fields.fail("the field tokens is missing");
  fields.tokens("tokens", tokens);
  fields.text("model", model, /*allowsNull=*/true);
  fields.text("adapter", adapter, /*allowsNull=*/true);
  fields.text("salt", salt, /*allowsNull=*/true);
  if (!fields.fault().empty())
    return {{"id", id}, {"error", fields.fault()}};
  if (running.contains(id))
    return {{"id", id}, {"error", "request " + id + " is not over yet"}};
  std::span<const uint64_t> prompt = hashes.of(
      {.model = model, .adapter = adapter, .salt = salt}, Prompt(tokens));
  PrefixRouter::Choice choice = router.choose(prompt);
  if (!choice.isFound)
    return {{"id", id}, {"error", "no machine answers"}};
  int64_t pages =
      (std::ssize(tokens) + options.pageSize - 1) / options.pageSize;
  int64_t loaded = choice.tierPages * (100 - options.tierPercent) / 100;
  int64_t load = std::max<int64_t>(pages - choice.hitPages + loaded, 1);
  router.addLoad(choice.machine, load);
  running[id] = {choice.machine, load};
  return {{"id", id},
          {"machine", options.machines[choice.machine].name},
          {"hit_tokens", choice.hitPages * options.pageSize},
          {"loaded_tokens", choice.tierPages * options.pageSize},
          {"load", router.load(choice.machine)}};
}

void Service::finish(const std::string &id) {
  auto at = running.find(id);
  if (at == running.end())
    return;
  router.addLoad(at->second.machine, -at->second.load);
  running.erase(at);
}

Json Service::status() const {
  Json machines = Json::array();
  for (size_t i = 0; i < options.machines.size(); ++i)
    machines.push_back(
        {{"name", options.machines[i].name},
         {"usable", followers[i]->isUsable()},
         {"pages", router.numBlocks(static_cast<PrefixRouter::Machine>(i))},
         {"load", router.load(static_cast<PrefixRouter::Machine>(i))}});
  return {{"machines", std::move(machines)}};
}

/// Null: there is no answer.
Json Service::answer(const Json &request) {
  if (request.contains("done")) {
    std::optional<std::string> id;
    Fields fields(request, "not a request");
    fields.text("done", id);
    if (!fields.fault().empty())
      return {{"error", fields.fault()}};
    finish(*id);
    return {};
  }
  return request.contains("status") ? status() : route(request);
}

void Service::answerLine(std::string_view line, bool isTooLong) {
  if (isTooLong) {
    std::cout << Json{{"error", concat("not a request: the line has more than ",
                                       LineBuffer::Most, " bytes")}}
                     .dump()
              << "\n";
    return;
  }
  if (line.find_first_not_of(" \t\r") == std::string_view::npos)
    return;
  Expected<Json> request = parseObject(line);
  Json said = request ? answer(*request)
                      : Json{{"error", concat("not a request: the line ",
                                              request.error().message)}};
  if (!said.is_null())
    std::cout << said.dump() << "\n";
}

bool Service::readLines() {
  auto take = [&](std::string_view line, bool isTooLong) {
    answerLine(line, isTooLong);
  };
  char part[1 << 16];
  ssize_t bytes = ::read(STDIN_FILENO, part, sizeof part);
  if (bytes < 0 && errno == EINTR)
    return true;
  if (bytes <= 0) {
    failed = bytes < 0 ? errno : 0;
    lines.finish(take);
    std::cout.flush();
    return false;
  }
  lines.append({part, static_cast<size_t>(bytes)}, take);
  std::cout.flush();
  return true;
}

int Service::run() {
  auto unusable = [](std::string_view message) {
    std::cerr << "kv-route: error: " << message << "\n";
    return 2;
  };
  if (Expected<void> done = follow(); !done)
    return unusable(done.error().message);
  std::vector<zmq::pollitem_t> items;
  for (;;) {
    items.assign(1, {nullptr, STDIN_FILENO, ZMQ_POLLIN, 0});
    for (const std::unique_ptr<Follower> &follower : followers)
      for (const zmq::pollitem_t &item : follower->pollItems())
        items.push_back(item);
    // Followers look at the clock as well.
    zmq::poll(items, std::chrono::milliseconds(20));
    for (const std::unique_ptr<Follower> &follower : followers)
      follower->step();
    bool goesOn = !items[0].revents || readLines();
    if (!std::cout)
      return unusable("the answers could not be written");
    if (failed)
      return unusable(concat("standard input: ", std::strerror(failed)));
    if (!goesOn)
      return 0;
  }
}

} // namespace

int main(int argc, char **argv) {
  holdStandardStreams();
  reportFileLimits();
  std::variant<Options, int> parsed = parseCommandLine(argc, argv);
  if (const int *code = std::get_if<int>(&parsed))
    return *code;
  try {
    return Service(std::get<Options>(parsed)).run();
  } catch (const zmq::error_t &error) { // the system has no descriptor left
    std::cerr << "kv-route: error: ZeroMQ makes no socket: " << error.what()
              << "\n";
    return 2;
  }
}
