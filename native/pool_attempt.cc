#include "pool_attempt.h"

#include <utility>

#include "bucket_contender.h"

namespace bucketlock {

bool PoolAttempt::Begin() {
  const std::lock_guard<std::mutex> lock(mutex_);
  running_ = !abandoned_;
  return running_;
}

void PoolAttempt::Done(std::shared_ptr<HeldLockfile> won) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!abandoned_) {
    won_ = std::move(won);
  } else if (won != nullptr) {
    lock.unlock();
    static_cast<void>(ReleaseAndPoke(won.get()));
    lock.lock();
  }
  running_ = false;
  done_.notify_all();
}

std::shared_ptr<HeldLockfile> PoolAttempt::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(won_, nullptr);
}

std::shared_ptr<HeldLockfile> PoolAttempt::Abandon() {
  const std::lock_guard<std::mutex> lock(mutex_);
  abandoned_ = true;
  return std::exchange(won_, nullptr);
}

void PoolAttempt::Await(std::chrono::milliseconds duration) {
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait_for(lock, duration, [this] { return !running_; });
}

}  // namespace bucketlock
