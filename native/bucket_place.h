// This process's place in the line for a bucket lock.

#ifndef BUCKETLOCK_BUCKET_PLACE_H_
#define BUCKETLOCK_BUCKET_PLACE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "contender.h"
#include "platform/handle.h"
#include "platform/queue_lock.h"

namespace bucketlock {

class BucketPlace : public Place {
 public:
  // Null where there is no line: off the allow-list nothing may block in the kernel, and a
  // directory that may not be read cannot be locked.
  static std::shared_ptr<BucketPlace> In(const std::string& directory);

  explicit BucketPlace(std::unique_ptr<QueueLock> queue);

  // What the next Block() of the head waits for: an open lockfile whose guard is held.
  void AwaitGuardOf(Handle lockfile);

  bool Block() override;
  void Leave() override;
  void Abandon() override;
  bool IsLast() const override;
  std::uint64_t SignsOfLife() override;

 private:
  const std::unique_ptr<QueueLock> queue_;
  Handle lockfile_;
  // The one before. To close a file that has no name any more is work for the file system, so it is
  // put off until nobody waits for us.
  Handle released_;
};

// Whether another process stands in line for this open directory.
bool IsLineIn(const Handle& directory);

}  // namespace bucketlock

#endif  // BUCKETLOCK_BUCKET_PLACE_H_
