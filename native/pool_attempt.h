// One attempt on libuv's pool, and what becomes of a lock that it wins. Until JavaScript takes the
// lock it is kept here; once the attempt is abandoned it is released here.

#ifndef BUCKETLOCK_POOL_ATTEMPT_H_
#define BUCKETLOCK_POOL_ATTEMPT_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "held_lockfile.h"

namespace bucketlock {

// Safe from any thread.
class PoolAttempt {
 public:
  // False: abandoned already, so there is nothing to begin.
  bool Begin();
  // Ends what Begin() began; null: it has won nothing.
  void Done(std::shared_ptr<HeldLockfile> won);

  // What it has won, once. Null as well if it was abandoned.
  std::shared_ptr<HeldLockfile> Take();
  // From here on nothing begins and nothing is kept. Answers what it had won already, for the
  // caller to release.
  std::shared_ptr<HeldLockfile> Abandon();
  // Blocks while it is under way, `duration` at most.
  void Await(std::chrono::milliseconds duration);

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::shared_ptr<HeldLockfile> won_;
  bool running_ = false;
  bool abandoned_ = false;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_POOL_ATTEMPT_H_
