// What the head of the line prepares while it waits: a lockfile without a name.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "lockfile.h"
#include "temp_bucket.h"

namespace bucketlock {
namespace {

class PreparedLockfileTest : public testing::Test {
 protected:
  PreparedLockfileTest() {
    in_turn_.will_await_guard = true;
    in_turn_.prepares = true;
    out_of_turn_.will_await_guard = true;
  }

  // Somebody else holds the lock, and the head of the line has met that.
  std::shared_ptr<HeldLockfile> HolderMetInTurn() {
    AttemptResult held = bucket_.Attempt();
    EXPECT_EQ(held.kind, ResultKind::kAcquired);
    EXPECT_EQ(Attempt(in_turn_).kind, ResultKind::kBusy);
    EXPECT_TRUE(memory_.prepared.has_value());
    EXPECT_EQ(bucket_.Names(), std::vector<std::string>{".lock"}) << "it has no name";
    return std::move(held.held);
  }

  AttemptResult Attempt(const AttemptManner& manner) {
    return AttemptAcquire(spec_, &memory_, manner);
  }

  std::string PreparedToken() const {
    return memory_.prepared.has_value() ? memory_.prepared->token : std::string();
  }

  TempBucket bucket_;
  const BucketSpec spec_ = bucket_.Spec();
  AttemptManner in_turn_;
  AttemptManner out_of_turn_;
  AttemptMemory memory_;
};

TEST_F(PreparedLockfileTest, IsWhatTheNextAttemptInTurnPublishes) {
  const auto holder = HolderMetInTurn();
  const std::string token = PreparedToken();
  ASSERT_TRUE(IsOver(holder->Release()));
  const AttemptResult result = Attempt(in_turn_);
  ASSERT_EQ(result.kind, ResultKind::kAcquired);
  EXPECT_EQ(result.token, token);
}

TEST_F(PreparedLockfileTest, OutlivesAnAttemptOutOfTurn) {
  const auto holder = HolderMetInTurn();
  const std::string token = PreparedToken();
  EXPECT_EQ(Attempt(out_of_turn_).kind, ResultKind::kBusy);
  EXPECT_EQ(PreparedToken(), token);
  ASSERT_TRUE(IsOver(holder->Release()));
  const AttemptResult result = Attempt(in_turn_);
  ASSERT_EQ(result.kind, ResultKind::kAcquired);
  EXPECT_EQ(result.token, token);
}

TEST_F(PreparedLockfileTest, IsMadeAgainWhenSomebodyElseWasFaster) {
  const auto holder = HolderMetInTurn();
  const std::string token = PreparedToken();
  ASSERT_TRUE(IsOver(holder->Release()));
  const AttemptResult faster = bucket_.Attempt();
  ASSERT_EQ(faster.kind, ResultKind::kAcquired);
  EXPECT_EQ(Attempt(in_turn_).kind, ResultKind::kBusy);
  EXPECT_NE(PreparedToken(), token);
  ASSERT_TRUE(IsOver(faster.held->Release()));
  EXPECT_EQ(Attempt(in_turn_).kind, ResultKind::kAcquired);
}

TEST_F(PreparedLockfileTest, IsNotPublishedInADirectoryThatWasReplaced) {
  const auto holder = HolderMetInTurn();
  const std::string token = PreparedToken();
  ASSERT_TRUE(IsOver(holder->Release()));
  ASSERT_EQ(::rmdir(bucket_.path().c_str()), 0);
  ASSERT_EQ(::mkdir(bucket_.path().c_str(), 0700), 0);
  const AttemptResult result = Attempt(in_turn_);
  ASSERT_EQ(result.kind, ResultKind::kAcquired);
  EXPECT_NE(result.token, token);
  EXPECT_EQ(bucket_.Names(), std::vector<std::string>{".lock"});
}

}  // namespace
}  // namespace bucketlock
