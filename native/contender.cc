#include "contender.h"

namespace bucketlock {

void Interruption::Interrupt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  interrupted_ = true;
  changed_.notify_one();
}

void Interruption::SleepFor(std::chrono::milliseconds duration) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, duration, [this] { return interrupted_; });
  interrupted_ = false;
}

}  // namespace bucketlock
