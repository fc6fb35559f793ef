#include "held_lockfile.h"

#include <utility>

#include "platform/kernel_lock.h"
#include "platform/process.h"

namespace bucketlock {
namespace {

HoldResult Failed(const Status& status) {
  HoldResult result;
  result.outcome = HoldOutcome::kFailed;
  result.status = status;
  return result;
}

HoldResult Lost(LostReason reason) {
  HoldResult result;
  result.outcome = HoldOutcome::kLost;
  result.lost = reason;
  return result;
}

HoldResult Ours() {
  HoldResult result;
  result.outcome = HoldOutcome::kOurs;
  return result;
}

}  // namespace

HeldLockfile::HeldLockfile(std::string directory_path, Handle directory, Handle file)
    : directory_path_(std::move(directory_path)),
      owner_(CurrentPid()),
      directory_(std::move(directory)),
      file_(std::move(file)) {}

HeldLockfile::~HeldLockfile() {
  if (!IsOver(Release())) Abandon();
}

HoldResult HeldLockfile::Check() {
  if (CurrentPid() != owner_) return Lost(LostReason::kOtherProcess);
  FileIdentity ours;
  const Status status = IdentityOf(file_, &ours);
  if (status.code == StatusCode::kVanished) return Lost(LostReason::kRemoved);
  if (!status.ok()) return Failed(status);
  FileIdentity named;
  Status name_status;
  switch (IdentityOfName(directory_, kLockfileName, &named, &name_status)) {
    case NameOutcome::kFound:
      return named == ours ? Ours() : Lost(LostReason::kReplaced);
    case NameOutcome::kAbsent:
      return Lost(LostReason::kRemoved);
    case NameOutcome::kFailed:
      break;
  }
  return Failed(name_status);
}

HoldResult HeldLockfile::Verify() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return finished_ ? final_ : Check();
}

HoldResult HeldLockfile::Release() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (finished_) return final_;
  HoldResult result = Check();
  if (result.outcome == HoldOutcome::kOurs) {
    // Between the comparison and here the name cannot change hands: who would take it needs our
    // guard. (Where guards exclude nobody, a breaker can; that is documented.)
    Status status;
    switch (RemoveName(directory_, kLockfileName, file_, &status)) {
      case RemoveOutcome::kRemoved:
        break;
      case RemoveOutcome::kAbsent:
        result = Lost(LostReason::kRemoved);
        break;
      case RemoveOutcome::kBusy:
        result = Failed(status);
        result.outcome = HoldOutcome::kBlocked;
        break;
      case RemoveOutcome::kFailed:
        result = Failed(status);
        break;
    }
  }
  if (!IsOver(result)) return result;
  LetGo(result);
  return result;
}

void HeldLockfile::Abandon() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!finished_) LetGo(Lost(LostReason::kRemoved));
}

void HeldLockfile::LetGo(const HoldResult& result) {
  // In a forked child an unlock would take the lock from the parent: both share the open file.
  if (CurrentPid() == owner_) Unlock(file_);
  file_.Close();
  directory_.Close();
  finished_ = true;
  final_ = result;
}

}  // namespace bucketlock
