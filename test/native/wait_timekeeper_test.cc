// What the wait queue does out of turn, for lines that do not move and for those without a thread.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fake_lock.h"
#include "fake_place.h"
#include "wait_place_fixture.h"
#include "wait_queue.h"

namespace bucketlock {
namespace {

using std::chrono::milliseconds;

class WaitTimekeeperTest : public WaitPlaceTest {
 protected:
  // So many lines that do not move, each with a thread of its own.
  void Crowd(std::size_t lines) {
    for (std::size_t i = 0; i < lines; ++i) {
      crowd_.push_back(0);
      EXPECT_TRUE(Queue()
                      .Enqueue("crowd " + std::to_string(i),
                               std::make_shared<FakeContender>(&crowd_lock_), crowd_party_,
                               WaitMode::kAsync, &crowd_.back())
                      .ok());
    }
  }

  void SetUp() override {
    WaitPlaceTest::SetUp();
    crowd_lock_.Seize();
    elsewhere_lock_.Seize();
  }

  void TearDown() override {
    for (const RequestId request : crowd_) EXPECT_FALSE(Queue().Leave(request));
    WaitPlaceTest::TearDown();
  }

  // From now on the party's thread is in a synchronous call.
  RequestId JoinElsewhere() {
    RequestId request = 0;
    EXPECT_TRUE(Queue()
                    .Enqueue("elsewhere", std::make_shared<FakeContender>(&elsewhere_lock_), party_,
                             WaitMode::kSync, &request)
                    .ok());
    return request;
  }

