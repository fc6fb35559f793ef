// What one environment's attempts on libuv's pool have under way or have won, so that an ending
// environment leaves no lock behind that nobody will be told of.

#ifndef BUCKETLOCK_POOL_ATTEMPTS_H_
#define BUCKETLOCK_POOL_ATTEMPTS_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "held_lockfile.h"

namespace bucketlock {

// Safe from any thread.
class PoolAttempts {
 public:
  // False: the environment is ending, and nothing is to be begun any more.
  bool Begin();
  // Ends what Begin() began. What it has won (null: nothing) is kept here until it is taken, or
  // released at once if the environment is ending.
  void Done(std::shared_ptr<HeldLockfile> won);
  // False: it has been released meanwhile.
  bool Take(const std::shared_ptr<HeldLockfile>& won);

  // From here on nothing begins and nothing is kept. Waits for what had begun, `duration` at most,
  // and releases what has been won.
  void Close(std::chrono::milliseconds duration);

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::unordered_set<std::shared_ptr<HeldLockfile>> won_;
  int running_ = 0;
  bool closed_ = false;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_POOL_ATTEMPTS_H_
