//===- Reservation.h - Address space without memory -------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_RESERVATION_H
#define KV_TEST_KERNELS_RESERVATION_H

#include <cstddef>
#include <cstdlib>
#include <sys/mman.h>

namespace kv::cuda::test {

/// Address space that costs nothing until it is touched.
class Reservation {
public:
  explicit Reservation(size_t bytes) : bytes(bytes) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      std::abort();
  }
  ~Reservation() { munmap(memory, bytes); }
  Reservation(const Reservation &) = delete;
  Reservation &operator=(const Reservation &) = delete;

  void *memory;
  const size_t bytes;
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_RESERVATION_H
