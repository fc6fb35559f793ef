// A request for a bucket lock that can stand in line.

#ifndef BUCKETLOCK_BUCKET_CONTENDER_H_
#define BUCKETLOCK_BUCKET_CONTENDER_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "bucket_spec.h"
#include "contender.h"
#include "lockfile.h"

namespace bucketlock {

class BucketContender : public Contender {
 public:
  // `attempted`: an attempt has been made before, so the bucket was there and is not made again.
  BucketContender(BucketSpec spec, bool attempted);

  std::shared_ptr<Place> TakePlace() override;
  Outcome Attempt(Place* place) override;

  // What the last attempt found. Only for whoever is alone with the contender.
  AttemptResult& result() { return result_; }

  // The last attempt that saw who holds it; if there was none, one with a free lock. From any
  // thread.
  AttemptResult LastBusy() const;

 private:
  const BucketSpec spec_;
  AttemptMemory memory_;
  AttemptResult result_;
  mutable std::mutex last_busy_mutex_;
  LockReport last_busy_report_;
  std::optional<LockReport> reclaimed_;
};

// One attempt of somebody who does not stand in line. `in_turn`: where others stand in line, here
// or in other processes, it only looks, and the lock is busy.
AttemptResult AttemptOnce(const BucketSpec& spec, bool in_turn);

// The line of this process for a bucket, however its path is spelt.
std::string LineOf(const FileIdentity& directory);

// Releases; then whoever stands in line for this bucket in this process may try at once.
HoldResult ReleaseAndPoke(HeldLockfile* held);

}  // namespace bucketlock

#endif  // BUCKETLOCK_BUCKET_CONTENDER_H_
