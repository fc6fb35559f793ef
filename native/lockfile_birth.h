// How a lockfile comes into being: written and locked in private, then published at once.

#ifndef BUCKETLOCK_LOCKFILE_BIRTH_H_
#define BUCKETLOCK_LOCKFILE_BIRTH_H_

#include <optional>
#include <string>

#include "bucket_spec.h"
#include "platform/file.h"
#include "platform/handle.h"
#include "status.h"

namespace bucketlock {

enum class CreateOutcome {
  // It is the lockfile now, and ours: `file` carries its guard.
  kPublished,
  // Somebody was faster.
  kExists,
  // The directory is gone.
  kVanished,
  kFailed,
};

struct NewLockfile {
  Handle file;
  std::string token;
  // kFailed only.
  Status status;
  std::string file_system;
};

// A lockfile without a name whose guard is ours already.
struct PreparedLockfile {
  Handle directory;
  PrivateFile file;
  std::string token;
  std::string file_system;
};

// Nothing where the file system has no files without a name; then there is no need to say why.
std::optional<PreparedLockfile> PrepareLockfile(const BucketSpec& spec);

// True: it is the lockfile now, and ours; `made` has it. Otherwise nothing is left behind: somebody
// has the lock, or the bucket is another directory by now.
bool PublishPrepared(const BucketSpec& spec, PreparedLockfile prepared, Handle* directory,
                     NewLockfile* made);

// On any outcome but kPublished nothing is left behind. `after_crash`: a dead lockfile has just
// been removed, so private files of its owner are looked for.
CreateOutcome CreateLockfile(const Handle& directory, const BucketSpec& spec, bool after_crash,
                             NewLockfile* made);

}  // namespace bucketlock

#endif  // BUCKETLOCK_LOCKFILE_BIRTH_H_
