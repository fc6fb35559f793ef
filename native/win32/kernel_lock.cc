#include "platform/kernel_lock.h"

#include "win32/win32_util.h"

namespace bucketlock {
namespace {

// The one byte that is locked. Windows locks keep others from reading what they cover, so it lies
// far behind the record, and far behind everything that anybody writes.
OVERLAPPED GuardByte() {
  OVERLAPPED at = {};
  at.OffsetHigh = 0x40000000;
  return at;
}

constexpr DWORD kBytesLow = 1;
constexpr DWORD kBytesHigh = 0;

}  // namespace

void LetOthersAwait(const Handle&) {}

LockOutcome TryLock(const Handle& file, LockMode mode, Status* status) {
  OVERLAPPED at = GuardByte();
  const DWORD exclusive = mode == LockMode::kExclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0;
  if (::LockFileEx(Raw(file), LOCKFILE_FAIL_IMMEDIATELY | exclusive, /*dwReserved=*/0, kBytesLow,
                   kBytesHigh, &at)) {
    return LockOutcome::kAcquired;
  }
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

Status LocksUnsupported() { return Status::Unsupported(ERROR_NOT_SUPPORTED, "LockFileEx"); }

void Unlock(const Handle& file) {
  // Can fail only where there is nothing to unlock.
  OVERLAPPED at = GuardByte();
  static_cast<void>(::UnlockFileEx(Raw(file), /*dwReserved=*/0, kBytesLow, kBytesHigh, &at));
}

}  // namespace bucketlock
