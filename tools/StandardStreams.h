//===- StandardStreams.h - Streams and files of a process -------*- C++ -*-===//

#ifndef KV_TOOLS_STANDARDSTREAMS_H
#define KV_TOOLS_STANDARDSTREAMS_H

#include <csignal>
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

/// Lets a write beyond the limit of a file's size (`ulimit -f`) fail with
/// EFBIG, as one on a full file system fails, instead of ending the process.
/// Programs that this one runs inherit it.
inline void reportFileLimits() { (void)std::signal(SIGXFSZ, SIG_IGN); }

} // namespace kv

#endif // KV_TOOLS_STANDARDSTREAMS_H
