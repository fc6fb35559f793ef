#include "platform/queue_lock.h"

#include <sys/file.h>

#include <mutex>
#include <utility>

#include "platform/kernel_lock.h"
#include "posix/posix_util.h"

namespace bucketlock {
namespace {

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
    if (Resume([&] { return ::flock(Descriptor(directory_), LOCK_EX); }) != 0) {
      return QueueOutcome::kUnavailable;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    head_ = true;
    return QueueOutcome::kHead;
  }

  void AwaitGuard(const Handle& lockfile) override {
    // Fails only where nothing can be told, and then the next attempt says why.
    if (Resume([&] { return ::flock(Descriptor(lockfile), LOCK_EX); }) == 0) Unlock(lockfile);
  }

  void Leave() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (head_) Unlock(directory_);
    head_ = false;
  }

  void Abandon() override { Leave(); }

 private:
  const Handle directory_;
  mutable std::mutex mutex_;
  bool head_ = false;
};

}  // namespace

bool IsSomebodyInLine(const Handle& directory) {
  // Shared, so that those who only ask do not look like a line to each other.
  Status status;
  const LockOutcome outcome = TryLock(directory, LockMode::kShared, &status);
  if (outcome == LockOutcome::kAcquired) Unlock(directory);
  return outcome == LockOutcome::kHeld;
}

std::unique_ptr<QueueLock> QueueLock::Of(Handle directory) {
  return std::make_unique<DirectoryQueue>(std::move(directory));
}

}  // namespace bucketlock
