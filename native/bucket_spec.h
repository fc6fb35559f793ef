// What a caller asks of a bucket lock, checked and complete.

#ifndef BUCKETLOCK_BUCKET_SPEC_H_
#define BUCKETLOCK_BUCKET_SPEC_H_

#include <optional>
#include <string>

#include "owner_record.h"

namespace bucketlock {

struct BucketSpec {
  // Absolute.
  std::string directory;
  // The lockfile's mode, past the umask.
  unsigned mode = 0600;
  // Make a missing bucket directory.
  bool create = true;
  RecordFormat format = RecordFormat::kFull;
  // The user vouches for the kernel locks of this file system.
  bool trusted = false;
  std::optional<std::string> label;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_BUCKET_SPEC_H_
