// Looking at a lockfile, and removing one that nobody can vouch for.

#ifndef BUCKETLOCK_LOCKFILE_INSPECTION_H_
#define BUCKETLOCK_LOCKFILE_INSPECTION_H_

#include <string>

#include "lock_report.h"
#include "status.h"

namespace bucketlock {

enum class LookOutcome { kSeen, kInvalid, kUnsupported, kFailed };

struct Look {
  LookOutcome outcome = LookOutcome::kFailed;
  // kSeen.
  LockReport report;
  // kInvalid.
  InvalidReason invalid = InvalidReason::kNotDirectory;
  // kUnsupported and kFailed.
  Status status;
  std::string path;
  std::string file_system;
};

// Looks without touching: the guard is tested with a shared lock, which excludes no other look. A
// missing bucket is free.
Look Inspect(const std::string& directory, bool trusted);

struct BreakResult {
  // True: the record is gone, removed by this call or not there at all. False: another record is
  // there, or its guard is held. Only where `look` says kSeen.
  bool gone = false;
  Look look;
};

// Removes the record that `token` names, but never one whose guard is held; and where guards prove
// nothing, none whose very process is alive as seen from here.
BreakResult Break(const std::string& directory, const std::string& token, bool trusted);

}  // namespace bucketlock

#endif  // BUCKETLOCK_LOCKFILE_INSPECTION_H_
