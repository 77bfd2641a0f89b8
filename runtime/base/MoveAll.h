//===- MoveAll.h - All bytes of a file or pipe ------------------*- C++ -*-===//

#ifndef KV_RUNTIME_BASE_MOVEALL_H
#define KV_RUNTIME_BASE_MOVEALL_H

#include <cerrno>
#include <cstddef>
#include <sys/types.h>

namespace kv {

/// Calls move(done) for the bytes from `done` on, until all are through. `move`
/// returns the number of bytes that it has moved, which may be fewer, or -1 and
/// sets errno; an interrupted call is made again. False: it failed, or there
/// are no more.
template <class Move> bool moveAll(size_t bytes, Move &&move) {
  for (size_t done = 0; done < bytes;) {
    ssize_t moved = move(done);
    if (moved < 0 && errno == EINTR)
      continue;
    if (moved <= 0)
      return false;
    done += static_cast<size_t>(moved);
  }
  return true;
}

} // namespace kv

#endif // KV_RUNTIME_BASE_MOVEALL_H
