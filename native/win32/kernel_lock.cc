#include "platform/kernel_lock.h"

#include "win32/lock_bytes.h"
#include "win32/win32_util.h"

namespace bucketlock {

// Nobody else knows of the file yet, so it can fail only where locks do; then whoever waits looks
// at the guard from time to time.
void LetOthersAwait(const Handle& file) {
  OVERLAPPED at = WakeByte();
  static_cast<void>(LockOneByte(file, LOCKFILE_FAIL_IMMEDIATELY | LOCKFILE_EXCLUSIVE_LOCK, &at));
}

LockOutcome TryLock(const Handle& file, LockMode mode, Status* status) {
  OVERLAPPED at = GuardByte();
  const DWORD exclusive = mode == LockMode::kExclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0;
  if (LockOneByte(file, LOCKFILE_FAIL_IMMEDIATELY | exclusive, &at)) return LockOutcome::kAcquired;
  const int error = LastError();
  if (error == ERROR_LOCK_VIOLATION) return LockOutcome::kHeld;
  // What file systems and redirectors without locks answer.
  if (error == ERROR_NOT_SUPPORTED || error == ERROR_INVALID_FUNCTION ||
      error == ERROR_CALL_NOT_IMPLEMENTED) {
    *status = Status::Unsupported(error, "LockFileEx");
    return LockOutcome::kUnsupported;
  }
  *status = Status::System(error, "LockFileEx");
  return LockOutcome::kFailed;
}

void Unlock(const Handle& file) {
  // The guard first: who is woken is to find it free.
  UnlockOneByte(file, GuardByte());
  UnlockOneByte(file, WakeByte());
}

}  // namespace bucketlock
