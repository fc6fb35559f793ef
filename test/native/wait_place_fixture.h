// A lock that is held at first, and a line of processes to stand in for it.

#ifndef BUCKETLOCK_TEST_NATIVE_WAIT_PLACE_FIXTURE_H_
#define BUCKETLOCK_TEST_NATIVE_WAIT_PLACE_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fake_lock.h"
#include "fake_place.h"
#include "wait_queue.h"

namespace bucketlock {

class WaitPlaceTest : public testing::Test {
 protected:
  struct Waiter {
    RequestId id = 0;
    std::shared_ptr<PlacedContender> contender;
  };

  static WaitQueue& Queue() { return WaitQueue::OfProcess(); }

  void SetUp() override {
    threads_ = CountThreadsAtRest();
    party_ = std::make_shared<FakeParty>();
    lock_.Seize();
  }

  void TearDown() override {
    EXPECT_TRUE(Until([this] { return CountThreads() == threads_; })) << CountThreads();
    EXPECT_TRUE(Until([] { return FakeContender::Living() == 0; })) << FakeContender::Living();
    EXPECT_FALSE(lock_.violated());
    EXPECT_FALSE(line_->misused());
    EXPECT_EQ(party_.use_count(), 1) << "the queue keeps a request of the party's";
  }

  Waiter Join(RequestId reserved = 0) {
    Waiter waiter;
    waiter.id = reserved;
    waiter.contender = std::make_shared<PlacedContender>(&lock_, line_);
    Enqueue(&waiter);
    return waiter;
  }

  void Enqueue(Waiter* waiter) {
    EXPECT_TRUE(
        Queue().Enqueue("line", waiter->contender, party_, WaitMode::kAsync, &waiter->id).ok());
  }

  bool Blocks(int times) {
    return Until([this, times] { return line_->blocks() >= times; });
  }

  void Release(Waiter* waiter) {
    EXPECT_TRUE(Queue().Leave(waiter->id));
    waiter->contender.reset();
  }

  std::size_t threads_ = 0;
  FakeLock lock_;
  const std::shared_ptr<FakeLine> line_ = std::make_shared<FakeLine>();
  std::shared_ptr<FakeParty> party_;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_TEST_NATIVE_WAIT_PLACE_FIXTURE_H_
