// A lockfile that is ours, from its publication until its release.

#ifndef BUCKETLOCK_HELD_LOCKFILE_H_
#define BUCKETLOCK_HELD_LOCKFILE_H_

#include <cstdint>
#include <mutex>
#include <string>

#include "platform/file.h"
#include "platform/handle.h"
#include "status.h"

namespace bucketlock {

// The name of every bucket's lockfile. Names that begin with it and a dot are private files.
inline constexpr char kLockfileName[] = ".lock";

enum class LostReason {
  // The lockfile's name is gone.
  kRemoved,
  // Another file has the name.
  kReplaced,
  // We are a forked child of the process that acquired it.
  kOtherProcess,
};

enum class HoldOutcome {
  // Verify: still ours. Release: it was, and is released.
  kOurs,
  kLost,
  // Release only: somebody's open handle forbids the removal for now. It is still held.
  kBlocked,
  // The system refused. Nothing has changed: it is still held.
  kFailed,
};

struct HoldResult {
  HoldOutcome outcome = HoldOutcome::kFailed;
  LostReason lost = LostReason::kRemoved;
  Status status;
};

// Of a release: there is nothing left to release.
inline bool IsOver(const HoldResult& result) {
  return result.outcome == HoldOutcome::kOurs || result.outcome == HoldOutcome::kLost;
}

// All calls are safe from any thread.
class HeldLockfile {
 public:
  // Takes over both handles; `file` carries the guard.
  HeldLockfile(std::string directory_path, Handle directory, Handle file);
  // Releases, if nobody has.
  ~HeldLockfile();

  HeldLockfile(const HeldLockfile&) = delete;
  HeldLockfile& operator=(const HeldLockfile&) = delete;

  // The bucket directory as it was named when the lock was acquired.
  const std::string& directory_path() const { return directory_path_; }

  HoldResult Verify();

  // Removes the lockfile, unlocks, closes. Once it has answered kOurs or kLost it answers the same
  // for ever.
  HoldResult Release();

  // Lets go without removing the lockfile: a dead lock, which the next acquirer reclaims.
  void Abandon();

 private:
  // The caller holds `mutex_`.
  HoldResult Check();
  void LetGo(const HoldResult& result);

  const std::string directory_path_;
  // The process that acquired; in a forked child nothing is ours.
  const std::uint32_t owner_;

  std::mutex mutex_;
  // Relative to which the lockfile is removed, so that a renamed bucket releases well.
  Handle directory_;
  Handle file_;
  bool finished_ = false;
  HoldResult final_;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_HELD_LOCKFILE_H_
