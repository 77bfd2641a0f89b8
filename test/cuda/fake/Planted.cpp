//===- Planted.cpp - Faults that somebody asked for -----------------------===//

#include "Planted.h"
#include "State.h"
#include "kernels/cuda/parameters/KernelTable.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sstream>
#include <unistd.h>

using namespace kv::fake;

namespace {

/// The kind of each kernel's fault; read once a process.
const std::map<std::string, std::string, std::less<>> &wanted() {
  static const std::map<std::string, std::string, std::less<>> faults = [] {
    std::string text;
    if (const char *given = std::getenv("KV_FAKE_CUDA_FAULT"))
      text = given;
    if (const char *file = std::getenv("KV_FAKE_CUDA_FAULT_ONCE");
        file && !text.empty()) {
      int made = open(file, O_CREAT | O_EXCL | O_WRONLY, 0666);
      if (made < 0)
        text.clear();
      else
        close(made);
    }
    std::map<std::string, std::string, std::less<>> found;
    std::istringstream all(text);
    for (std::string fault; std::getline(all, fault, ',');)
      if (size_t colon = fault.find(':'); colon != fault.npos)
        found[fault.substr(colon + 1)] = fault.substr(0, colon);
    return found;
  }();
  return faults;
}

} // namespace

Planted::Planted(std::string_view kernel) {
  if (auto found = wanted().find(kernel); found != wanted().end())
    kind = found->second;
}

bool Planted::hangs(kv::cuda::WatchdogReport **watchdog) const {
  if (kind != "hang")
    return false;
  std::fputs("fake driver: a planted hang\n", stderr);
  while (!watchdog)
    sleep(1);
  kv::cuda::WatchdogReport &report = **watchdog;
  report.waits[report.count++] = kv::cuda::packStuckWait(
      {.block = 2, .warp = 4, .barrier = 1024, .parity = 1, .leaf = 3});
  return true;
}

const void *Planted::before(kv::cuda::Machine &machine,
                            const std::vector<char> &params) {
  if (kind == "crash")
    std::abort();
  if (kind == "wrong")
    for (size_t at = 0; at + sizeof(void *) <= params.size();
         at += sizeof(void *)) {
      const void *word;
      std::memcpy(&word, params.data() + at, sizeof word);
      DeviceMemory::Range range = State::get().memory.find(word);
      if (range.bytes)
        copies.push_back(
            {range, std::vector<char>(range.begin, range.begin + range.bytes)});
    }
  if (kind == "page" && (params.size() == sizeof(kv::cuda::AttentionParams) ||
                         params.size() == sizeof(kv::cuda::TileParams))) {
    changed = params;
    auto &p = *reinterpret_cast<kv::cuda::AttentionParams *>(changed.data());
    table.assign(p.table, p.table + p.batch.sequences * p.tablePitch);
    table[std::min(2, p.tableColumns - 1)] = table[0];
    p.table = table.data();
    machine.global().allow(table.data(), table.size() * sizeof(table[0]),
                           kv::cuda::Access::Read);
    return changed.data();
  }
  return params.data();
}

void Planted::after() {
  for (const Copy &copy : copies)
    for (size_t i = 0; i < copy.bytes.size(); ++i)
      if (copy.range.begin[i] != copy.bytes[i])
        copy.range.begin[i] ^= 1;
}
