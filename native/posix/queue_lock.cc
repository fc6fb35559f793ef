#include "platform/queue_lock.h"

#include <sys/file.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "platform/kernel_lock.h"
#include "posix/posix_util.h"
#include "posix/queue_mark.h"

namespace bucketlock {
namespace {

using Clock = std::chrono::steady_clock;

// How long to stand back for somebody who was woken before us and does not run yet. Longer, and it
// is suspended.
constexpr std::chrono::milliseconds kStandBack(10);
constexpr std::chrono::microseconds kStandBackPause(100);

// And how long not to do so any more, once somebody did not come.
constexpr std::chrono::milliseconds kNoMoreFor(1000);

// Of all lines together: it matters for their order alone.
std::atomic<Clock::rep> no_more_until{0};

// No signal reaches our threads, so nothing but the grant ends a flock(2).
class DirectoryQueue : public QueueLock {
 public:
  explicit DirectoryQueue(Handle directory) : directory_(std::move(directory)) {}
  ~DirectoryQueue() override { Leave(); }

  const Handle& directory() const override { return directory_; }

  bool IsHead() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return head_;
  }

  QueueOutcome Enter() override {
    if (IsHead()) return QueueOutcome::kHead;
    const bool others_are_before = IsMarkedWaiting(directory_);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      MarkWaiting(directory_);
      marked_ = true;
    }
    if (others_are_before) StandBack();
    if (Resume([&] { return ::flock(Descriptor(directory_), LOCK_EX); }) != 0) {
      Leave();
      return QueueOutcome::kUnavailable;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    // Abandoned meanwhile; but by now somebody may need the place again.
    if (!marked_) MarkWaiting(directory_);
    marked_ = head_ = true;
    return QueueOutcome::kHead;
  }

  void AwaitGuard(const Handle& lockfile) override {
    // Fails only where nothing can be told, and then the next attempt says why.
    if (Resume([&] { return ::flock(Descriptor(lockfile), LOCK_EX); }) == 0) Unlock(lockfile);
  }

  bool IsLast() const override { return !IsMarkedWaiting(directory_); }

  void Leave() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (marked_) UnmarkWaiting(directory_);
    if (head_) Unlock(directory_);
    marked_ = head_ = false;
  }

  void Abandon() override { Leave(); }

 private:
  // Until one of those before us has the queue lock.
  void StandBack() const {
    const auto start = Clock::now();
    if (start.time_since_epoch().count() < no_more_until) return;
    Status status;
    while (IsMarkedWaiting(directory_)) {
      if (TryLock(directory_, LockMode::kExclusive, &status) != LockOutcome::kAcquired) return;
      Unlock(directory_);
      if (Clock::now() - start > kStandBack) {
        no_more_until = (Clock::now() + kNoMoreFor).time_since_epoch().count();
        return;
      }
      std::this_thread::sleep_for(kStandBackPause);
    }
  }

  const Handle directory_;
  mutable std::mutex mutex_;
  bool marked_ = false;
  bool head_ = false;
};

}  // namespace

bool IsSomebodyInLine(const Handle& directory) { return IsMarkedWaiting(directory); }

std::unique_ptr<QueueLock> QueueLock::Of(Handle directory) {
  return std::make_unique<DirectoryQueue>(std::move(directory));
}

}  // namespace bucketlock
