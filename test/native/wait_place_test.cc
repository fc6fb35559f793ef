// How the wait queue stands in a line of processes.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "fake_lock.h"
#include "fake_place.h"
#include "wait_place_fixture.h"
#include "wait_queue.h"

namespace bucketlock {
namespace {

using std::chrono::milliseconds;

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

TEST_F(WaitPlaceTest, TriesInItsPlaceAgainAndAgainWhereNothingElseTells) {
  Waiter waiter;
  waiter.contender = std::make_shared<PlacedContender>(&lock_, line_);
  waiter.contender->FindNothingToBlockOn();
  Enqueue(&waiter);
  line_->Wake();
  ASSERT_TRUE(Until([&] { return waiter.contender->attempts_in_place() > 2; }));
  EXPECT_EQ(line_->blocks(), 1);
  lock_.Free();
  ASSERT_EQ(party_->Next(), waiter.id);
  EXPECT_EQ(line_->blocks(), 1);
  Release(&waiter);
}

TEST_F(WaitPlaceTest, PollsUntilTheNextGrantAndNotLonger) {
  line_->Close();
  Waiter first = Join();
  Waiter second = Join();
  ASSERT_TRUE(Until([&] { return first.contender->attempts_out_of_turn() > 2; }));
  EXPECT_EQ(line_->leaves(), 1);
  line_->Open();
  EXPECT_EQ(line_->blocks(), 1);
  lock_.Free();
  ASSERT_EQ(party_->Next(), first.id);
  ASSERT_TRUE(Blocks(2));
  Release(&first);
  line_->Wake();
  ASSERT_EQ(party_->Next(), second.id);
  Release(&second);
}

TEST_F(WaitPlaceTest, DoesNotSpinWhereEveryBlockEndsAtOnce) {
  line_->TellNothing();
  Waiter waiter = Join();
  EXPECT_TRUE(Until([this] { return line_->PausesBetweenBlocks(5, milliseconds(40)); }));
  lock_.Free();
  ASSERT_EQ(party_->Next(), waiter.id);
  Release(&waiter);
}

TEST_F(WaitPlaceTest, AFailureLeavesThePlaceToNobody) {
  Waiter failing = Join();
  Waiter next = Join();
  ASSERT_TRUE(Blocks(1));
  failing.contender->Break();
  line_->Wake();
  ASSERT_EQ(party_->Next(), failing.id);
  ASSERT_TRUE(Blocks(2));
  EXPECT_EQ(line_->leaves(), 1);
  EXPECT_TRUE(Queue().Leave(failing.id));
  EXPECT_FALSE(Queue().Leave(next.id));
}

// Many threads come, give up, are granted and release at once: what the sanitizers look at.
TEST_F(WaitPlaceTest, ManyThreadsComeAndGoWithoutATrace) {
  lock_.Free();
  std::atomic<int> granted{0};
  const auto visit = [&](unsigned seed) {
    std::mt19937 random(seed);
    const auto party = std::make_shared<FakeParty>();
    for (int turn = 0; turn < 100; ++turn) {
      auto contender = std::make_shared<PlacedContender>(&lock_, line_);
      bool first = false;
      RequestId id = random() % 2 == 0 ? Queue().Reserve("line", party, &first) : 0;
      ASSERT_TRUE(Queue().Enqueue("line", contender, party, WaitMode::kSync, &id).ok());
      line_->Wake();
      const bool gives_up = random() % 3 == 0;
      if (!gives_up) {
        ASSERT_TRUE(Until([&] { return Queue().WaitFor(id, milliseconds(1)); }));
      }
      const bool settled = Queue().Leave(id);
      ASSERT_TRUE(settled || gives_up);
      if (settled) ++granted;
      contender.reset();
      line_->Wake();
    }
  };
  std::vector<std::thread> visitors;
  for (unsigned thread = 0; thread < 4; ++thread) visitors.emplace_back(visit, thread);
  for (std::thread& visitor : visitors) visitor.join();
  EXPECT_GT(granted, 200);
  EXPECT_TRUE(Until([this] { return !lock_.held(); }));
}

}  // namespace
}  // namespace bucketlock
