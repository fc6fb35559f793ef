// Who we are, and whether somebody else still is.

#ifndef BUCKETLOCK_PLATFORM_PROCESS_H_
#define BUCKETLOCK_PLATFORM_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "status.h"

namespace bucketlock {

// A process, told apart from every other that has or had its PID. Fields the system does not tell
// are empty.
struct ProcessIdentity {
  std::uint32_t pid = 0;
  // Opaque: PID namespace and start time. Compared, never computed with.
  std::string start;
  // One value for each boot of the kernel.
  std::string boot;
  std::string host;
};

enum class ProcessState {
  kAlive,
  // Provably gone: no such process, a zombie without a living thread, or a thread's id.
  kGone,
  // The PID is in use, by another process than the recorded one.
  kReused,
  kUnknown,
};

// The PID alone, for checks that must be cheap.
std::uint32_t CurrentPid();

// This process. Read once for each PID, so that a forked child does not claim to be its parent.
ProcessIdentity CurrentProcess();

// The state of a recorded process. Where `start` is empty only the PID is known, and kReused is
// never answered. A refusal to look counts as alive.
ProcessState ProbeProcess(const ProcessIdentity& recorded);

// The largest PID this system can have.
std::uint32_t MaxPid();

Status FillRandom(void* bytes, std::size_t count);

}  // namespace bucketlock

#endif  // BUCKETLOCK_PLATFORM_PROCESS_H_
