#include "pool_attempts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "fake_lock.h"
#include "temp_bucket.h"

namespace bucketlock {
namespace {

using std::chrono::milliseconds;

class PoolAttemptsTest : public testing::Test {
 protected:
  std::shared_ptr<HeldLockfile> Win() {
    AttemptResult result = bucket_.Attempt();
    EXPECT_EQ(result.kind, ResultKind::kAcquired);
    return std::move(result.held);
  }

  TempBucket bucket_;
  PoolAttempts attempts_;
};

TEST_F(PoolAttemptsTest, WhatIsWonCanBeTakenOnce) {
  ASSERT_TRUE(attempts_.Begin());
  const std::shared_ptr<HeldLockfile> won = Win();
  attempts_.Done(won);
  EXPECT_TRUE(attempts_.Take(won));
  EXPECT_FALSE(attempts_.Take(won));
  attempts_.Close(milliseconds(0));
  EXPECT_EQ(won->Verify().outcome, HoldOutcome::kOurs) << "taken, so it is not ours to release";
  EXPECT_TRUE(Exists(bucket_.lockfile()));
}

TEST_F(PoolAttemptsTest, WhatIsWonAndNotTakenIsReleasedAtTheEnd) {
  ASSERT_TRUE(attempts_.Begin());
  const std::shared_ptr<HeldLockfile> won = Win();
  attempts_.Done(won);
  attempts_.Close(milliseconds(0));
  EXPECT_FALSE(Exists(bucket_.lockfile()));
  EXPECT_FALSE(attempts_.Take(won));
}

TEST_F(PoolAttemptsTest, NothingBeginsAfterTheEnd) {
  attempts_.Close(milliseconds(0));
  EXPECT_FALSE(attempts_.Begin());
}

TEST_F(PoolAttemptsTest, WhatIsWonAfterTheEndIsReleasedAtOnce) {
  ASSERT_TRUE(attempts_.Begin());
  attempts_.Close(milliseconds(0));
  const std::shared_ptr<HeldLockfile> won = Win();
  attempts_.Done(won);
  EXPECT_FALSE(Exists(bucket_.lockfile()));
  EXPECT_FALSE(attempts_.Take(won));
}

TEST_F(PoolAttemptsTest, TheEndWaitsForWhatHasBegun) {
  ASSERT_TRUE(attempts_.Begin());
  ASSERT_TRUE(attempts_.Begin());
  bool closed = false;
  std::thread closing([&] {
    attempts_.Close(2 * kPatience);
    closed = true;
    EXPECT_FALSE(Exists(bucket_.lockfile()));
  });
  ASSERT_TRUE(Until([&] {
    const bool begun = attempts_.Begin();
    if (begun) attempts_.Done(nullptr);
    return !begun;
  }));
  attempts_.Done(Win());
  attempts_.Done(nullptr);
  closing.join();
  EXPECT_TRUE(closed);
}

}  // namespace
}  // namespace bucketlock
