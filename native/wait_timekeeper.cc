// The wait queue's timekeeper: one thread for all lines that cannot look for themselves, because
// their worker blocks in the kernel, or because they have none.

#include <algorithm>
#include <utility>

#include "platform/thread.h"
#include "wait_line.h"
#include "wait_queue.h"

namespace bucketlock {
namespace {

using std::chrono::milliseconds;

// A line that has not moved for so long is tried out of turn: its head may be suspended.
constexpr milliseconds kFirstTry(20);
// And then so often, a little less each time, down to half as often,
constexpr milliseconds kNextTry(1000);
constexpr milliseconds kRarestTry(2000);
// or, where such an attempt has found the lock free, for so long so often.
constexpr milliseconds kEagerTry(50);
constexpr milliseconds kEager(2000);

// While the line moves it is looked at ever less often.
constexpr milliseconds kLongestLook(250);

// What lines without a worker add to each other's pauses, so that thousands of them do not keep a
// processor busy.
constexpr std::chrono::microseconds kPauseForEach(500);

// How often a timekeeper without work looks for some before it ends.
constexpr int kMostIdleLooks = 5;

}  // namespace

Status WaitQueue::Schedule(Line* line, Clock::time_point due) {
  Unschedule(line);
  if (!has_timekeeper_) {
    const Status status = StartThread(&WaitQueue::RunTimekeeper, this);
    if (!status.ok()) return status;
    has_timekeeper_ = true;
  }
  line->due = due;
  schedule_.emplace(due, line);
  if (due < timekeeper_wakes_) schedule_changed_.notify_one();
  return Status::Ok();
}

void WaitQueue::Unschedule(Line* line) {
  if (line->due.has_value()) schedule_.erase({*line->due, line});
  line->due.reset();
}

void WaitQueue::RunTimekeeper(void* raw_queue) {
  WaitQueue* const queue = static_cast<WaitQueue*>(raw_queue);
  Lock lock(queue->mutex_);
  queue->KeepTime(&lock);
}

void WaitQueue::KeepTime(Lock* lock) {
  for (int idle = 0;;) {
    const auto now = Clock::now();
    if (schedule_.empty() && ++idle > kMostIdleLooks) break;
    // Never longer than a line waits for its first look: lines that come and go need not wake us.
    timekeeper_wakes_ = now + kFirstTry;
    if (!schedule_.empty()) {
      idle = 0;
      timekeeper_wakes_ = schedule_.begin()->first;
    }
    if (timekeeper_wakes_ > now) {
      schedule_changed_.wait_until(*lock, timekeeper_wakes_);
      continue;
    }
    Line* const line = schedule_.begin()->second;
    Unschedule(line);
    // By whoever attempts it is looked after.
    if (line->attempting || line->waiting.empty()) continue;
    if (line->worker == nullptr) {
      Poll(lock, line);
    } else if (line->blocked) {
      Watch(lock, line);
    }
  }
  has_timekeeper_ = false;
}

void WaitQueue::BeginWatch(Line* line) {
  const auto now = Clock::now();
  line->try_from = now + kFirstTry;
  line->try_by = now + kNextTry;
  line->try_pause = kNextTry;
  line->look_pause = kFirstTry;
  Unschedule(line);
  KeepWatch(line);
}

void WaitQueue::KeepWatch(Line* line) {
  if (line->due.has_value()) return;
  // Without a timekeeper a line still moves as long as nobody is suspended.
  const Status ignored = Schedule(line, line->try_from);
  static_cast<void>(ignored);
}

bool WaitQueue::Moves(Lock* lock, Line* line) {
  const std::shared_ptr<Place> place = line->place;
  line->attempting = true;
  lock->unlock();
  const std::uint64_t signs_of_life = place->SignsOfLife();
  lock->lock();
  line->attempting = false;
  if (line->waiting.empty()) line->memory = LineMemory();
  line->changed.notify_all();
  return std::exchange(line->signs_of_life, signs_of_life) != signs_of_life;
}

void WaitQueue::Watch(Lock* lock, Line* line) {
  const auto now = Clock::now();
  bool is_time = now >= line->try_by;
  if (!is_time) {
    is_time = !Moves(lock, line) && now >= line->try_from;
    // Meanwhile its worker has come back, or everybody has left.
    if (!line->blocked || line->waiting.empty()) return;
  }
  // Never now where nothing was tried: that would bring us back at once, and the mutex with us.
  Clock::time_point look;
  if (is_time && HeadOf(*line) != nullptr) {
    if (Attempt(lock, line, /*place=*/nullptr) == Contender::Outcome::kGranted) {
      line->eager_until = now + kEager;
      line->try_pause = kNextTry;
    }
    line->try_by = now + line->try_pause;
    line->try_from = now + (now < line->eager_until ? kEagerTry : line->try_pause);
    line->try_pause = std::min(kRarestTry, line->try_pause + kNextTry / 10);
    line->look_pause = kFirstTry;
    if (line->waiting.empty() && line->blocked) line->place->Abandon();
    look = line->try_from;
  } else {
    line->look_pause = std::min(kLongestLook, 2 * line->look_pause);
    look = now + line->look_pause;
    if (!is_time) look = std::min(look, line->try_by);
  }
  if (line->waiting.empty() || !line->blocked) return;
  // There is a timekeeper: it is us.
  const Status ignored = Schedule(line, look);
  static_cast<void>(ignored);
}

void WaitQueue::Poll(Lock* lock, Line* line) {
  // Also where there is nobody to try for: a poke that stays would bring us back at once, for ever.
  line->poked = false;
  if (HeadOf(*line) != nullptr) {
    const Contender::Outcome outcome = Attempt(lock, line, /*place=*/nullptr);
    const bool settled =
        outcome == Contender::Outcome::kGranted || outcome == Contender::Outcome::kFailed;
    if (settled) line->pause.Reset();
  }
  if (line->worker != nullptr) return;
  if (line->waiting.empty()) {
    Forget(line);
    return;
  }
  const auto pause = line->pause.Next() + std::chrono::duration_cast<milliseconds>(
                                              kPauseForEach * static_cast<int>(unserved_.size()));
  const Status ignored = Schedule(line, line->poked ? Clock::now() : Clock::now() + pause);
  static_cast<void>(ignored);
}

}  // namespace bucketlock
