// Trying again for a few milliseconds, where a guard is a peer's and not a holder's.

#ifndef BUCKETLOCK_BRIEF_RETRIES_H_
#define BUCKETLOCK_BRIEF_RETRIES_H_

#include <chrono>
#include <thread>

namespace bucketlock {

// A peer holds the guard of a dead lockfile only to look at it or to remove it: for microseconds,
// unless it is preempted. Longer than this, and the lock is reported as held.
class BriefRetries {
 public:
  // Sleeps a little. False, at once: enough has been tried.
  bool Pause() {
    if (spent_ >= kMost) return false;
    ++spent_;
    std::this_thread::sleep_for(kPause);
    return true;
  }

  int spent() const { return spent_; }

 private:
  static constexpr int kMost = 40;
  static constexpr std::chrono::microseconds kPause{100};

  int spent_ = 0;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_BRIEF_RETRIES_H_
