#include "bucket_contender.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "platform/process.h"
#include "wait_queue.h"

namespace bucketlock {
namespace {

// A first pause a few times the length of a short critical section, and a longest one that a person
// does not notice.
constexpr std::chrono::milliseconds kFirstPause(5);
constexpr std::chrono::milliseconds kLongestPause(100);

unsigned Seed() {
  unsigned seed = CurrentPid();
  // Only spreads the waiters of several processes: where there is no randomness the PID must do.
  const Status ignored = FillRandom(&seed, sizeof(seed));
  static_cast<void>(ignored);
  return seed;
}

}  // namespace

BucketContender::BucketContender(BucketSpec spec, bool attempted)
    : spec_(std::move(spec)), pause_(kFirstPause), jitter_(Seed()) {
  memory_.seen_directory = attempted;
  // Whoever never came to the head of the line was busy all the time.
  last_busy_.kind = ResultKind::kBusy;
}

Contender::Outcome BucketContender::Attempt() {
  const std::optional<LockReport> reclaimed_before = std::move(result_.reclaimed);
  result_ = AttemptAcquire(spec_, &memory_);
  // What the whole request removed, for whoever asks what came of it.
  if (!result_.reclaimed.has_value()) result_.reclaimed = reclaimed_before;
  switch (result_.kind) {
    case ResultKind::kAcquired:
      return Outcome::kGranted;
    case ResultKind::kBusy: {
      const std::lock_guard<std::mutex> lock(last_busy_mutex_);
      last_busy_ = result_;
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
  const std::lock_guard<std::mutex> lock(last_busy_mutex_);
  return last_busy_;
}

void BucketContender::Block(Interruption* interruption) {
  // Between half and the whole of the pause, so that waiters who met do not meet again.
  const int longest = static_cast<int>(pause_.count());
  std::uniform_int_distribution<int> spread((longest + 1) / 2, longest);
  interruption->SleepFor(std::chrono::milliseconds(spread(jitter_)));
  pause_ = std::min(kLongestPause, pause_ + pause_ / 2);
}

HoldResult ReleaseAndPoke(HeldLockfile* held) {
  const HoldResult result = held->Release();
  if (IsOver(result)) WaitQueue::OfProcess().Poke(held->directory_path());
  return result;
}

}  // namespace bucketlock
