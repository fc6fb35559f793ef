// What the POSIX files share.

#ifndef BUCKETLOCK_POSIX_POSIX_UTIL_H_
#define BUCKETLOCK_POSIX_POSIX_UTIL_H_

#include <cerrno>
#include <cstdint>

#include "platform/file.h"
#include "platform/handle.h"

struct stat;
struct timespec;

namespace bucketlock {

inline int Descriptor(const Handle& handle) { return static_cast<int>(handle.get()); }

// Repeats a system call for as long as a signal interrupts it.
template <typename Call>
auto Resume(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

// The failure of a call on an open file. FUSE and NFS answer so for a file that somebody else has
// removed meanwhile, where a local file system would go on.
inline Status HandleFailure(int error, const char* operation) {
  return error == ENOENT || error == ESTALE ? Status::Vanished(error, operation)
                                            : Status::System(error, operation);
}

// A file's time in nanoseconds. Years that do not fit become the last or first that does.
std::int64_t NanosecondsFrom(const struct timespec& time);

FileIdentity IdentityFrom(const struct stat& info);

// Makes the file's mode exactly `mode`, past the umask.
Status SetMode(const Handle& file, unsigned mode);

}  // namespace bucketlock

#endif  // BUCKETLOCK_POSIX_POSIX_UTIL_H_
