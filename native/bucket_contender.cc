#include "bucket_contender.h"

#include <optional>
#include <utility>

#include "bucket_place.h"
#include "wait_queue.h"

namespace bucketlock {
namespace {

bool IsSomebodyWaiting(const Handle& directory) {
  WaitQueue& queue = WaitQueue::OfProcess();
  FileIdentity identity;
  if (!queue.IsIdle() && IdentityOf(directory, &identity).ok() &&
      queue.IsSomebodyIn(LineOf(identity))) {
    return true;
  }
  return IsLineIn(directory);
}

}  // namespace

BucketContender::BucketContender(BucketSpec spec, bool attempted) : spec_(std::move(spec)) {
  memory_.seen_directory = attempted;
}

std::shared_ptr<Place> BucketContender::TakePlace() { return BucketPlace::In(spec_.directory); }

Contender::Outcome BucketContender::Attempt(Place* place) {
  const std::optional<LockReport> reclaimed_before = std::move(result_.reclaimed);
  AttemptManner manner;
  manner.will_await_guard = place != nullptr;
  result_ = AttemptAcquire(spec_, &memory_, manner);
  // What the whole request removed, for whoever asks what came of it.
  if (!result_.reclaimed.has_value()) result_.reclaimed = reclaimed_before;
  switch (result_.kind) {
    case ResultKind::kAcquired:
      return Outcome::kGranted;
    case ResultKind::kBusy: {
      const bool is_guarded = result_.guarded.valid();
      if (is_guarded) {
        static_cast<BucketPlace*>(place)->AwaitGuardOf(std::move(result_.guarded));
      }
      const std::lock_guard<std::mutex> lock(last_busy_mutex_);
      // Of a guard that is to be awaited nothing more has been found out.
      if (!is_guarded) last_busy_report_ = result_.report;
      reclaimed_ = result_.reclaimed;
      return is_guarded ? Outcome::kBusy : Outcome::kBusyUntold;
    }
    case ResultKind::kInvalid:
    case ResultKind::kUnsupported:
    case ResultKind::kFailed:
      break;
  }
  return Outcome::kFailed;
}

AttemptResult BucketContender::LastBusy() const {
  AttemptResult result;
  const std::lock_guard<std::mutex> lock(last_busy_mutex_);
  result.kind = ResultKind::kBusy;
  result.report = last_busy_report_;
  result.reclaimed = reclaimed_;
  return result;
}

AttemptResult AttemptOnce(const BucketSpec& spec, bool in_turn) {
  AttemptMemory memory;
  AttemptManner manner;
  if (in_turn) manner.is_somebody_waiting = &IsSomebodyWaiting;
  return AttemptAcquire(spec, &memory, manner);
}

std::string LineOf(const FileIdentity& directory) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string name = std::to_string(directory.volume) + ':';
  for (const std::uint8_t byte : directory.file) {
    name.push_back(kHex[byte >> 4]);
    name.push_back(kHex[byte & 15]);
  }
  return name;
}

HoldResult ReleaseAndPoke(HeldLockfile* held) {
  WaitQueue& queue = WaitQueue::OfProcess();
  FileIdentity directory;
  // Asked for before the release: afterwards it is closed.
  const bool is_awaited = !queue.IsIdle() && held->IdentityOfDirectory(&directory);
  const HoldResult result = held->Release();
  if (is_awaited && IsOver(result)) {
    queue.Poke(LineOf(directory));
    // Those who have not yet seen the directory wait for its path.
    queue.Poke(held->directory_path());
  }
  return result;
}

}  // namespace bucketlock
