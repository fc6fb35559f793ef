#include "pool_attempts.h"

#include <utility>

namespace bucketlock {

bool PoolAttempts::Begin() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!closed_) ++running_;
  return !closed_;
}

void PoolAttempts::Done(std::shared_ptr<HeldLockfile> won) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (won != nullptr && closed_) {
    lock.unlock();
    static_cast<void>(won->Release());
    lock.lock();
  } else if (won != nullptr) {
    won_.insert(std::move(won));
  }
  --running_;
  done_.notify_all();
}

bool PoolAttempts::Take(const std::shared_ptr<HeldLockfile>& won) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return won_.erase(won) != 0;
}

void PoolAttempts::Close(std::chrono::milliseconds duration) {
  std::unordered_set<std::shared_ptr<HeldLockfile>> won;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    closed_ = true;
    won.swap(won_);
  }
  for (const std::shared_ptr<HeldLockfile>& held : won) static_cast<void>(held->Release());
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait_for(lock, duration, [this] { return running_ == 0; });
}

}  // namespace bucketlock
