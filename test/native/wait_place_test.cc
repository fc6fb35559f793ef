// How the wait queue stands in a line of processes, and what it does where that does not move.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "fake_lock.h"
#include "fake_place.h"
#include "wait_queue.h"

namespace bucketlock {
namespace {

WaitQueue& Queue() { return WaitQueue::OfProcess(); }

struct Waiter {
  RequestId id = 0;
  std::shared_ptr<PlacedContender> contender;
};

class WaitPlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    // A sanitizer's own thread may start with the first of ours.
    std::thread([] {}).join();
    threads_ = CountThreads();
    party_ = std::make_shared<FakeParty>();
    lock_.Seize();
  }

  void TearDown() override {
    EXPECT_TRUE(Until([this] { return CountThreads() == threads_; })) << CountThreads();
    EXPECT_TRUE(Until([] { return FakeContender::Living() == 0; })) << FakeContender::Living();
    EXPECT_FALSE(lock_.violated());
  }

  Waiter Join(RequestId reserved = 0) {
    Waiter waiter;
    waiter.id = reserved;
    waiter.contender = std::make_shared<PlacedContender>(&lock_, line_);
    EXPECT_TRUE(
        Queue().Enqueue("line", waiter.contender, party_, WaitMode::kAsync, &waiter.id).ok());
    return waiter;
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

TEST_F(WaitPlaceTest, BlocksFirstAndAgainAfterEachAttemptThatIsBusy) {
  Waiter waiter = Join();
  ASSERT_TRUE(Blocks(1));
  EXPECT_EQ(waiter.contender->attempts_in_place(), 0);
  line_->Wake();
  ASSERT_TRUE(Blocks(2));
  EXPECT_EQ(waiter.contender->attempts_in_place(), 1);
  lock_.Free();
  line_->Wake();
  ASSERT_EQ(party_->Next(), waiter.id);
  Release(&waiter);
}

TEST_F(WaitPlaceTest, LeavesItsPlaceAfterEachGrant) {
  Waiter first = Join();
  Waiter second = Join();
  ASSERT_TRUE(Blocks(1));
  lock_.Free();
  line_->Wake();
  ASSERT_EQ(party_->Next(), first.id);
  // For the second one it stands in line anew.
  ASSERT_TRUE(Blocks(2));
  EXPECT_EQ(line_->leaves(), 1);
  Release(&first);
  line_->Wake();
  ASSERT_EQ(party_->Next(), second.id);
  EXPECT_TRUE(Until([this] { return line_->leaves() == 2; }));
  EXPECT_EQ(line_->abandons(), 0);
  Release(&second);
}

TEST_F(WaitPlaceTest, IsAbandonedWhenTheLastOneLeavesAndNotBefore) {
  Waiter first = Join();
  Waiter second = Join();
  ASSERT_TRUE(Blocks(1));
  EXPECT_FALSE(Queue().Leave(first.id));
  EXPECT_EQ(line_->abandons(), 0);
  EXPECT_FALSE(Queue().Leave(second.id));
  EXPECT_EQ(line_->abandons(), 1);
  EXPECT_TRUE(Until([this] { return line_->leaves() == 1; }));
  EXPECT_EQ(second.contender->attempts_in_place(), 0);
}

TEST_F(WaitPlaceTest, TheNextOneTakesOverThePlace) {
  Waiter first = Join();
  Waiter second = Join();
  ASSERT_TRUE(Blocks(1));
  EXPECT_FALSE(Queue().Leave(first.id));
  lock_.Free();
  line_->Wake();
  ASSERT_EQ(party_->Next(), second.id);
  EXPECT_EQ(line_->blocks(), 1);
  Release(&second);
}

TEST_F(WaitPlaceTest, ALineThatDoesNotMoveIsTriedOutOfTurn) {
  Waiter waiter = Join();
  ASSERT_TRUE(Blocks(1));
  lock_.Free();
  // Nobody wakes it.
  ASSERT_EQ(party_->Next(), waiter.id);
  EXPECT_EQ(waiter.contender->attempts_in_place(), 0);
  EXPECT_GT(waiter.contender->attempts_out_of_turn(), 0);
  EXPECT_TRUE(Until([this] { return line_->abandons() == 1; }));
  Release(&waiter);
}

TEST_F(WaitPlaceTest, AGrantOutOfTurnLeavesThePlaceToTheOthers) {
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

TEST_F(WaitPlaceTest, WhoComesWhileItBlocksForNobodyIsServed) {
  for (int round = 0; round < 20; ++round) {
    Waiter gone = Join();
    ASSERT_TRUE(Blocks(round + 1));
    EXPECT_FALSE(Queue().Leave(gone.id));
    Waiter next = Join();
    lock_.Free();
    line_->Wake();
    ASSERT_EQ(party_->Next(), next.id);
    Release(&next);
    lock_.Seize();
  }
}

TEST_F(WaitPlaceTest, PollsWhereThereIsNoLine) {
  line_->Close();
  Waiter waiter = Join();
  ASSERT_TRUE(Until([&] { return waiter.contender->attempts_out_of_turn() > 2; }));
  EXPECT_EQ(line_->blocks(), 1);
  lock_.Free();
  ASSERT_EQ(party_->Next(), waiter.id);
  Release(&waiter);
}

TEST_F(WaitPlaceTest, TheOrderIsThatOfTheReservations) {
  bool first = false;
  const RequestId reserved = Queue().Reserve("line", party_, &first);
  EXPECT_TRUE(first);
  const RequestId behind = Queue().Reserve("line", party_, &first);
  EXPECT_FALSE(first);
  Waiter last = Join();
  Waiter second = Join(behind);
  Waiter waiter = Join(reserved);
  ASSERT_EQ(waiter.id, reserved);
  ASSERT_TRUE(Blocks(1));
  for (Waiter* const next : {&waiter, &second, &last}) {
    if (next == &waiter) lock_.Free();
    line_->Wake();
    ASSERT_EQ(party_->Next(), next->id);
    Release(next);
  }
}

TEST_F(WaitPlaceTest, WhoReservesAndDoesNotComeIsPassedOver) {
  bool first = false;
  const RequestId reserved = Queue().Reserve("line", party_, &first);
  Waiter next = Join();
  lock_.Free();
  line_->Wake();
  ASSERT_EQ(party_->Next(), next.id);
  Release(&next);
  EXPECT_FALSE(Queue().Leave(reserved));
}

TEST_F(WaitPlaceTest, AReservationThatIsGivenUpIsNoLine) {
  bool first = false;
  const RequestId reserved = Queue().Reserve("line", party_, &first);
  EXPECT_TRUE(Queue().IsSomebodyIn("line"));
  EXPECT_FALSE(Queue().Leave(reserved));
  EXPECT_FALSE(Queue().IsSomebodyIn("line"));
  EXPECT_NE(Queue().NewId(), reserved);
}

}  // namespace
}  // namespace bucketlock
