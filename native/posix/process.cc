#include "platform/process.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string>

#include "posix/process_details.h"

namespace bucketlock {
namespace {

std::string HostName() {
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0) return std::string();
  return std::string(name);
}

}  // namespace

std::uint32_t CurrentPid() { return static_cast<std::uint32_t>(::getpid()); }

std::uint32_t MaxPid() { return 2147483647; }

ProcessIdentity CurrentProcess() {
  // On the heap and never destroyed: our threads may outlive the destructors that exit() runs.
  static std::mutex* const mutex = new std::mutex;
  static ProcessIdentity* const cached = new ProcessIdentity;
  const std::lock_guard<std::mutex> lock(*mutex);
  const std::uint32_t pid = CurrentPid();
  if (cached->pid != pid) {
    cached->pid = pid;
    cached->start = StartOf(pid);
    cached->boot = BootId();
    cached->host = HostName();
  }
  return *cached;
}

ProcessState ProbeProcess(const ProcessIdentity& recorded) {
  if (recorded.pid == 0 || recorded.pid > MaxPid()) return ProcessState::kGone;
  const ProcessIdentity self = CurrentProcess();
  const bool full = !recorded.start.empty();
  const bool same_boot = recorded.boot.empty() || self.boot.empty() || recorded.boot == self.boot;
  if (full) {
    // Another machine's process is none of ours to look for. A container has a host name of its
    // own, but shares the boot.
    if (!same_boot && recorded.host != self.host) return ProcessState::kUnknown;
    // In another PID namespace the number means another process, or none.
    if (same_boot && PidNamespaceOf(recorded.start) != PidNamespaceOf(self.start)) {
      return ProcessState::kUnknown;
    }
  }
  // EPERM is a process of another user's: alive.
  if (::kill(static_cast<pid_t>(recorded.pid), 0) != 0 && errno == ESRCH) {
    return ProcessState::kGone;
  }
  if (!IsRunningProcess(recorded.pid)) return ProcessState::kGone;
  if (!full) return ProcessState::kAlive;
  if (!same_boot) return ProcessState::kReused;
  const std::string start = StartOf(recorded.pid);
  if (start.empty()) return ProcessState::kUnknown;
  return start == recorded.start ? ProcessState::kAlive : ProcessState::kReused;
}

}  // namespace bucketlock
