#include "private_files.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clock.h"
#include "held_lockfile.h"
#include "judgement.h"
#include "lockfile_view.h"
#include "platform/file.h"
#include "platform/kernel_lock.h"
#include "platform/process.h"

namespace bucketlock {
namespace {

constexpr std::size_t kTokenBytes = 16;

// Where guards cannot be relied on, a private file must be older than any creator is slow.
constexpr std::chrono::minutes kAbandonedAge(10);

bool IsPrivateName(const std::string& name) {
  const std::string prefix = PrivateName(std::string());
  return name.size() == prefix.size() + 2 * kTokenBytes &&
         name.compare(0, prefix.size(), prefix) == 0 &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string::npos;
}

bool IsAbandoned(const Handle& file, bool trusted) {
  if (trusted) return true;
  std::string file_system;
  if (!FileSystemOf(file, &file_system).ok()) return false;
  if (IsAllowListed(file_system)) return true;
  FileTimes times;
  if (!TimesOf(file, &times).ok()) return false;
  constexpr std::int64_t kNanosecondsPerMs = 1000000;
  return NowMs() - times.modified_ns / kNanosecondsPerMs >
         std::chrono::milliseconds(kAbandonedAge).count();
}

void SweepOne(const Handle& directory, const std::string& name, bool trusted) {
  Handle file;
  Status status;
  if (OpenExisting(directory, name, &file, &status) != OpenOutcome::kOpened) return;
  if (TryLock(file, LockMode::kExclusive, &status) != LockOutcome::kAcquired) return;
  if (SameFile(directory, name, file, &status) == SameOutcome::kSame &&
      IsAbandoned(file, trusted)) {
    // What cannot be removed now is met again by a later sweep.
    static_cast<void>(RemoveName(directory, name, file, &status));
  }
  Unlock(file);
}

}  // namespace

std::string PrivateName(const std::string& token) {
  return std::string(kLockfileName) + '.' + token;
}

Status MakeToken(std::string* token) {
  static constexpr char kHex[] = "0123456789abcdef";
  unsigned char random[kTokenBytes];
  const Status status = FillRandom(random, sizeof(random));
  token->clear();
  for (const unsigned char byte : random) {
    token->push_back(kHex[byte >> 4]);
    token->push_back(kHex[byte & 15]);
  }
  return status;
}

void SweepPrivateFiles(const Handle& directory, bool trusted) {
  std::vector<std::string> names;
  const Status listed = ListNames(directory, PrivateName(std::string()), &names);
  // A directory that may not be listed is not swept; acquiring does not depend on it.
  if (!listed.ok()) return;
  for (const std::string& name : names) {
    if (IsPrivateName(name)) SweepOne(directory, name, trusted);
  }
}

}  // namespace bucketlock
