//===- StandardStreams.h - Standard streams that are closed -----*- C++ -*-===//

#ifndef KV_TOOLS_STANDARDSTREAMS_H
#define KV_TOOLS_STANDARDSTREAMS_H

#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace kv {

/// Puts something that can neither be read nor written where a standard stream
/// is closed: else the next file or socket to be opened would be that stream,
/// and be read for requests or get the answers.
inline void holdStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      // The lowest number that is free is `stream`.
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

} // namespace kv

#endif // KV_TOOLS_STANDARDSTREAMS_H
