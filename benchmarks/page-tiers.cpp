//===- page-tiers.cpp - What pages beside the devices cost ----------------===//
//
// page-tiers FOLDER PAGE_SIZE MEGABYTES: a manager whose pages are those of a
// model of 30 layers with 3 KV heads of 64 elements of 16 bits, and as many of
// them as take so many megabytes. Prints lines "name <tab> value", GB/s but for
// the last:
//
//   store, load                from the pages to host memory, and back
//   memcpy                     plain copies of the same pages
//   disk write, disk read      until all records are written; until all are in
//                              the pages of another manager
//   plain write, plain read    the same bytes in the same pieces by as many
//                              threads, without anything else
//   pages                      that were moved
//
// The medians of five rounds, in each of which everything is measured once.
// What is read has just been written and comes from the system's cache, or, of
// the figures that end in "cold", from the disk; those that end in "synced"
// last until what was written is there.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <thread>
#include <unistd.h>

using namespace kv;

namespace {

constexpr int Rounds = 5, IoThreads = 4;

template <class T> T need(Expected<T> value) {
  if (value)
    return std::move(*value);
  std::fprintf(stderr, "page-tiers: %s\n", value.error().message.c_str());
  std::exit(1);
}

double seconds(auto &&body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

struct Case {
  std::filesystem::path folder;
  int64_t pageSize = 0, pages = 0, recordBytes = 0;

  KVCacheParams params() const {
    KVCacheParams made = {.geometry = {.dtype = KV_DTYPE_BF16,
                                       .layers = 30,
                                       .heads = 3,
                                       .dim = 64,
                                       .page = pageSize},
                          .enablePrefixCaching = true};
    made.connector = folder.empty() ? KVConnector::Host : KVConnector::Tiered;
    made.hostSwapSpaceGB = std::ldexp(
        static_cast<double>((folder.empty() ? 2 : 1) * pages * recordBytes),
        -30);
    return made;
  }
  std::unique_ptr<PagedKVCacheManager> manager() const {
    auto made = need(PagedKVCacheManager::create(
        params(),
        {.maxBatchSize = 1,
         .maxSeqLen = (pages + 1) * pageSize,
         .numPages = pages + 1,
         .tiers = {.diskDirectory = folder,
                   .diskBytes =
                       folder.empty() ? 0 : 3 * pages * (recordBytes + 65536),
                   .ioThreads = IoThreads}}));
    return made;
  }
};

/// Serves one prompt of all pages; the seconds of alloc() and of step(). A
/// negative seed: all memory of the pages is written before.
std::pair<double, double> serve(PagedKVCacheManager &manager, const Case &of,
                                int32_t seed, int64_t wanted) {
  std::vector<int32_t> tokens(of.pages * of.pageSize + 1);
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<int32_t>(i) * 7 + seed;
  TextGenerationContext context(1, tokens);
  if (!manager.claim(1))
    std::abort();
  double alloc = seconds([&] {
    auto taken = manager.alloc(context);
    if (!taken || taken->cachedTokens != wanted * of.pageSize) {
      std::fprintf(stderr, "page-tiers: not what was to be measured\n");
      std::exit(1);
    }
  });
  const TextGenerationContext *batch[] = {&context};
  std::span<RaggedKVCacheInputs> inputs = need(manager.runtimeInputs(batch));
  if (seed < 0) // as a model would, so that no page is new to the system
    std::memset(inputs[0].blocks.data, 1,
                static_cast<size_t>((of.pages + 2) * of.recordBytes));
  context.advance();
  double step = seconds([&] {
    if (!manager.step(batch))
      std::abort();
  });
  if (!manager.release(1))
    std::abort();
  return {alloc, step};
}

/// Moves all pieces of a file by `threads` threads.
template <class Move>
double plain(const Case &of, std::vector<std::byte> &memory, Move &&move) {
  return seconds([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < IoThreads; ++t)
      threads.emplace_back([&, t] {
        for (int64_t page = t; page < of.pages; page += IoThreads)
          for (int64_t at = 0; at < of.recordBytes;) {
            ssize_t moved =
                move(memory.data() + page * of.recordBytes + at,
                     static_cast<size_t>(of.recordBytes - at),
                     static_cast<off_t>(page * of.recordBytes + at));
            if (moved <= 0)
              std::abort();
            at += moved;
          }
      });
    for (std::thread &thread : threads)
      thread.join();
  });
}

/// Returns when what was written is on the disk. With `drop`, what is read next
/// comes from there.
void sync(const std::filesystem::path &path, bool drop = false) {
  int file = open(path.c_str(), O_RDWR);
  if (fdatasync(file) != 0 ||
      (drop && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0))
    std::abort();
  close(file);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: page-tiers FOLDER PAGE_SIZE MEGABYTES\n");
    return 2;
  }
  std::filesystem::path folder = argv[1];
  Case host;
  host.pageSize = std::atoll(argv[2]);
  host.recordBytes = int64_t(30) * 2 * 3 * 64 * 2 * host.pageSize;
  host.pages = (std::atoll(argv[3]) << 20) / host.recordBytes;
  Case disk = host;
  disk.folder = folder / "tier";
  double gigabytes = static_cast<double>(host.pages * host.recordBytes) / 1e9;
  std::map<std::string, std::vector<double>> rates;
  auto add = [&](const char *name, double time) {
    rates[name].push_back(gigabytes / time);
  };
  std::vector<std::byte> from(host.pages * host.recordBytes, std::byte(1));
  std::vector<std::byte> to(from.size(), std::byte(2));
  auto memory = host.manager();
  serve(*memory, host, -1, 0); // touches all memory once
  serve(*memory, host, -2, 0);
  for (int32_t round = 0; round < Rounds; ++round) {
    add("store", serve(*memory, host, 2 * round, 0).second);
    serve(*memory, host, 2 * round + 1, 0); // takes all pages of the devices
    add("load", serve(*memory, host, 2 * round, host.pages).first);
    add("memcpy", seconds([&] {
          for (int64_t page = 0; page < host.pages; ++page)
            std::memcpy(to.data() + page * host.recordBytes,
                        from.data() + page * host.recordBytes,
                        host.recordBytes);
        }));

    std::filesystem::remove_all(folder / "tier");
    auto first = disk.manager();
    ::sync(); // nothing else is on its way to the disk
    double step = serve(*first, disk, round, 0).second;
    double written = step + seconds([&] { first.reset(); });
    add("disk write", written);
    add("disk write, synced",
        written + seconds([&] { sync(folder / "tier" / "pages.bin"); }));
    auto second = disk.manager();
    serve(*second, disk, -1 - round, 0); // touches all memory once
    while (second->waitForLoads(10'000'000'000))
      ;
    add("disk read", serve(*second, disk, round, disk.pages).first);
    second.reset();
    sync(folder / "tier" / "pages.bin", /*drop=*/true);
    second = disk.manager();
    serve(*second, disk, -100 - round, 0);
    while (second->waitForLoads(10'000'000'000))
      ;
    sync(folder / "tier" / "pages.bin", /*drop=*/true);
    add("disk read, cold", serve(*second, disk, round, disk.pages).first);
    second.reset();
    int file =
        open((folder / "plain").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (posix_fallocate(file, 0, static_cast<off_t>(from.size())))
      std::abort();
    ::sync();
    double plainly = plain(host, from, [&](void *data, size_t n, off_t at) {
      return pwrite(file, data, n, at);
    });
    add("plain write", plainly);
    add("plain write, synced",
        plainly + seconds([&] { sync(folder / "plain"); }));
    add("plain read", plain(host, to, [&](void *data, size_t n, off_t at) {
          return pread(file, data, n, at);
        }));
    sync(folder / "plain", /*drop=*/true);
    add("plain read, cold",
        plain(host, to, [&](void *data, size_t n, off_t at) {
          return pread(file, data, n, at);
        }));
    close(file);
    std::filesystem::remove(folder / "plain");
  }
  std::filesystem::remove_all(folder / "tier");
  for (auto &[name, values] : rates) {
    std::ranges::sort(values);
    std::printf("%s\t%.3f\n", name.c_str(), values[values.size() / 2]);
  }
  std::printf("pages\t%lld\n", static_cast<long long>(host.pages));
  return 0;
}
