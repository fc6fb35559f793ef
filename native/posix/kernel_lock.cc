#include "platform/kernel_lock.h"

#include <sys/file.h>

#include <cerrno>

#include "posix/posix_util.h"

namespace bucketlock {

void LetOthersAwait(const Handle&) {}

LockOutcome TryLock(const Handle& file, LockMode mode, Status* status) {
  const int operation = (mode == LockMode::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  if (Resume([&] { return ::flock(Descriptor(file), operation); }) == 0) {
    return LockOutcome::kAcquired;
  }
  const int error = errno;
  if (error == EWOULDBLOCK) return LockOutcome::kHeld;
  // ENOLCK: an NFS server without a lock daemon. The others: a file system without locks.
  if (error == ENOTSUP || error == EOPNOTSUPP || error == ENOSYS || error == ENOLCK ||
      error == EINVAL) {
    *status = Status::Unsupported(error, "flock");
    return LockOutcome::kUnsupported;
  }
  *status = HandleFailure(error, "flock");
  return LockOutcome::kFailed;
}

void Unlock(const Handle& file) {
  // Can fail only for a bad descriptor, or where there is nothing to unlock.
  static_cast<void>(Resume([&] { return ::flock(Descriptor(file), LOCK_UN); }));
}

}  // namespace bucketlock
