//===- Faulty.cpp - Where members do something else -----------------------===//

#include "Faulty.h"

#include <algorithm>
#include <ostream>

using namespace kv::cuda;
using namespace kv::cuda::faults;

std::string_view kv::cuda::faults::nameOf(Member member) {
  constexpr std::string_view Names[] = {
      "sync",           "syncCluster",  "syncWarp",    "syncNamed",
      "arriveNamed",    "fenceInit",    "fenceAsync",  "fenceProducts",
      "fenceBefore",    "fenceAfter",   "wait",        "awaitPhase",
      "awaitProducts",  "awaitLoads",   "awaitStores", "arrive",
      "arriveAt",       "releaseAt",    "expectBytes", "commit",
      "commitProducts", "commitTensor", "freeTensor",  "loadScratch",
      "storeScratch",   "shuffleXor"};
  static_assert(std::size(Names) == size_t(Member::Shuffle) + 1);
  return Names[int(member)];
}

/// The last name before the arguments of a function as a compiler prints it.
static std::string_view shortName(std::string_view printed) {
  size_t begin = 0, end = 0;
  for (int depth = 0; end < printed.size(); ++end) {
    char c = printed[end];
    if (c == '(' && depth == 0)
      break;
    depth += (c == '<') - (c == '>');
    if (depth == 0 && (c == ':' || c == ' ' || c == '*' || c == '&'))
      begin = end + 1;
  }
  std::string_view name = printed.substr(begin, end - begin);
  return name.substr(0, name.find('<'));
}

std::ostream &kv::cuda::faults::operator<<(std::ostream &os, const Site &site) {
  return os << site.file << ':' << site.line << ' ' << site.function << ' '
            << nameOf(site.member);
}

Garden &Garden::get() {
  static Garden garden;
  return garden;
}

std::set<Site> Garden::record(const std::function<void()> &run) {
  seen.clear();
  recording = true;
  run();
  recording = false;
  std::set<Site> sites;
  for (const auto &[member, path, line, column, function] : seen) {
    std::string_view file = path;
    sites.insert({file.substr(file.rfind('/') + 1), shortName(function), member,
                  line, column});
  }
  return sites;
}

void Garden::plant(const std::vector<Plant> &all, bool stopsThreads,
                   const std::function<void()> &run) {
  plants = all;
  stops = stopsThreads;
  run();
  plants.clear();
  counts.clear();
  calls.clear();
  stops = false;
}

Action Garden::actionOf(Member member, const std::source_location &at,
                        int thread) {
  if (recording)
    seen.insert(
        {member, at.file_name(), at.line(), at.column(), at.function_name()});
  for (const Plant &plant : plants) {
    const Site &site = plant.site;
    if (site.member != member || site.line != at.line() ||
        site.column != at.column() ||
        !std::string_view(at.file_name()).ends_with(site.file) ||
        (plant.threads && !plant.threads(thread)))
      continue;
    if (plant.call >= 0 &&
        counts[{&plant - plants.data(), thread}]++ != plant.call)
      continue;
    return plant.action;
  }
  return Action::None;
}

std::function<void()> Garden::takeLater(int thread) {
  auto found = calls.find(thread);
  if (found == calls.end() || found->second.second-- > 0)
    return nullptr;
  std::function<void()> call = std::move(found->second.first);
  calls.erase(found);
  return call;
}
