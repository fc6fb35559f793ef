// The line of processes that wait for the lock of one directory.
//
// A waiting process first blocks on a kernel lock that belongs to the directory itself, the queue
// lock: the kernel grants it in order of arrival and drops it when a process dies. Who has it is
// the head of the line, and blocks until the holder of the lockfile lets go. So a hand-over wakes
// two threads, however many wait.
//
// Nothing depends on the line but order: a lock is ours by its lockfile alone. Sources: flock(2) on
// the directory's descriptor on POSIX; a named mutex on Windows.

#ifndef BUCKETLOCK_PLATFORM_QUEUE_LOCK_H_
#define BUCKETLOCK_PLATFORM_QUEUE_LOCK_H_

#include <memory>

#include "platform/handle.h"

namespace bucketlock {

// Whether some process stands in line for this directory. Never waits. False as well where no line
// can be had.
bool IsSomebodyInLine(const Handle& directory);

enum class QueueOutcome {
  // We are the head.
  kHead,
  // Given up meanwhile, where the system can end the wait.
  kAbandoned,
  // There can be no line here.
  kUnavailable,
};

// One process's place in the line. Of one thread, but for Abandon().
class QueueLock {
 public:
  // Of an open directory, which must have been opened for the queue; see OpenDirectory(). Null:
  // there can be no line here.
  static std::unique_ptr<QueueLock> Of(Handle directory);

  virtual ~QueueLock() = default;

  virtual const Handle& directory() const = 0;

  virtual bool IsHead() const = 0;

  // Blocks until we are the head. At once where we are already.
  virtual QueueOutcome Enter() = 0;

  // Blocks until whoever has the guard of the open lockfile may have let go of it, by a release or
  // by death. May return early.
  virtual void AwaitGuard(const Handle& lockfile) = 0;

  // Whether no other process stood in line a moment ago. False where that cannot be seen.
  virtual bool IsLast() const = 0;

  // Leaves the line; nothing where we do not stand in it.
  virtual void Leave() = 0;

  // From any thread: nobody here needs the place any more. If we are the head, the next process
  // becomes it; a blocking call is ended where the system can end it. Elsewhere it keeps nothing
  // but its thread, and returns when it is granted what it waits for.
  virtual void Abandon() = 0;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_PLATFORM_QUEUE_LOCK_H_
