// Processes as macOS shows them by sysctl(3).

#include <sys/random.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>

#include "platform/process.h"
#include "posix/posix_util.h"
#include "posix/process_details.h"

namespace bucketlock {
namespace {

// False: there is no such process, or it is not shown to us.
bool ReadProcess(std::uint32_t pid, struct kinfo_proc* process) {
  int query[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, static_cast<int>(pid)};
  std::size_t size = sizeof(*process);
  constexpr unsigned kParts = sizeof(query) / sizeof(query[0]);
  return ::sysctl(query, kParts, process, &size, /*newp=*/nullptr, /*newlen=*/0) == 0 &&
         size == sizeof(*process);
}

}  // namespace

std::string StartOf(std::uint32_t pid) {
  struct kinfo_proc process;
  if (!ReadProcess(pid, &process)) return std::string();
  const struct timeval& start = process.kp_proc.p_starttime;
  // There are no PID namespaces to tell apart.
  return ":" + std::to_string(start.tv_sec) + "." + std::to_string(start.tv_usec);
}

std::string PidNamespaceOf(const std::string& start) { return start.substr(0, start.find(':')); }

std::string BootId() {
  char uuid[64] = {};
  std::size_t size = sizeof(uuid) - 1;
  // Not kern.boottime, which moves whenever the clock is set.
  if (::sysctlbyname("kern.bootsessionuuid", uuid, &size, /*newp=*/nullptr, /*newlen=*/0) != 0) {
    return std::string();
  }
  return std::string(uuid);
}

bool IsRunningProcess(std::uint32_t pid) {
  struct kinfo_proc process;
  return !ReadProcess(pid, &process) || process.kp_proc.p_stat != SZOMB;
}

Status FillRandom(void* bytes, std::size_t count) {
  // getentropy gives at most 256 bytes a call.
  constexpr std::size_t kMost = 256;
  unsigned char* const out = static_cast<unsigned char*>(bytes);
  for (std::size_t done = 0; done < count;) {
    const std::size_t part = std::min(kMost, count - done);
    if (::getentropy(out + done, part) != 0) return Status::System(errno, "getentropy");
    done += part;
  }
  return Status::Ok();
}

}  // namespace bucketlock
