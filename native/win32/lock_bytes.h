// The bytes of a lockfile that carry locks. Windows locks keep others from reading what they cover,
// so all of them lie far behind the record, and far behind everything that anybody writes.

#ifndef BUCKETLOCK_WIN32_LOCK_BYTES_H_
#define BUCKETLOCK_WIN32_LOCK_BYTES_H_

#include <windows.h>

#include "platform/handle.h"
#include "win32/win32_util.h"

namespace bucketlock {

// Where a lock of one byte lies, as the calls want it.
inline OVERLAPPED LockByte(DWORD high, DWORD low) {
  OVERLAPPED at = {};
  at.OffsetHigh = high;
  at.Offset = low;
  return at;
}

// Who has it holds the lock. Only ever tried: a suspended process would be granted it in the queue.
inline OVERLAPPED GuardByte() { return LockByte(0x40000000, 0); }

// Locked by whoever holds the guard, and queued for by who waits: a grant wakes, and gives nothing.
inline OVERLAPPED WakeByte() { return LockByte(0x40000000, 1); }

// For this process to find out whether the kernel grants locks that are queued.
inline OVERLAPPED ProbeByte() { return LockByte(0x40000001, ::GetCurrentProcessId()); }

// `flags` as LockFileEx() takes them. False: see GetLastError(), which is ERROR_IO_PENDING where
// the handle is asynchronous and the lock is queued.
inline bool LockOneByte(const Handle& file, DWORD flags, OVERLAPPED* at) {
  return ::LockFileEx(Raw(file), flags, /*dwReserved=*/0, /*nNumberOfBytesToLockLow=*/1,
                      /*nNumberOfBytesToLockHigh=*/0, at) != 0;
}

// Fails only where there is nothing to unlock.
inline void UnlockOneByte(const Handle& file, OVERLAPPED at) {
  at.hEvent = nullptr;
  static_cast<void>(::UnlockFileEx(Raw(file), /*dwReserved=*/0, /*nNumberOfBytesToUnlockLow=*/1,
                                   /*nNumberOfBytesToUnlockHigh=*/0, &at));
}

}  // namespace bucketlock

#endif  // BUCKETLOCK_WIN32_LOCK_BYTES_H_
