// What process.cc asks of the system at hand.

#ifndef BUCKETLOCK_POSIX_PROCESS_DETAILS_H_
#define BUCKETLOCK_POSIX_PROCESS_DETAILS_H_

#include <cstdint>
#include <string>

namespace bucketlock {

// "<PID namespace>:<start time>", or empty where the system does not tell.
std::string StartOf(std::uint32_t pid);

// The first half of what StartOf answered.
std::string PidNamespaceOf(const std::string& start);

std::string BootId();

// False only for what is provably no living process: a zombie without another living thread, or
// the id of a thread.
bool IsRunningProcess(std::uint32_t pid);

}  // namespace bucketlock

#endif  // BUCKETLOCK_POSIX_PROCESS_DETAILS_H_
