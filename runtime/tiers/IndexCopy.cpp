//===- IndexCopy.cpp - What an index of unknown state holds ---------------===//

#include "IndexCopy.h"
#include "SystemCalls.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <lmdb.h>
#include <optional>
#include <span>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kv;

namespace {

/// Marks of the child's messages: entries, and then how it ends. A key and a
/// value follow an Entry.
enum Mark : uint8_t { Entry = 1, Whole = 2, Failed = 3 };
struct Head {
  uint8_t mark = Entry, database = 0;
  uint16_t keyBytes = 0;
  uint32_t valueBytes = 0;
  int32_t error = 0; // LMDB's or errno's, of Failed
};
constexpr uint32_t MostValueBytes = 1 << 20;
/// Bytes per call: entries are small, and there may be millions. A pipe holds
/// as much.
constexpr size_t BytesAtOnce = 1 << 16;
/// Seconds after which a child is taken to be lost in the file.
constexpr unsigned Patience = 120;

//===----------------------------------------------------------------------===//
// The child
//===----------------------------------------------------------------------===//

class Sender {
public:
  explicit Sender(int to) : to(to) {}

  bool send(const void *data, size_t bytes) {
    waiting.append(static_cast<const char *>(data), bytes);
    return waiting.size() < BytesAtOnce || flush();
  }
  bool flush() {
    bool sent = moveAll(waiting.size(), [&](size_t done) {
      return ::write(to, waiting.data() + done, waiting.size() - done);
    });
    waiting.clear();
    return sent;
  }

private:
  int to;
  std::string waiting;
};

/// Sends the entries of one database. `left`: as many more as the file can
/// hold; a file whose pages lead back to each other has more. Returns an error
/// of LMDB's; 0: all is sent.
int sendDatabase(MDB_txn *transaction, const char *name, uint8_t database,
                 size_t &left, Sender &sender) {
  MDB_dbi opened;
  int result = mdb_dbi_open(transaction, name, 0, &opened);
  if (result == MDB_NOTFOUND)
    return 0;
  MDB_cursor *cursor = nullptr;
  if (!result)
    result = mdb_cursor_open(transaction, opened, &cursor);
  if (result)
    return result;
  MDB_val key, value;
  while (!(result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
    Head head = {Entry, database, static_cast<uint16_t>(key.mv_size),
                 static_cast<uint32_t>(value.mv_size)};
    if (left-- == 0 || key.mv_size > UINT16_MAX ||
        value.mv_size > MostValueBytes || !sender.send(&head, sizeof head) ||
        !sender.send(key.mv_data, key.mv_size) ||
        !sender.send(value.mv_data, value.mv_size))
      return MDB_CORRUPTED;
  }
  return result == MDB_NOTFOUND ? 0 : result;
}

int sendIndex(const std::string &path,
              const std::vector<const char *> &databases, Sender &sender) {
  struct stat status;
  MDB_env *environment = nullptr;
  if (stat(path.c_str(), &status) != 0)
    return errno;
  if (int result = mdb_env_create(&environment))
    return result;
  mdb_env_set_maxdbs(environment, static_cast<MDB_dbi>(databases.size()));
  // At least as much as the file: LMDB takes what the file says otherwise.
  mdb_env_set_mapsize(environment,
                      static_cast<size_t>(status.st_size) + (size_t(1) << 20));
  MDB_txn *transaction = nullptr;
  int result = mdb_env_open(environment, path.c_str(),
                            MDB_NOSUBDIR | MDB_NOLOCK | MDB_RDONLY, 0);
  if (!result)
    result = mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction);
  size_t left = static_cast<size_t>(status.st_size) / 16;
  for (size_t i = 0; !result && i < databases.size(); ++i)
    result = sendDatabase(transaction, databases[i], static_cast<uint8_t>(i),
                          left, sender);
  return result;
}

[[noreturn]] void runChild(const std::string &path,
                           const std::vector<const char *> &databases, int to) {
  // The child may crash: quietly, without the signal handlers of this process.
  for (int signal :
       {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGPIPE})
    std::signal(signal, SIG_DFL);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC); quiet >= 0)
    dup2(quiet, STDERR_FILENO);
  alarm(Patience);
  Sender sender(to);
  int result = sendIndex(path, databases, sender);
  Head end = {.mark = result ? Failed : Whole, .error = result};
  _exit(sender.send(&end, sizeof end) && sender.flush() ? 0 : 1);
}

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

class Receiver {
public:
  explicit Receiver(int from) : from(from) {}

  /// False: so much does not come.
  bool receive(void *data, size_t bytes) {
    return moveAll(bytes, [&](size_t done) -> ssize_t {
      if (unread.empty()) {
        ssize_t got = ::read(from, buffer.data(), buffer.size());
        if (got <= 0)
          return got;
        unread = std::span(buffer).first(static_cast<size_t>(got));
      }
      size_t taken = std::min(bytes - done, unread.size());
      std::memcpy(static_cast<char *>(data) + done, unread.data(), taken);
      unread = unread.subspan(taken);
      return static_cast<ssize_t>(taken);
    });
  }

private:
  int from;
  std::vector<char> buffer = std::vector<char>(BytesAtOnce);
  std::span<const char> unread;
};

/// Reads the child's messages. nullopt: the child has not come to the end,
/// because of `error`.
std::optional<std::vector<IndexEntry>> receive(int from, size_t databases,
                                               int &error) {
  error = MDB_CORRUPTED;
  std::vector<IndexEntry> entries;
  Head head;
  Receiver receiver(from);
  while (receiver.receive(&head, sizeof head)) {
    if (head.mark == Whole)
      return entries;
    if (head.mark == Failed)
      error = head.error;
    if (head.mark != Entry || head.database >= databases ||
        head.valueBytes > MostValueBytes)
      break;
    IndexEntry &entry = entries.emplace_back();
    entry.database = head.database;
    entry.key.resize(head.keyBytes);
    entry.value.resize(head.valueBytes);
    if (!receiver.receive(entry.key.data(), entry.key.size()) ||
        !receiver.receive(entry.value.data(), entry.value.size()))
      break;
  }
  return std::nullopt;
}

} // namespace

Expected<std::vector<IndexEntry>>
kv::readIndexInChild(const std::string &path,
                     const std::vector<const char *> &databases) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return makeError(KV_STATUS_INTERNAL, path, ": ", std::strerror(errno));
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    runChild(path, databases, ends[1]);
  }
  int error = errno;
  close(ends[1]);
  std::optional<std::vector<IndexEntry>> entries;
  if (child > 0)
    entries = receive(ends[0], databases.size(), error);
  close(ends[0]); // a child that is still writing ends now
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (!entries)
    return makeError(KV_STATUS_INTERNAL, path, ": ", mdb_strerror(error));
  return std::move(*entries);
}
