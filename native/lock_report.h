// What can be said of a lock: the native half of the LockReport that a user sees.

#ifndef BUCKETLOCK_LOCK_REPORT_H_
#define BUCKETLOCK_LOCK_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "judgement.h"

namespace bucketlock {

enum class LockState { kFree, kHeld, kStale };

// Why a path cannot be a bucket, or its lockfile no lockfile.
enum class InvalidReason {
  kDirectoryMissing,
  kNotDirectory,
  kDirectoryDisappeared,
  kLockfileNotRegular,
};

struct LockReport {
  LockState state = LockState::kFree;
  // Meaningless for a free lock.
  Evidence evidence = Evidence::kUnknown;
  // The recorded process, where the record names one.
  std::optional<std::uint32_t> pid;
  ProcessState process = ProcessState::kUnknown;
  bool this_process = false;
  std::optional<std::int64_t> since_ms;
  std::optional<std::string> label;
  std::string host;
  std::string token;
  // As we see it.
  std::string file_system;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_LOCK_REPORT_H_
