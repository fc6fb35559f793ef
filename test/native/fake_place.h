// A place in a line of processes that lives in this process only.

#ifndef BUCKETLOCK_TEST_NATIVE_FAKE_PLACE_H_
#define BUCKETLOCK_TEST_NATIVE_FAKE_PLACE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "contender.h"
#include "fake_lock.h"

namespace bucketlock {

// The line, and what became of the places in it.
class FakeLine {
 public:
  // Ends the Block() under way, or the next one.
  void Wake();
  // From now on a Block() answers that there is no line.
  void Close();

  int blocks() const { return blocks_; }
  int leaves() const { return leaves_; }
  int abandons() const { return abandons_; }

 private:
  friend class FakePlace;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool closed_ = false;
  std::atomic<int> blocks_{0};
  std::atomic<int> leaves_{0};
  std::atomic<int> abandons_{0};
};

// Stands in that line.
class PlacedContender : public FakeContender {
 public:
  PlacedContender(FakeLock* lock, std::shared_ptr<FakeLine> line)
      : FakeContender(lock), line_(std::move(line)) {}

  std::shared_ptr<Place> TakePlace() override;
  Outcome Attempt(Place* place, LineMemory* memory) override;

  int attempts_in_place() const { return attempts_in_place_; }
  int attempts_out_of_turn() const { return attempts_out_of_turn_; }

 private:
  const std::shared_ptr<FakeLine> line_;
  std::atomic<int> attempts_in_place_{0};
  std::atomic<int> attempts_out_of_turn_{0};
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_TEST_NATIVE_FAKE_PLACE_H_
