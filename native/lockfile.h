// The lockfile protocol: acquiring.
//
// A lockfile is born complete: it is written and locked under no name, and then published without
// replacing anything. Its holder keeps it open under an exclusive kernel lock, the guard. Nobody
// removes a lockfile that is not its own without holding its guard and having compared what it has
// open with what the name stands for. Therefore a death at any instruction leaves either nothing
// that blocks, or a lockfile with a free guard, which the next acquirer removes. The model in
// test/model checks these steps as they are on local file systems.
//
// Nothing here waits for a holder. docs/protocol.md tells the whole.

#ifndef BUCKETLOCK_LOCKFILE_H_
#define BUCKETLOCK_LOCKFILE_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "bucket_spec.h"
#include "held_lockfile.h"
#include "lock_report.h"
#include "lockfile_birth.h"
#include "platform/handle.h"
#include "status.h"

namespace bucketlock {

// What one attempt leaves for the next of the same request.
struct AttemptMemory {
  // The bucket directory was there once: a missing one has disappeared, and is not made again.
  bool seen_directory = false;
  // The malformed lockfile seen last, and since when it has not changed by our own clock.
  std::string unstamped_token;
  std::chrono::steady_clock::time_point unstamped_since;
  // Ready to be published as soon as the lock is free.
  std::optional<PreparedLockfile> prepared;
};

// How to attempt.
struct AttemptManner {
  // Where it says that others wait for the lock of this directory, there is no attempt, and the
  // lock is busy. Nothing is found out about its holder.
  bool (*is_somebody_waiting)(const Handle& directory) = nullptr;
  // Of a guard that is held nothing more is found out; its lockfile is answered instead.
  bool will_await_guard = false;
  // Whoever will be the next to try prepares for that while it waits, and then uses it.
  bool prepares = false;
};

enum class ResultKind { kAcquired, kBusy, kInvalid, kUnsupported, kFailed };

struct AttemptResult {
  ResultKind kind = ResultKind::kFailed;
  // kAcquired.
  std::shared_ptr<HeldLockfile> held;
  std::string token;
  // kBusy.
  LockReport report;
  // kBusy, for a caller that will await the guard: the lockfile whose guard is held.
  Handle guarded;
  // kInvalid.
  InvalidReason invalid = InvalidReason::kDirectoryMissing;
  // kUnsupported and kFailed.
  Status status;
  std::string path;
  std::string file_system;
  // Of whatever kind it is: the dead lockfile that it removed on the way, the last one of several.
  std::optional<LockReport> reclaimed;
};

// One attempt. It never waits for a holder; where it meets a peer that is reclaiming the same dead
// lock it tries again for a few milliseconds, so that of many at least one gets in.
AttemptResult AttemptAcquire(const BucketSpec& spec, AttemptMemory* memory,
                             const AttemptManner& manner = AttemptManner());

}  // namespace bucketlock

#endif  // BUCKETLOCK_LOCKFILE_H_
