//===- SystemCalls.h - What a disk can fail at ------------------*- C++ -*-===//

#ifndef KV_RUNTIME_TIERS_SYSTEMCALLS_H
#define KV_RUNTIME_TIERS_SYSTEMCALLS_H

#include "runtime/base/MoveAll.h"

#include <lmdb.h>

#include <cstddef>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace kv {

/// Every call by which records reach a disk or come from it. Tests replace it
/// and let each call fail in turn. Called by several threads.
class SystemCalls {
public:
  virtual ~SystemCalls() = default;

  virtual ssize_t read(int file, const iovec *parts, int count, off_t at) {
    return preadv(file, parts, count, at);
  }
  virtual ssize_t write(int file, const iovec *parts, int count, off_t at) {
    return pwritev(file, parts, count, at);
  }
  /// 0, or an error of errno.
  virtual int allocate(int file, off_t bytes) {
    return posix_fallocate(file, 0, bytes);
  }
  /// 0, or an error of LMDB or errno. The transaction is over in any case.
  virtual int commit(MDB_txn *transaction) {
    return mdb_txn_commit(transaction);
  }
  /// mdb_env_sync: what was committed outlives a loss of power.
  virtual int sync(MDB_env *environment) {
    return mdb_env_sync(environment, /*force=*/1);
  }
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_SYSTEMCALLS_H
