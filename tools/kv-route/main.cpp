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

#include "../../runtime/routing/Follower.h"
#include "../../runtime/routing/PrefixHashes.h"

#include <nlohmann/json.hpp>

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
  /// Answers the whole lines that have been read. False: it was the end.
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
  std::string rest; // of a line
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
  std::string id = request.at("id");
  auto tokens = request.at("tokens").get<std::vector<int32_t>>();
  auto field = [&](const char *name) -> std::optional<std::string> {
    auto at = request.find(name);
    return at == request.end() || at->is_null()
               ? std::nullopt
               : std::optional(at->get<std::string>());
  };
  if (running.contains(id))
    return {{"id", id}, {"error", "request " + id + " is not over yet"}};
  std::optional<std::string> model = field("model"), adapter = field("adapter"),
                             salt = field("salt");
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
  if (auto done = request.find("done"); done != request.end()) {
    finish(done->get<std::string>());
    return {};
  }
  return request.contains("status") ? status() : route(request);
}

bool Service::readLines() {
  char part[1 << 16];
  ssize_t bytes = ::read(STDIN_FILENO, part, sizeof part);
  if (bytes <= 0)
    return bytes < 0 && errno == EINTR;
  rest.append(part, static_cast<size_t>(bytes));
  size_t begin = 0;
  for (size_t end; (end = rest.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    std::string_view line = std::string_view(rest).substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    Json said;
    try {
      said = answer(Json::parse(line));
    } catch (const Json::exception &error) {
      said = {{"error", std::string("not a request: ") + error.what()}};
    }
    if (!said.is_null())
      std::cout << said.dump() << "\n";
  }
  rest.erase(0, begin);
  std::cout.flush();
  return true;
}

int Service::run() {
  if (Expected<void> done = follow(); !done) {
    std::cerr << "kv-route: error: " << done.error().message << "\n";
    return 2;
  }
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
    if (items[0].revents && !readLines())
      return 0;
  }
}

} // namespace

int main(int argc, char **argv) {
  std::variant<Options, int> parsed = parseCommandLine(argc, argv);
  if (const int *code = std::get_if<int>(&parsed))
    return *code;
  return Service(std::get<Options>(parsed)).run();
}
