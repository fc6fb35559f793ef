#include "pool_attempt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "fake_lock.h"
#include "temp_bucket.h"
#include "wait_queue.h"

namespace bucketlock {
namespace {

using std::chrono::milliseconds;

class PoolAttemptTest : public testing::Test {
 protected:
  std::shared_ptr<HeldLockfile> Win() {
    AttemptResult result = bucket_.Attempt();
    EXPECT_EQ(result.kind, ResultKind::kAcquired);
    return std::move(result.held);
  }

  TempBucket bucket_;
  PoolAttempt attempt_;
};

TEST_F(PoolAttemptTest, WhatIsWonCanBeTakenOnce) {
  ASSERT_TRUE(attempt_.Begin());
  const std::shared_ptr<HeldLockfile> won = Win();
  attempt_.Done(won);
  EXPECT_EQ(attempt_.Take(), won);
  EXPECT_EQ(attempt_.Take(), nullptr);
  EXPECT_EQ(attempt_.Abandon(), nullptr) << "taken, so it is the taker's to release";
  EXPECT_EQ(won->Verify().outcome, HoldOutcome::kOurs);
}

TEST_F(PoolAttemptTest, WhatWinsNothingHasNothingToTake) {
  ASSERT_TRUE(attempt_.Begin());
  attempt_.Done(nullptr);
  EXPECT_EQ(attempt_.Take(), nullptr);
  EXPECT_EQ(attempt_.Abandon(), nullptr);
}

TEST_F(PoolAttemptTest, WhatIsWonAndNotTakenIsTheAbandonersOnce) {
  ASSERT_TRUE(attempt_.Begin());
  const std::shared_ptr<HeldLockfile> won = Win();
  attempt_.Done(won);
  EXPECT_EQ(attempt_.Abandon(), won);
  EXPECT_EQ(won->Verify().outcome, HoldOutcome::kOurs) << "whoever abandons it releases";
  EXPECT_EQ(attempt_.Abandon(), nullptr);
  EXPECT_EQ(attempt_.Take(), nullptr);
}

TEST_F(PoolAttemptTest, NothingBeginsOnceAbandoned) {
  EXPECT_EQ(attempt_.Abandon(), nullptr);
  EXPECT_FALSE(attempt_.Begin());
  attempt_.Await(2 * milliseconds(kPatience));
  EXPECT_EQ(attempt_.Take(), nullptr);
}

TEST_F(PoolAttemptTest, WhatIsWonOnceAbandonedIsReleasedAtOnce) {
  ASSERT_TRUE(attempt_.Begin());
  EXPECT_EQ(attempt_.Abandon(), nullptr);
  attempt_.Done(Win());
  EXPECT_FALSE(Exists(bucket_.lockfile()));
  EXPECT_EQ(attempt_.Take(), nullptr);
}

TEST_F(PoolAttemptTest, WhoeverStandsInLineLearnsOfThatRelease) {
  WaitQueue& queue = WaitQueue::OfProcess();
  FakeLock lock;
  lock.Seize();
  const auto contender = std::make_shared<FakeContender>(&lock);
  const auto party = std::make_shared<FakeParty>();
  RequestId request = 0;
  ASSERT_TRUE(queue.Enqueue(bucket_.path(), contender, party, WaitMode::kAsync, &request).ok());
  ASSERT_TRUE(Until([&] { return contender->blocks() > 0; }));

  ASSERT_TRUE(attempt_.Begin());
  EXPECT_EQ(attempt_.Abandon(), nullptr);
  std::shared_ptr<HeldLockfile> won = Win();
  lock.Free();
  attempt_.Done(std::move(won));
  EXPECT_EQ(party->Next(), request) << "by itself it sleeps for longer than this waits";
  EXPECT_TRUE(queue.Leave(request));
}

TEST_F(PoolAttemptTest, AwaitingEndsWithTheReleaseOfWhatIsStillWon) {
  for (int round = 0; round < 100; ++round) {
    PoolAttempt attempt;
    ASSERT_TRUE(attempt.Begin());
    EXPECT_EQ(attempt.Abandon(), nullptr);
    std::atomic<bool> awaiting{false};
    std::thread end([&] {
      awaiting = true;
      attempt.Await(2 * milliseconds(kPatience));
      EXPECT_FALSE(Exists(bucket_.lockfile()));
    });
    std::shared_ptr<HeldLockfile> won = Win();
    while (!awaiting) std::this_thread::yield();
    attempt.Done(std::move(won));
    end.join();
  }
}

TEST_F(PoolAttemptTest, AwaitingLastsNoLongerThanIsAsked) {
  ASSERT_TRUE(attempt_.Begin());
  attempt_.Await(milliseconds(1));
  attempt_.Done(nullptr);
  attempt_.Await(2 * milliseconds(kPatience));
}

}  // namespace
}  // namespace bucketlock
