// Without marks: a line is seen by its head alone.

#include "platform/kernel_lock.h"
#include "posix/queue_mark.h"

namespace bucketlock {

void MarkWaiting(const Handle&) {}

void UnmarkWaiting(const Handle&) {}

bool IsMarkedWaiting(const Handle& directory) {
  // Shared, so that those who only ask do not look like a line to each other.
  Status status;
  const LockOutcome outcome = TryLock(directory, LockMode::kShared, &status);
  if (outcome == LockOutcome::kAcquired) Unlock(directory);
  return outcome == LockOutcome::kHeld;
}

}  // namespace bucketlock
