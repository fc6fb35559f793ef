// A request for a bucket lock that can stand in line.

#ifndef BUCKETLOCK_BUCKET_CONTENDER_H_
#define BUCKETLOCK_BUCKET_CONTENDER_H_

#include <chrono>
#include <mutex>
#include <random>

#include "bucket_spec.h"
#include "contender.h"
#include "lockfile.h"

namespace bucketlock {

class BucketContender : public Contender {
 public:
  // `attempted`: an attempt has been made before, so the bucket was there and is not made again.
  BucketContender(BucketSpec spec, bool attempted);

  Outcome Attempt() override;
  void Block(Interruption* interruption) override;

  // What the last attempt found. Only for whoever is alone with the contender.
  AttemptResult& result() { return result_; }

  // The last attempt that was busy; if there was none, one with a free lock. From any thread.
  AttemptResult LastBusy() const;

 private:
  const BucketSpec spec_;
  AttemptMemory memory_;
  AttemptResult result_;
  mutable std::mutex last_busy_mutex_;
  AttemptResult last_busy_;
  // How long the next Block() sleeps, before jitter.
  std::chrono::milliseconds pause_;
  std::minstd_rand jitter_;
};

// Releases; then whoever stands in line for this bucket in this process may try at once.
HoldResult ReleaseAndPoke(HeldLockfile* held);

}  // namespace bucketlock

#endif  // BUCKETLOCK_BUCKET_CONTENDER_H_
