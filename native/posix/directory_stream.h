// A stream of directory entries that is closed with its owner.

#ifndef BUCKETLOCK_POSIX_DIRECTORY_STREAM_H_
#define BUCKETLOCK_POSIX_DIRECTORY_STREAM_H_

#include <dirent.h>

#include <memory>

namespace bucketlock {

struct DirectoryCloser {
  void operator()(DIR* stream) const { static_cast<void>(::closedir(stream)); }
};

// Null where it could not be opened.
using DirectoryStream = std::unique_ptr<DIR, DirectoryCloser>;

}  // namespace bucketlock

#endif  // BUCKETLOCK_POSIX_DIRECTORY_STREAM_H_
