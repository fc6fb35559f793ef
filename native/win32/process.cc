#include "platform/process.h"

// bcrypt.h and winternl.h want the types of this one first.
#include <windows.h>
// In this order.
#include <bcrypt.h>
#include <winternl.h>

#include <algorithm>
#include <mutex>
#include <string>

#include "win32/win32_util.h"

namespace bucketlock {
namespace {

// What NtQuerySystemInformation answers for SystemTimeOfDayInformation. The SDK's own declaration
// keeps the fields to itself.
struct TimeOfDay {
  LARGE_INTEGER boot_time;
  LARGE_INTEGER current_time;
  LARGE_INTEGER time_zone_bias;
  ULONG time_zone_id;
  ULONG reserved;
  ULONGLONG boot_time_bias;
  ULONGLONG sleep_time_bias;
};
static_assert(sizeof(TimeOfDay) == 48, "as the system lays it out");

// When the system was started. The reported time moves whenever the clock is set, and its bias by
// as much, so the difference is one value for each boot. Waking from hibernation is none: there
// the processes live on, too.
std::string BootId() {
  TimeOfDay time = {};
  ULONG size = 0;
  const NTSTATUS status =
      ::NtQuerySystemInformation(SystemTimeOfDayInformation, &time, sizeof(time), &size);
  if (!NT_SUCCESS(status) || time.boot_time.QuadPart == 0) return std::string();
  return std::to_string(static_cast<std::uint64_t>(time.boot_time.QuadPart) - time.boot_time_bias);
}

std::string HostName() {
  wchar_t name[256];
  DWORD length = sizeof(name) / sizeof(name[0]);
  if (!::GetComputerNameExW(ComputerNamePhysicalDnsHostname, name, &length)) return std::string();
  return ToUtf8(std::wstring_view(name, length));
}

// The moment of its creation; empty where the system does not tell.
std::string StartOf(HANDLE process) {
  FILETIME created;
  FILETIME exited;
  FILETIME kernel;
  FILETIME user;
  if (!::GetProcessTimes(process, &created, &exited, &kernel, &user)) return std::string();
  return std::to_string(Ticks(created));
}

// Without the right to wait for it: alive, unless it says that it has ended. Who ends with 259
// (STILL_ACTIVE) is taken for alive, the safe side.
bool HasExitCode(HANDLE process) {
  DWORD code = STILL_ACTIVE;
  return ::GetExitCodeProcess(process, &code) && code != STILL_ACTIVE;
}

struct OpenedProcess {
  Handle handle;
  // No process has this PID.
  bool none = false;
  bool can_wait = false;
};

OpenedProcess OpenByPid(DWORD pid) {
  OpenedProcess opened;
  opened.handle = Own(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE,
                                    /*bInheritHandle=*/FALSE, pid));
  opened.can_wait = opened.handle.valid();
  if (opened.can_wait) return opened;
  const int error = LastError();
  opened.none = error == ERROR_INVALID_PARAMETER;
  if (error == ERROR_ACCESS_DENIED) {
    opened.handle =
        Own(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, /*bInheritHandle=*/FALSE, pid));
  }
  return opened;
}

}  // namespace

std::uint32_t CurrentPid() { return ::GetCurrentProcessId(); }

std::uint32_t MaxPid() { return 4294967295u; }

ProcessIdentity CurrentProcess() {
  // On the heap and never destroyed: our threads may outlive the destructors that exit() runs.
  static std::mutex* const mutex = new std::mutex;
  static ProcessIdentity* const cached = new ProcessIdentity;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (cached->pid == 0) {
    cached->pid = CurrentPid();
    cached->start = StartOf(::GetCurrentProcess());
    cached->boot = BootId();
    cached->host = HostName();
  }
  return *cached;
}

ProcessState ProbeProcess(const ProcessIdentity& recorded) {
  if (recorded.pid == 0) return ProcessState::kGone;
  const ProcessIdentity self = CurrentProcess();
  const bool full = !recorded.start.empty();
  const bool same_boot = recorded.boot.empty() || self.boot.empty() || recorded.boot == self.boot;
  // Another machine's process is none of ours to look for.
  if (full && !same_boot && recorded.host != self.host) return ProcessState::kUnknown;
  const OpenedProcess opened = OpenByPid(recorded.pid);
  if (opened.none) return ProcessState::kGone;
  // A refusal to look.
  if (!opened.handle.valid()) return ProcessState::kAlive;
  const HANDLE process = Raw(opened.handle);
  // PIDs are multiples of four, and OpenProcess rounds: then it is another process, not ours.
  if (::GetProcessId(process) != recorded.pid) return ProcessState::kGone;
  const bool ended = opened.can_wait
                         ? ::WaitForSingleObject(process, /*dwMilliseconds=*/0) == WAIT_OBJECT_0
                         : HasExitCode(process);
  if (ended) return ProcessState::kGone;
  if (!full) return ProcessState::kAlive;
  if (!same_boot) return ProcessState::kReused;
  const std::string start = StartOf(process);
  if (start.empty()) return ProcessState::kUnknown;
  return start == recorded.start ? ProcessState::kAlive : ProcessState::kReused;
}

Status FillRandom(void* bytes, std::size_t count) {
  unsigned char* at = static_cast<unsigned char*>(bytes);
  while (count > 0) {
    constexpr std::size_t kMost = 0x10000;
    const ULONG part = static_cast<ULONG>(std::min(count, kMost));
    const NTSTATUS status =
        ::BCryptGenRandom(/*hAlgorithm=*/nullptr, at, part, BCRYPT_USE_SYSTEM_PREFERRED_RNG);
    if (!NT_SUCCESS(status)) {
      return Status::System(static_cast<int>(::RtlNtStatusToDosError(status)), "BCryptGenRandom");
    }
    at += part;
    count -= part;
  }
  return Status::Ok();
}

}  // namespace bucketlock
