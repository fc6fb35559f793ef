#include "bucket_contender.h"

#include <optional>
#include <utility>

#include "bucket_place.h"
#include "wait_queue.h"

namespace bucketlock {
namespace {

bool IsLineHere(const Handle&) { return true; }

}  // namespace

BucketContender::BucketContender(BucketSpec spec, bool attempted) : spec_(std::move(spec)) {
  memory_.seen_directory = attempted;
}

std::shared_ptr<Place> BucketContender::TakePlace() { return BucketPlace::In(spec_.directory); }

Contender::Outcome BucketContender::Attempt(Place* place, LineMemory* memory) {
  if (place != nullptr || memory->was_there) memory_.seen_directory = true;
  const std::optional<LockReport> reclaimed_before = std::move(result_.reclaimed);
  AttemptManner manner;
  manner.will_await_guard = true;
  manner.prepares = place != nullptr;
  result_ = AttemptAcquire(spec_, &memory_, manner);
  memory->was_there = memory_.seen_directory;
  // What the whole request removed, for whoever asks what came of it.
  if (!result_.reclaimed.has_value()) result_.reclaimed = reclaimed_before;
  switch (result_.kind) {
    case ResultKind::kAcquired:
      return Outcome::kGranted;
    case ResultKind::kBusy: {
      Handle guarded = std::move(result_.guarded);
      {
        const std::lock_guard<std::mutex> lock(last_busy_mutex_);
        last_busy_report_ = result_.report;
        reclaimed_ = result_.reclaimed;
      }
      if (place == nullptr || !guarded.valid()) return Outcome::kBusyUntold;
      static_cast<BucketPlace*>(place)->AwaitGuardOf(std::move(guarded));
      return Outcome::kBusy;
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

AttemptResult AttemptOnce(const BucketSpec& spec, Turn turn) {
  AttemptMemory memory;
  AttemptManner manner;
  if (turn != Turn::kAny) manner.is_somebody_waiting = &IsLineIn;
  if (turn == Turn::kLast && WaitQueue::OfProcess().IsSomebodyIn(spec.directory)) {
    manner.is_somebody_waiting = &IsLineHere;
  }
  return AttemptAcquire(spec, &memory, manner);
}

HoldResult ReleaseAndPoke(HeldLockfile* held) {
  const HoldResult result = held->Release();
  if (IsOver(result)) WaitQueue::OfProcess().Poke(held->directory_path());
  return result;
}

}  // namespace bucketlock
