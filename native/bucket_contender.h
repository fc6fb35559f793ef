// A request for a bucket lock that can stand in line.

#ifndef BUCKETLOCK_BUCKET_CONTENDER_H_
#define BUCKETLOCK_BUCKET_CONTENDER_H_

#include <memory>
#include <mutex>
#include <optional>

#include "bucket_spec.h"
#include "contender.h"
#include "lockfile.h"

namespace bucketlock {

class BucketContender : public Contender {
 public:
  // `attempted`: an attempt has been made before, so the bucket was there and is not made again.
  BucketContender(BucketSpec spec, bool attempted);

  std::shared_ptr<Place> TakePlace() override;
  Outcome Attempt(Place* place, LineMemory* memory) override;

  // What the last attempt found. Only for whoever is alone with the contender.
  AttemptResult& result() { return result_; }

  // The last attempt that was busy, as far as it saw who holds the lock: of a guard that is held
  // nothing is found out, and the report is that of a free lock. From any thread.
  AttemptResult LastBusy() const;

 private:
  const BucketSpec spec_;
  AttemptMemory memory_;
  AttemptResult result_;
  mutable std::mutex last_busy_mutex_;
  LockReport last_busy_report_;
  std::optional<LockReport> reclaimed_;
};

// Whom somebody lets go first who makes an attempt without standing in line. Where there is such a
// one, the lock is busy, and nothing is found out about its holder.
enum class Turn {
  // Nobody.
  kAny,
  // Other processes.
  kFirstHere,
  // Whoever stands in line, in this process too.
  kLast,
};

AttemptResult AttemptOnce(const BucketSpec& spec, Turn turn);

// Releases; then whoever stands in line for this bucket in this process may try at once.
HoldResult ReleaseAndPoke(HeldLockfile* held);

}  // namespace bucketlock

#endif  // BUCKETLOCK_BUCKET_CONTENDER_H_
