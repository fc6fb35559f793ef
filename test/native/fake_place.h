// A place in a line of processes that lives in this process only.

#ifndef BUCKETLOCK_TEST_NATIVE_FAKE_PLACE_H_
#define BUCKETLOCK_TEST_NATIVE_FAKE_PLACE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "contender.h"
#include "fake_lock.h"

namespace bucketlock {

// The line, and what became of the places in it.
class FakeLine {
 public:
  // Ends the Block() under way, or the next one.
  void Wake();
  // From now on a Block() answers that there is no line, and then again that there is one.
  void Close();
  void Open();
  // From now on a Block() ends at once.
  void TellNothing();
  // From now on whoever looks for signs of life sees some.
  void Move() { moves_ = true; }
  // From now on to abandon a place does not end its Block(), as with flock(2).
  void OutlastAbandon() { outlasts_abandon_ = true; }

  int blocks() const { return blocks_; }
  int leaves() const { return leaves_; }
  int abandons() const { return abandons_; }
  int looks() const { return looks_; }
  // A place was used after it was left, or a contender by two threads at a time.
  bool misused() const { return misused_; }
  // The last `count` times it was blocked in, at least `pause` had gone by since the time before.
  bool PausesBetweenBlocks(std::size_t count, std::chrono::milliseconds pause) const;

 private:
  friend class FakePlace;
  friend class PlacedContender;
  using Clock = std::chrono::steady_clock;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool closed_ = false;
  bool tells_nothing_ = false;
  std::vector<Clock::time_point> blocked_at_;
  std::atomic<bool> moves_{false};
  std::atomic<bool> outlasts_abandon_{false};
  std::atomic<bool> misused_{false};
  std::atomic<int> blocks_{0};
  std::atomic<int> leaves_{0};
  std::atomic<int> abandons_{0};
  std::atomic<int> looks_{0};
};

// Stands in that line.
class PlacedContender : public FakeContender {
 public:
  PlacedContender(FakeLock* lock, std::shared_ptr<FakeLine> line)
      : FakeContender(lock), line_(std::move(line)) {}

  std::shared_ptr<Place> TakePlace() override;
  Outcome Attempt(Place* place, LineMemory* memory) override;

  // From now on a busy attempt says that only another one will tell.
  void FindNothingToBlockOn() { finds_nothing_ = true; }

  int attempts_in_place() const { return attempts_in_place_; }
  int attempts_out_of_turn() const { return attempts_out_of_turn_; }

 private:
  const std::shared_ptr<FakeLine> line_;
  std::atomic<bool> finds_nothing_{false};
  std::atomic<bool> attempting_{false};
  std::atomic<int> attempts_in_place_{0};
  std::atomic<int> attempts_out_of_turn_{0};
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_TEST_NATIVE_FAKE_PLACE_H_
