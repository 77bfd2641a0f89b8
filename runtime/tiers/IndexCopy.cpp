//===- IndexCopy.cpp - What an index of unknown state holds ---------------===//

#include "IndexCopy.h"
#include "SystemCalls.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <lmdb.h>
#include <optional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kv;

namespace {

/// What the child sends: entries, and then how it ends. What follows an Entry
/// is a key and a value.
enum Mark : uint8_t { Entry = 1, Whole = 2, Failed = 3 };
struct Head {
  uint8_t mark = Entry, database = 0;
  uint16_t keyBytes = 0;
  uint32_t valueBytes = 0;
  int32_t error = 0; // LMDB's or errno's, of Failed
};
constexpr uint32_t MostValueBytes = 1 << 20;
/// Seconds after which a child is taken to be lost in the file.
constexpr unsigned Patience = 120;

//===----------------------------------------------------------------------===//
// The child
//===----------------------------------------------------------------------===//

bool writeAll(int to, const void *data, size_t bytes) {
  return moveAll(bytes, [&](size_t done) {
    return ::write(to, static_cast<const std::byte *>(data) + done,
                   bytes - done);
  });
}

/// Sends the entries of one database. `left`: as many more as the file can
/// hold; a file whose pages lead back to each other has more. Returns an error
/// of LMDB's; 0: all is sent.
int sendDatabase(MDB_txn *transaction, const char *name, uint8_t database,
                 size_t &left, int to) {
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
        value.mv_size > MostValueBytes || !writeAll(to, &head, sizeof head) ||
        !writeAll(to, key.mv_data, key.mv_size) ||
        !writeAll(to, value.mv_data, value.mv_size))
      return MDB_CORRUPTED;
  }
  return result == MDB_NOTFOUND ? 0 : result;
}

int sendIndex(const std::string &path,
              const std::vector<const char *> &databases, int to) {
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
                          left, to);
  return result;
}

[[noreturn]] void runChild(const std::string &path,
                           const std::vector<const char *> &databases, int to) {
  // It may crash: quietly, and without what the process does of its own then.
  for (int signal :
       {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGPIPE})
    std::signal(signal, SIG_DFL);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC); quiet >= 0)
    dup2(quiet, STDERR_FILENO);
  alarm(Patience);
  int result = sendIndex(path, databases, to);
  Head end = {.mark = result ? Failed : Whole, .error = result};
  _exit(writeAll(to, &end, sizeof end) ? 0 : 1);
}

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

bool readAll(int from, void *data, size_t bytes) {
  return moveAll(bytes, [&](size_t done) {
    return ::read(from, static_cast<std::byte *>(data) + done, bytes - done);
  });
}

/// What the child sends; nullopt: it has not come to the end, because of
/// `error`.
std::optional<std::vector<IndexEntry>> receive(int from, size_t databases,
                                               int &error) {
  error = MDB_CORRUPTED;
  std::vector<IndexEntry> entries;
  Head head;
  while (readAll(from, &head, sizeof head)) {
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
    if (!readAll(from, entry.key.data(), entry.key.size()) ||
        !readAll(from, entry.value.data(), entry.value.size()))
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
