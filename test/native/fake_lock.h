// A lock that lives in this process only, its contenders, and a party that listens: what the tests
// of the wait queue put in line.

#ifndef BUCKETLOCK_TEST_NATIVE_FAKE_LOCK_H_
#define BUCKETLOCK_TEST_NATIVE_FAKE_LOCK_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "contender.h"
#include "wait_queue.h"

namespace bucketlock {

// How long to wait for what must happen. Only a bug makes a test wait so long.
inline constexpr std::chrono::seconds kPatience(30);

// Looks until `condition` holds. False: it never did.
bool Until(const std::function<bool()>& condition);

// How many threads this process has now.
std::size_t CountThreads();
// The same before the first of the threads to be counted. A sanitizer's own may start with the
// first of ours, and one that has been joined is there for a moment still; neither is waited for
// later.
std::size_t CountThreadsAtRest();

class FakeLock {
 public:
  // Taken by nobody in line.
  void Seize();
  void Free();

  bool held() const;
  // A second holder was let in at some time.
  bool violated() const;
  // All attempts at it so far.
  int attempts() const;

 private:
  friend class FakeContender;
  bool Take();

  mutable std::mutex mutex_;
  bool held_ = false;
  bool violated_ = false;
  int attempts_ = 0;
};

// Has no line of processes to stand in, so it is tried again and again.
class FakeContender : public Contender {
 public:
  explicit FakeContender(FakeLock* lock);
  ~FakeContender() override;

  std::shared_ptr<Place> TakePlace() override;
  Outcome Attempt(Place* place, LineMemory* memory) override;

  int attempts() const { return attempts_; }
  int blocks() const { return blocks_; }
  // From now on an attempt fails.
  void Break() { broken_ = true; }

  // The next attempt stops before it touches the lock, until it is let through.
  void CloseGate();
  void WaitAtGate();
  void OpenGate();

  // How many there are in the process.
  static int Living() { return living_; }

 private:
  static std::atomic<int> living_;

  FakeLock* const lock_;
  std::atomic<int> attempts_{0};
  std::atomic<int> blocks_{0};
  std::atomic<bool> broken_{false};
  bool granted_ = false;

  std::mutex gate_mutex_;
  std::condition_variable gate_changed_;
  bool gate_closed_ = false;
  bool at_gate_ = false;
};

class FakeParty : public WaitParty {
 public:
  void Settled(RequestId request) override;

  // The next request that was settled, in the order of settling; 0 if none ever is.
  RequestId Next();
  // How many were settled so far.
  std::size_t settled() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RequestId> requests_;
  std::size_t taken_ = 0;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_TEST_NATIVE_FAKE_LOCK_H_
