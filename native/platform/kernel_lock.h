// A kernel lock on a whole open file, the guard of a lockfile.
//
// It belongs to the open file, not to the process: two opens exclude each other, threads of one
// process too. The kernel drops it when the last handle on that open file is closed, however the
// process ends. Sources: flock(2) on POSIX, LockFileEx on Windows.

#ifndef BUCKETLOCK_PLATFORM_KERNEL_LOCK_H_
#define BUCKETLOCK_PLATFORM_KERNEL_LOCK_H_

#include "platform/handle.h"
#include "status.h"

namespace bucketlock {

enum class LockMode { kShared, kExclusive };

enum class LockOutcome {
  kAcquired,
  kHeld,
  // The file system or kernel has no such locks.
  kUnsupported,
  kFailed,
};

// One attempt; never waits.
LockOutcome TryLock(const Handle& file, LockMode mode, Status* status);

// For whoever has just taken the guard of a lockfile that it will publish: lets the others block in
// QueueLock::AwaitGuard() until the file is closed. Where they block on the guard itself, nothing.
void LetOthersAwait(const Handle& file);

// Unlocks now, and lets those go on who await it. Closing alone would not be enough: a child
// between fork and exec shares the open file and would keep the lock until its exec.
void Unlock(const Handle& file);

}  // namespace bucketlock

#endif  // BUCKETLOCK_PLATFORM_KERNEL_LOCK_H_
