// How a private file that has a name is published; what file.cc asks of the system at hand for it.

#ifndef BUCKETLOCK_POSIX_PUBLISH_H_
#define BUCKETLOCK_POSIX_PUBLISH_H_

#include <string>

#include "platform/file.h"

namespace bucketlock {

// As a system call answers: -1 and errno, if it fails.
int RenameNoReplace(int directory, const char* from, const char* to);

// The file system does not know this way of publishing.
bool MeansUnsupported(int error);

PublishOutcome FromPublishError(int error, const char* operation, Status* status);

// As Publish().
PublishOutcome PublishNamed(const Handle& directory, const PrivateFile& file,
                            const std::string& name, Status* status);

}  // namespace bucketlock

#endif  // BUCKETLOCK_POSIX_PUBLISH_H_
