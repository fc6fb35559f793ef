// What the wait queue's sources share: its requests, lines and threads. All of it is guarded by the
// queue's mutex.

#ifndef BUCKETLOCK_WAIT_LINE_H_
#define BUCKETLOCK_WAIT_LINE_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "contender.h"
#include "wait_queue.h"

namespace bucketlock {

// The pauses between attempts where nothing but an attempt tells: a first one a few times the
// length of a short critical section, and a longest one that a person does not notice.
class GrowingPause {
 public:
  void Reset() { next_ = kFirst; }

  // Between half and the whole of the pause, so that waiters who met do not meet again.
  std::chrono::milliseconds Next() {
    const int longest = static_cast<int>(next_.count());
    std::uniform_int_distribution<int> spread((longest + 1) / 2, longest);
    next_ = std::min(kLongest, next_ + next_ / 2);
    return std::chrono::milliseconds(spread(jitter_));
  }

 private:
  static constexpr std::chrono::milliseconds kFirst{5};
  static constexpr std::chrono::milliseconds kLongest{100};

  std::chrono::milliseconds next_ = kFirst;
  // Only spreads the waiters, so the time will do. (std::random_device would need a newer glibc.)
  std::minstd_rand jitter_{static_cast<std::minstd_rand::result_type>(
      std::chrono::steady_clock::now().time_since_epoch().count())};
};

struct WaitQueue::Request {
  RequestId id = 0;
  // Null: the place is only reserved.
  std::shared_ptr<Contender> contender;
  Clock::time_point since;
  std::shared_ptr<WaitParty> party;
  WaitMode mode = WaitMode::kAsync;
  Line* line = nullptr;
  // Valid until it is settled.
  std::list<Request*>::iterator at;
  bool settled = false;
  // Only for a synchronous one.
  std::unique_ptr<std::condition_variable> is_settled;
};

struct WaitQueue::Line {
  std::string name;
  // In order of arrival. Settled requests are no longer here.
  std::list<Request*> waiting;
  std::condition_variable changed;
  // Something has happened that makes an attempt worth while.
  bool poked = false;
  // Of whoever makes the attempt.
  LineMemory memory;
  // An attempt is under way, by the line's worker or the timekeeper; the line stays meanwhile.
  bool attempting = false;
  // Compared, never followed: its request may have left.
  const WaitParty* attempting_for = nullptr;

  // Null: the timekeeper polls it.
  Worker* worker = nullptr;
  std::optional<std::list<Line*>::iterator> unserved_at;
  // The worker's, but for Abandon() and SignsOfLife().
  std::shared_ptr<Place> place;
  // There is no place to block in.
  bool polled = false;
  // The next thing is to block, not to try.
  bool must_block = true;
  // The worker is in Place::Block().
  bool blocked = false;
  // How often in a row blocking ended at once and the lock was busy all the same.
  int idle_blocks = 0;
  GrowingPause pause;

  // The timekeeper's: when it looks next, and from when and by when it tries out of turn.
  std::optional<Clock::time_point> due;
  Clock::time_point try_from;
  Clock::time_point try_by;
  Clock::time_point eager_until;
  std::chrono::milliseconds try_pause{0};
  std::chrono::milliseconds look_pause{0};
  std::uint64_t signs_of_life = 0;
};

struct WaitQueue::Worker {
  // Null: idle.
  Line* line = nullptr;
  std::condition_variable assigned;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_WAIT_LINE_H_
