#include "platform/queue_lock.h"

#include <windows.h>
// After it.
#include <sddl.h>

#include <cstdint>
#include <string>
#include <utility>

#include "platform/file.h"
#include "win32/guard_wait.h"
#include "win32/win32_util.h"

namespace bucketlock {
namespace {

// To wait and to release. Asking for all rights would be refused on another user's mutex.
constexpr DWORD kToQueue = SYNCHRONIZE | MUTEX_MODIFY_STATE;

void AppendHex(std::uint64_t value, int digits, std::wstring* text) {
  static constexpr wchar_t kHex[] = L"0123456789abcdef";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text->push_back(kHex[(value >> shift) & 15]);
  }
}

// Empty where the directory does not say what it is. One name for all sessions, which takes no
// privilege; where it is refused there is no line, for a second one would have a head of its own.
std::wstring MutexName(const Handle& directory) {
  FileIdentity identity;
  if (!IdentityOfDirectory(directory, &identity).ok()) return std::wstring();
  std::wstring name = L"Global\\bucketlock-";
  AppendHex(identity.volume, /*digits=*/16, &name);
  name.push_back(L'-');
  for (const std::uint8_t byte : identity.file) AppendHex(byte, /*digits=*/2, &name);
  return name;
}

// Open to everybody, because buckets can be: by default no other user could wait for it.
Handle MakeMutex(const std::wstring& name) {
  static_assert(kToQueue == 0x100001, "what the descriptor grants");
  SECURITY_ATTRIBUTES attributes = {};
  attributes.nLength = sizeof(attributes);
  if (!::ConvertStringSecurityDescriptorToSecurityDescriptorW(
          L"D:(A;;0x100001;;;WD)", SDDL_REVISION_1, &attributes.lpSecurityDescriptor,
          /*SecurityDescriptorSize=*/nullptr)) {
    return Handle();
  }
  Handle mutex = Own(::CreateMutexExW(&attributes, name.c_str(), /*dwFlags=*/0, kToQueue));
  static_cast<void>(::LocalFree(attributes.lpSecurityDescriptor));
  return mutex;
}

// Windows lets the thread that owns a mutex release it, and no other. So Abandon() only wakes the
// thread of the line, which leaves.
class DirectoryQueue : public QueueLock {
 public:
  DirectoryQueue(Handle directory, Handle mutex, Handle abandoned)
      : directory_(std::move(directory)),
        mutex_(std::move(mutex)),
        abandoned_(std::move(abandoned)) {}
  ~DirectoryQueue() override { Leave(); }

  const Handle& directory() const override { return directory_; }

  bool IsHead() const override { return head_; }

  QueueOutcome Enter() override {
    if (head_) return QueueOutcome::kHead;
    // Of several that are set, the first one counts.
    const HANDLE objects[] = {Raw(abandoned_), Raw(mutex_)};
    switch (::WaitForMultipleObjects(2, objects, /*bWaitAll=*/FALSE, INFINITE)) {
      case WAIT_OBJECT_0:
        return QueueOutcome::kAbandoned;
      case WAIT_OBJECT_0 + 1:
      // The head before us died. It is the lockfile that tells what it left behind.
      case WAIT_ABANDONED_0 + 1:
        head_ = true;
        return QueueOutcome::kHead;
      default:
        return QueueOutcome::kUnavailable;
    }
  }

  void AwaitGuard(const Handle& lockfile) override {
    if (!WaitForGuard(lockfile, abandoned_)) Leave();
  }

  // A named mutex does not say who waits for it.
  bool IsLast() const override { return false; }

  void Leave() override {
    if (head_) static_cast<void>(::ReleaseMutex(Raw(mutex_)));
    head_ = false;
  }

  void Abandon() override { static_cast<void>(::SetEvent(Raw(abandoned_))); }

 private:
  const Handle directory_;
  const Handle mutex_;
  // Reset by the wait that it ends.
  const Handle abandoned_;
  bool head_ = false;
};

}  // namespace

bool IsSomebodyInLine(const Handle& directory) {
  const std::wstring name = MutexName(directory);
  if (name.empty()) return false;
  const Handle mutex = Own(::OpenMutexW(kToQueue, /*bInheritHandle=*/FALSE, name.c_str()));
  if (!mutex.valid()) return false;
  switch (::WaitForSingleObject(Raw(mutex), /*dwMilliseconds=*/0)) {
    case WAIT_OBJECT_0:
    case WAIT_ABANDONED:
      static_cast<void>(::ReleaseMutex(Raw(mutex)));
      return false;
    case WAIT_TIMEOUT:
      return true;
    default:
      return false;
  }
}

std::unique_ptr<QueueLock> QueueLock::Of(Handle directory) {
  const std::wstring name = MutexName(directory);
  Handle mutex = name.empty() ? Handle() : MakeMutex(name);
  Handle abandoned = Own(::CreateEventW(/*lpEventAttributes=*/nullptr, /*bManualReset=*/FALSE,
                                        /*bInitialState=*/FALSE, /*lpName=*/nullptr));
  if (!mutex.valid() || !abandoned.valid()) return nullptr;
  return std::make_unique<DirectoryQueue>(std::move(directory), std::move(mutex),
                                          std::move(abandoned));
}

}  // namespace bucketlock
