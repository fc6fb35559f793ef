#include "win32/guard_wait.h"

#include <algorithm>
#include <atomic>

#include "platform/kernel_lock.h"
#include "win32/lock_bytes.h"
#include "win32/win32_util.h"

namespace bucketlock {
namespace {

enum class Wake { kFired, kCancelled, kTimedOut };

Wake WaitForEither(const Handle& event, const Handle& cancel, DWORD timeout_ms) {
  // Of several that are set, the first one counts.
  const HANDLE events[] = {Raw(cancel), Raw(event)};
  switch (::WaitForMultipleObjects(2, events, /*bWaitAll=*/FALSE, timeout_ms)) {
    case WAIT_OBJECT_0:
      return Wake::kCancelled;
    case WAIT_OBJECT_0 + 1:
      return Wake::kFired;
    default:
      return Wake::kTimedOut;
  }
}

// A shared lock on one byte, granted at once or queued for. Shared, so that nobody who is granted
// it, and then suspended, keeps others asleep.
class QueuedLock {
 public:
  // The handle must be asynchronous.
  QueuedLock(const Handle& file, OVERLAPPED at)
      : file_(file),
        decided_(Own(::CreateEventW(/*lpEventAttributes=*/nullptr, /*bManualReset=*/TRUE,
                                    /*bInitialState=*/FALSE, /*lpName=*/nullptr))),
        at_(at) {
    if (!decided_.valid()) return;
    at_.hEvent = Raw(decided_);
    granted_ = LockOneByte(file_, /*flags=*/0, &at_);
    queued_ = !granted_ && ::GetLastError() == ERROR_IO_PENDING;
  }

  ~QueuedLock() {
    if (queued_) Withdraw();
    if (granted_) UnlockOneByte(file_, at_);
  }

  QueuedLock(const QueuedLock&) = delete;
  QueuedLock& operator=(const QueuedLock&) = delete;

  bool queued() const { return queued_; }
  // Set once a queued lock is granted, or refused after all.
  const Handle& decided() const { return decided_; }

 private:
  // The kernel writes into `at_` until the request has ended, so this waits for that end. There is
  // nothing to wait for where no request is found: it has ended, granted or not.
  void Withdraw() {
    const bool ending = ::CancelIoEx(Raw(file_), &at_) != 0 || ::GetLastError() != ERROR_NOT_FOUND;
    DWORD ignored = 0;
    granted_ = ::GetOverlappedResult(Raw(file_), &at_, &ignored, /*bWait=*/ending) != 0;
  }

  const Handle& file_;
  const Handle decided_;
  OVERLAPPED at_;
  bool granted_ = false;
  bool queued_ = false;
};

// Wine takes a request and forgets it. Tried out with a byte of our own, until it has gone well
// once. A wrong no costs some looks.
bool AreQueuedLocksGranted(const Handle& lockfile, const Handle& waiting) {
  static std::atomic<bool> known(false);
  if (known) return true;
  // The grant comes with the unlock; this is for a machine that is busy.
  constexpr DWORD kPatienceMs = 5;
  OVERLAPPED at = ProbeByte();
  if (!LockOneByte(lockfile, LOCKFILE_FAIL_IMMEDIATELY | LOCKFILE_EXCLUSIVE_LOCK, &at)) {
    return false;
  }
  const QueuedLock probe(waiting, ProbeByte());
  UnlockOneByte(lockfile, at);
  if (probe.queued() && ::WaitForSingleObject(Raw(probe.decided()), kPatienceMs) == WAIT_OBJECT_0) {
    known = true;
  }
  return known;
}

// For guards whose holder cannot be waited for: on a kernel that does not queue, or where only the
// guard is locked, as it is for moments by whoever judges.
bool LookAtGuard(const Handle& lockfile, const Handle& cancel) {
  constexpr DWORD kFirstPauseMs = 1;
  constexpr DWORD kLongestPauseMs = 100;
  for (DWORD pause_ms = kFirstPauseMs;; pause_ms = std::min(2 * pause_ms, kLongestPauseMs)) {
    Status ignored;  // The next attempt tells.
    const LockOutcome outcome = TryLock(lockfile, LockMode::kShared, &ignored);
    if (outcome == LockOutcome::kAcquired) {
      Unlock(lockfile);
      return true;
    }
    if (::WaitForSingleObject(Raw(cancel), pause_ms) == WAIT_OBJECT_0) return false;
    if (outcome != LockOutcome::kHeld) return true;
  }
}

}  // namespace

bool WaitForGuard(const Handle& lockfile, const Handle& cancel) {
  // Opened anew, for all other handles are synchronous: what queues through them cannot be ended.
  const Handle waiting = Own(::ReOpenFile(Raw(lockfile), FILE_GENERIC_READ,
                                          FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                          FILE_FLAG_OVERLAPPED));
  if (waiting.valid() && AreQueuedLocksGranted(lockfile, waiting)) {
    const QueuedLock wake(waiting, WakeByte());
    if (wake.queued()) return WaitForEither(wake.decided(), cancel, INFINITE) != Wake::kCancelled;
  }
  return LookAtGuard(lockfile, cancel);
}

}  // namespace bucketlock