  FakeLock crowd_lock_;
  FakeLock elsewhere_lock_;
  const std::shared_ptr<FakeParty> crowd_party_ = std::make_shared<FakeParty>();
  std::vector<RequestId> crowd_;
};

TEST_F(WaitTimekeeperTest, ALineThatDoesNotMoveIsTriedOutOfTurn) {
  Waiter waiter = Join();
  ASSERT_TRUE(Blocks(1));
  lock_.Free();
  // Nobody wakes it.
  ASSERT_EQ(party_->Next(), waiter.id);
  EXPECT_EQ(waiter.contender->attempts_in_place(), 0);
  EXPECT_GT(waiter.contender->attempts_out_of_turn(), 0);
  // Once when the place was taken, and once by who tried then.
  EXPECT_LE(line_->looks(), 2);
  EXPECT_TRUE(Until([this] { return line_->abandons() == 1; }));
  Release(&waiter);
}

TEST_F(WaitTimekeeperTest, AGrantOutOfTurnLeavesThePlaceToTheOthers) {
  Waiter first = Join();
  Waiter second = Join();
  ASSERT_TRUE(Blocks(1));
  lock_.Free();
  ASSERT_EQ(party_->Next(), first.id);
  Release(&first);
  ASSERT_EQ(party_->Next(), second.id);
  EXPECT_EQ(line_->blocks(), 1);
  Release(&second);
}

TEST_F(WaitTimekeeperTest, ALineThatMovesIsTriedOutOfTurnOnceInASecond) {
  line_->Move();
  const auto start = std::chrono::steady_clock::now();
  Waiter waiter = Join();
  lock_.Free();
  ASSERT_EQ(party_->Next(), waiter.id);
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(1000));
  EXPECT_EQ(waiter.contender->attempts_in_place(), 0);
  Release(&waiter);
}

TEST_F(WaitTimekeeperTest, WhoComesWhileItBlocksForNobodyIsTriedOutOfTurn) {
  line_->OutlastAbandon();
  Waiter gone = Join();
  ASSERT_TRUE(Blocks(1));
  EXPECT_FALSE(Queue().Leave(gone.id));
  gone.contender.reset();
  EXPECT_EQ(line_->abandons(), 1);
  ASSERT_TRUE(Until([this] { return CountThreads() == threads_ + 1; })) << "no timekeeper is left";
  Waiter next = Join();
  lock_.Free();
  ASSERT_EQ(party_->Next(), next.id);
  EXPECT_EQ(line_->blocks(), 1) << "and its thread has never come back";
  EXPECT_EQ(next.contender->attempts_in_place(), 0);
  Release(&next);
  line_->Wake();
}

TEST_F(WaitTimekeeperTest, WhoLeavesDuringAnAttemptOutOfTurnReleasesWhatItWins) {
  Waiter leaver;
  leaver.contender = std::make_shared<PlacedContender>(&lock_, line_);
  leaver.contender->CloseGate();
  PlacedContender* const contender = leaver.contender.get();
  Enqueue(&leaver);
  contender->WaitAtGate();
  EXPECT_EQ(contender->attempts_out_of_turn(), 1);
  EXPECT_FALSE(Queue().Leave(leaver.id));
  leaver.contender.reset();
  EXPECT_EQ(line_->abandons(), 1);
  Queue().AwaitAttempts(*party_, milliseconds(1));
  EXPECT_EQ(FakeContender::Living(), 1) << "under way, whatever the patience";
  lock_.Free();
  std::thread awaiting([this] {
    Queue().AwaitAttempts(*party_, kPatience);
    EXPECT_EQ(FakeContender::Living(), 0);
    EXPECT_FALSE(lock_.held());
  });
  contender->OpenGate();
  awaiting.join();
  EXPECT_EQ(party_->settled(), 0u);
}

TEST_F(WaitTimekeeperTest, AThreadThatComesBackWaitsForAnAttemptOutOfTurn) {
  Waiter waiter;
  waiter.contender = std::make_shared<PlacedContender>(&lock_, line_);
  waiter.contender->CloseGate();
  Enqueue(&waiter);
  waiter.contender->WaitAtGate();
  line_->Wake();
  waiter.contender->OpenGate();
  ASSERT_TRUE(Blocks(2));
  EXPECT_EQ(waiter.contender->attempts_in_place(), 1);
  EXPECT_FALSE(Queue().Leave(waiter.id));
}

TEST_F(WaitTimekeeperTest, LooksRarelyWhereNobodyCouldTakeTheLock) {
  Waiter passed_over = Join();
  ASSERT_TRUE(Blocks(1));
  const RequestId blocking = JoinElsewhere();
  // Longer than a line goes without an attempt out of turn.
  EXPECT_FALSE(Queue().WaitFor(blocking, milliseconds(1500)));
  EXPECT_LT(line_->looks(), 100);
  EXPECT_FALSE(Queue().Leave(blocking));
  lock_.Free();
  EXPECT_EQ(party_->Next(), passed_over.id);
  Release(&passed_over);
}

TEST_F(WaitTimekeeperTest, APokeOfALineWithoutAThreadIsForgottenWhereNobodyCouldTakeTheLock) {
  const RequestId blocking = JoinElsewhere();
  // Then no other line is without a thread, and nothing else keeps the timekeeper busy.
  Crowd(WaitQueue::kMaxThreads - 1);
  Waiter passed_over = Join();
  Queue().Poke("line");
  EXPECT_FALSE(Queue().WaitFor(blocking, milliseconds(300)));
  EXPECT_EQ(passed_over.contender->attempts(), 0);
  EXPECT_FALSE(Queue().Leave(blocking));
  lock_.Free();
  EXPECT_EQ(party_->Next(), passed_over.id);
  Release(&passed_over);
}

TEST_F(WaitTimekeeperTest, ALineWithoutAThreadGetsTheNextThatIsFree) {
  Crowd(WaitQueue::kMaxThreads);
  Waiter waiter = Join();
  ASSERT_TRUE(Until([&] { return waiter.contender->attempts_out_of_turn() > 2; }));
  EXPECT_EQ(line_->blocks(), 0);
  EXPECT_FALSE(Queue().Leave(crowd_.back()));
  crowd_.pop_back();
  ASSERT_TRUE(Blocks(1));
  lock_.Free();
  line_->Wake();
  ASSERT_EQ(party_->Next(), waiter.id);
  Release(&waiter);
}

}  // namespace
}  // namespace bucketlock
