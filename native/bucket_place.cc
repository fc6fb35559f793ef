#include "bucket_place.h"

#include <utility>

#include "judgement.h"
#include "platform/file.h"

namespace bucketlock {
namespace {

bool IsLocal(const Handle& directory) {
  std::string file_system;
  return FileSystemOf(directory, &file_system).ok() && IsAllowListed(file_system);
}

}  // namespace

std::shared_ptr<BucketPlace> BucketPlace::In(const std::string& path) {
  Handle directory;
  Status status;
  if (OpenDirectory(path, DirectoryUse::kQueue, &directory, &status) != DirectoryOutcome::kOpened ||
      !IsLocal(directory)) {
    return nullptr;
  }
  std::unique_ptr<QueueLock> queue = QueueLock::Of(std::move(directory));
  return queue == nullptr ? nullptr : std::make_shared<BucketPlace>(std::move(queue));
}

BucketPlace::BucketPlace(std::unique_ptr<QueueLock> queue) : queue_(std::move(queue)) {}

void BucketPlace::AwaitGuardOf(Handle lockfile) { lockfile_ = std::move(lockfile); }

bool BucketPlace::Block() {
  released_.Close();
  // Not the head, or no longer: then that comes first, and another lockfile may be there by then.
  if (!queue_->IsHead()) {
    lockfile_.Close();
    return queue_->Enter() != QueueOutcome::kUnavailable;
  }
  if (lockfile_.valid()) queue_->AwaitGuard(lockfile_);
  released_ = std::move(lockfile_);
  return true;
}

void BucketPlace::Leave() {
  queue_->Leave();
  lockfile_.Close();
  released_.Close();
}

void BucketPlace::Abandon() { queue_->Abandon(); }

bool BucketPlace::IsLast() const { return queue_->IsLast(); }

std::uint64_t BucketPlace::SignsOfLife() {
  // A lockfile that comes or goes changes its directory.
  FileTimes times;
  const Status status = TimesOf(queue_->directory(), &times);
  return status.ok() ? static_cast<std::uint64_t>(times.modified_ns) : 0;
}

bool IsLineIn(const Handle& directory) { return IsLocal(directory) && IsSomebodyInLine(directory); }

}  // namespace bucketlock
