// Processes as Linux shows them in /proc; proc(5).
//
// /proc may be that of another PID namespace, where our numbers name strangers. It is believed only
// if /proc/self names our own PID.

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "platform/process.h"
#include "posix/directory_stream.h"
#include "posix/posix_util.h"
#include "posix/process_details.h"

namespace bucketlock {
namespace {

std::string ReadText(const std::string& path) {
  const Handle file(Resume([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  std::string text;
  if (!file.valid()) return text;
  constexpr std::size_t kEnough = 4096;
  const Status status = ReadPrefix(file, kEnough, &text);
  return status.ok() ? text : std::string();
}

std::string LinkTarget(const char* path) {
  char target[128];
  const ssize_t length = ::readlink(path, target, sizeof(target));
  return length < 0 ? std::string() : std::string(target, static_cast<std::size_t>(length));
}

bool ProcIsOurs() { return LinkTarget("/proc/self") == std::to_string(CurrentPid()); }

// Splits "pid (name) S 1 2 …" after the name, which may itself hold blanks and brackets. Empty
// where there is no such process.
std::string FieldsAfterName(const std::string& directory) {
  const std::string text = ReadText(directory + "/stat");
  const std::size_t end = text.rfind(')');
  return end == std::string::npos || end + 2 > text.size() ? std::string() : text.substr(end + 2);
}

bool IsDeadState(const std::string& fields) {
  return fields.empty() || fields[0] == 'Z' || fields[0] == 'X' || fields[0] == 'x';
}

bool HasLivingThread(const std::string& process) {
  const DirectoryStream tasks(::opendir((process + "/task").c_str()));
  if (tasks == nullptr) return false;
  while (const struct dirent* entry = ::readdir(tasks.get())) {
    if (entry->d_name[0] == '.') continue;
    if (!IsDeadState(FieldsAfterName(process + "/task/" + entry->d_name))) return true;
  }
  return false;
}

// The process a thread id belongs to; 0 where that cannot be read.
std::uint32_t ThreadGroupOf(const std::string& process) {
  const std::string text = ReadText(process + "/status");
  const char* const key = "\nTgid:";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return 0;
  return static_cast<std::uint32_t>(
      std::strtoul(text.c_str() + at + std::strlen(key), nullptr, /*base=*/10));
}

}  // namespace

std::string StartOf(std::uint32_t pid) {
  if (!ProcIsOurs()) return std::string();
  // As its first thread has it, which is the same. QEMU's user emulation invents what a process
  // reads of itself.
  const std::string number = std::to_string(pid);
  const std::string fields = FieldsAfterName("/proc/" + number + "/task/" + number);
  // Field 22 of the line is the start time, in clock ticks since boot; the first here is field 3.
  constexpr int kStartTime = 22 - 3;
  std::size_t at = 0;
  for (int field = 0; field < kStartTime; ++field) {
    at = fields.find(' ', at);
    if (at == std::string::npos) return std::string();
    ++at;
  }
  const std::size_t end = fields.find(' ', at);
  const std::string ticks = fields.substr(at, end == std::string::npos ? end : end - at);
  if (ticks.empty()) return std::string();
  // "pid:[4026531836]". Where /proc is ours, a visible process has been counted in our namespace.
  const std::string target = LinkTarget("/proc/self/ns/pid");
  const std::size_t open = target.find('[');
  const std::size_t close = target.find(']');
  const std::string name_space = open == std::string::npos || close == std::string::npos
                                     ? std::string()
                                     : target.substr(open + 1, close - open - 1);
  return name_space + ":" + ticks;
}

std::string PidNamespaceOf(const std::string& start) { return start.substr(0, start.find(':')); }

std::string BootId() {
  std::string text = ReadText("/proc/sys/kernel/random/boot_id");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool IsRunningProcess(std::uint32_t pid) {
  if (!ProcIsOurs()) return true;
  const std::string process = "/proc/" + std::to_string(pid);
  const std::uint32_t group = ThreadGroupOf(process);
  if (group != 0 && group != pid) return false;
  const std::string fields = FieldsAfterName(process);
  // Nothing to read: hidden from us (hidepid), so it is not known to be dead.
  if (fields.empty() || !IsDeadState(fields)) return true;
  return HasLivingThread(process);
}

Status FillRandom(void* bytes, std::size_t count) {
  unsigned char* const out = static_cast<unsigned char*>(bytes);
  std::size_t done = 0;
  while (done < count) {
    // Through syscall(2): the wrapper came with glibc 2.25 only.
    const long result =
        Resume([&] { return ::syscall(SYS_getrandom, out + done, count - done, 0); });
    if (result < 0) return Status::System(errno, "getrandom");
    done += static_cast<std::size_t>(result);
  }
  return Status::Ok();
}

}  // namespace bucketlock
