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

#include "page-case.h"

#include <fcntl.h>
#include <thread>
#include <unistd.h>

using namespace kv;
using namespace kv::benchmark;

namespace {

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
  Case host = caseOf(std::atoll(argv[2]), std::atoll(argv[3]));
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
  printMedians(rates);
  std::printf("pages\t%lld\n", static_cast<long long>(host.pages));
  return 0;
}
