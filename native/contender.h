// What the wait queue knows of a lock: how to try for it, and how to pass the time until another
// try is worth while.

#ifndef BUCKETLOCK_CONTENDER_H_
#define BUCKETLOCK_CONTENDER_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace bucketlock {

// Ends a Block() from another thread. One stands for each line of waiters.
class Interruption {
 public:
  // Ends the Block() under way, or else the next one.
  void Interrupt();

  // Sleeps until interrupted, `duration` at most.
  void SleepFor(std::chrono::milliseconds duration);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool interrupted_ = false;
};

// One request for one lock. The queue calls it from one thread at a time.
class Contender {
 public:
  enum class Outcome {
    // Ours. The contender owns the lock until it is taken from it; its destructor releases.
    kGranted,
    kBusy,
    // For a reason that waiting does not cure.
    kFailed,
  };

  virtual ~Contender() = default;

  // Never waits for a holder. The contender keeps what it found.
  virtual Outcome Attempt() = 0;

  // Returns when the lock may have become free, or as soon as it is interrupted. May return early.
  virtual void Block(Interruption* interruption) = 0;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_CONTENDER_H_
