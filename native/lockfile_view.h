// One look at an open lockfile: read, judge, and put into words.

#ifndef BUCKETLOCK_LOCKFILE_VIEW_H_
#define BUCKETLOCK_LOCKFILE_VIEW_H_

#include <chrono>
#include <string>

#include "judgement.h"
#include "lock_report.h"
#include "platform/file.h"
#include "platform/handle.h"
#include "status.h"

namespace bucketlock {

// A malformed lockfile may be one that its writer has only just created; after this long it is not.
inline constexpr std::chrono::seconds kUnstampedGrace(2);

struct LockfileView {
  LockReport report;
  Judgement judgement;
  // It was removed while we looked; nothing else here means anything.
  bool vanished = false;
  bool malformed = false;
  bool dated_in_future = false;
  // The very process that wrote the record is alive: not only its PID is in use.
  bool owner_lives = false;
  // False: the recorded process is provably gone, or there is no record of one.
  bool owner_may_live = true;
};

// `guard_held`: somebody else has the guard. Otherwise the caller has it, or has a shared lock.
LockfileView ViewLockfile(const Handle& file, bool guard_held, bool trusted);

// What is said of a lockfile that cannot be opened or read.
LockReport UnreadableReport();

enum class SameOutcome { kSame, kDifferent, kFailed };

// Whether `name` still stands for the open file. The answer lasts while the caller has the guard.
SameOutcome SameFile(const Handle& directory, const std::string& name, const Handle& file,
                     Status* status);

// The lockfile's path, for messages.
std::string LockfilePath(const std::string& directory);

}  // namespace bucketlock

#endif  // BUCKETLOCK_LOCKFILE_VIEW_H_
