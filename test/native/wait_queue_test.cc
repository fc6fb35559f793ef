#include "wait_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fake_lock.h"

namespace bucketlock {
namespace {

using std::chrono::milliseconds;

WaitQueue& Queue() { return WaitQueue::OfProcess(); }

// One request in line, and the contender that the test keeps of it.
struct Waiter {
  RequestId id = 0;
  std::shared_ptr<FakeContender> contender;
};

Waiter Join(const std::string& line, FakeLock* lock, const std::shared_ptr<FakeParty>& party,
            WaitMode mode = WaitMode::kAsync) {
  Waiter waiter;
  waiter.contender = std::make_shared<FakeContender>(lock);
  EXPECT_TRUE(Queue().Enqueue(line, waiter.contender, party, mode, &waiter.id).ok());
  return waiter;
}

// Takes a settled request out of the queue and releases what it was granted.
void Release(Waiter* waiter, const std::string& line) {
  EXPECT_TRUE(Queue().Leave(waiter->id));
  waiter->contender.reset();
  Queue().Poke(line);
}

bool IsBlocked(const Waiter& waiter) {
  return Until([&] { return waiter.contender->blocks() > 0; });
}

class WaitQueueTest : public testing::Test {
 protected:
  void SetUp() override {
    threads_ = CountThreadsAtRest();
    party_ = std::make_shared<FakeParty>();
  }

  void TearDown() override {
    // Whatever a test does, nothing is left: no thread, no contender, no second holder.
    EXPECT_TRUE(Until([this] { return CountThreads() == threads_; })) << CountThreads();
    EXPECT_TRUE(Until([] { return FakeContender::Living() == 0; })) << FakeContender::Living();
    EXPECT_FALSE(lock_.violated());
    EXPECT_EQ(party_.use_count(), 1) << "the queue keeps a request of the party's";
  }

  std::size_t threads_ = 0;
  FakeLock lock_;
  std::shared_ptr<FakeParty> party_;
};

TEST_F(WaitQueueTest, GrantsInOrderOfArrival) {
  lock_.Seize();
  std::vector<Waiter> line;
  for (int i = 0; i < 16; ++i) line.push_back(Join("line", &lock_, party_));
  lock_.Free();
  Queue().Poke("line");
  for (Waiter& waiter : line) {
    ASSERT_EQ(party_->Next(), waiter.id);
    Release(&waiter, "line");
  }
}

TEST_F(WaitQueueTest, GrantsInOrderOfArrivalWhicheverThreadTheyComeFrom) {
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  lock_.Seize();
  std::mutex mutex;
  std::map<RequestId, Waiter> line;
  std::vector<std::thread> arriving;
  for (int thread = 0; thread < kThreads; ++thread) {
    arriving.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        Waiter waiter = Join("line", &lock_, party_);
        const std::lock_guard<std::mutex> guard(mutex);
        line.emplace(waiter.id, std::move(waiter));
      }
    });
  }
  for (std::thread& thread : arriving) thread.join();
  ASSERT_EQ(line.size(), static_cast<std::size_t>(kThreads * kEach));
  lock_.Free();
  Queue().Poke("line");
  for (auto& [id, waiter] : line) {
    ASSERT_EQ(party_->Next(), id);
    Release(&waiter, "line");
  }
}

TEST_F(WaitQueueTest, TriesForTheHeadAlone) {
  lock_.Seize();
  Waiter first = Join("line", &lock_, party_);
  Waiter second = Join("line", &lock_, party_);
  ASSERT_TRUE(IsBlocked(first));
  Queue().Poke("line");
  ASSERT_TRUE(Until([&] { return first.contender->blocks() > 1; }));
  EXPECT_EQ(second.contender->attempts(), 0);
  EXPECT_FALSE(Queue().Leave(second.id));
  EXPECT_FALSE(Queue().Leave(first.id));
}

TEST_F(WaitQueueTest, LinesDoNotWaitForEachOther) {
  FakeLock other;
  lock_.Seize();
  Waiter stuck = Join("stuck", &lock_, party_);
  ASSERT_TRUE(IsBlocked(stuck));
  Waiter free = Join("free", &other, party_);
  EXPECT_EQ(party_->Next(), free.id);
  Release(&free, "free");
  EXPECT_FALSE(Queue().Leave(stuck.id));
}

TEST_F(WaitQueueTest, AnAttemptInOneLineDoesNotHoldUpAnother) {
  FakeLock other;
  Waiter slow;
  slow.contender = std::make_shared<FakeContender>(&lock_);
  slow.contender->CloseGate();
  ASSERT_TRUE(Queue().Enqueue("slow", slow.contender, party_, WaitMode::kAsync, &slow.id).ok());
  slow.contender->WaitAtGate();
  Waiter quick = Join("quick", &other, party_);
  EXPECT_EQ(party_->Next(), quick.id);
  Release(&quick, "quick");
  slow.contender->OpenGate();
  EXPECT_EQ(party_->Next(), slow.id);
  Release(&slow, "slow");
}

TEST_F(WaitQueueTest, PokeEndsABlock) {
  lock_.Seize();
  Waiter waiter = Join("line", &lock_, party_);
  ASSERT_TRUE(IsBlocked(waiter));
  EXPECT_EQ(party_->settled(), 0u);
  lock_.Free();
  Queue().Poke("line");
  EXPECT_EQ(party_->Next(), waiter.id);
  Release(&waiter, "line");
}

TEST_F(WaitQueueTest, PokingALineThatIsNotThereDoesNothing) { Queue().Poke("nobody waits here"); }

TEST_F(WaitQueueTest, WhenTheHeadLeavesTheNextIsHead) {
  lock_.Seize();
  Waiter first = Join("line", &lock_, party_);
  Waiter second = Join("line", &lock_, party_);
  ASSERT_TRUE(IsBlocked(first));
  EXPECT_FALSE(Queue().Leave(first.id));
  ASSERT_TRUE(IsBlocked(second));
  const int attempts = first.contender->attempts();
  lock_.Free();
  Queue().Poke("line");
  EXPECT_EQ(party_->Next(), second.id);
  EXPECT_EQ(first.contender->attempts(), attempts);
  Release(&second, "line");
}

TEST_F(WaitQueueTest, WhoLeavesTheMiddleIsNeverTried) {
  lock_.Seize();
  Waiter first = Join("line", &lock_, party_);
  Waiter middle = Join("line", &lock_, party_);
  Waiter last = Join("line", &lock_, party_);
  EXPECT_FALSE(Queue().Leave(middle.id));
  lock_.Free();
  Queue().Poke("line");
  ASSERT_EQ(party_->Next(), first.id);
  Release(&first, "line");
  ASSERT_EQ(party_->Next(), last.id);
  Release(&last, "line");
  EXPECT_EQ(middle.contender->attempts(), 0);
}

TEST_F(WaitQueueTest, WhenAllLeaveTheLineEndsAndItsNameCanBeUsedAgain) {
  for (int round = 0; round < 50; ++round) {
    lock_.Seize();
    Waiter first = Join("line", &lock_, party_);
    Waiter second = Join("line", &lock_, party_);
    EXPECT_FALSE(Queue().Leave(first.id));
    EXPECT_FALSE(Queue().Leave(second.id));
    // An attempt may still be under way, and win: then letting go releases.
    first.contender.reset();
    second.contender.reset();
    lock_.Free();
    Waiter third = Join("line", &lock_, party_);
    ASSERT_EQ(party_->Next(), third.id);
    Release(&third, "line");
  }
}

TEST_F(WaitQueueTest, WhoLeavesDuringAnAttemptReleasesWhatItWins) {
  Waiter leaver;
  leaver.contender = std::make_shared<FakeContender>(&lock_);
  leaver.contender->CloseGate();
  ASSERT_TRUE(Queue().Enqueue("line", leaver.contender, party_, WaitMode::kAsync, &leaver.id).ok());
  FakeContender* const contender = leaver.contender.get();
  contender->WaitAtGate();
  Waiter next = Join("line", &lock_, party_);
  EXPECT_FALSE(Queue().Leave(leaver.id));
  // The queue is the last to hold it; it stays until its attempt is over.
  leaver.contender.reset();
  EXPECT_EQ(FakeContender::Living(), 2);
  contender->OpenGate();
  EXPECT_EQ(party_->Next(), next.id);
  EXPECT_EQ(FakeContender::Living(), 1);
  Release(&next, "line");
}

TEST_F(WaitQueueTest, WhatIsWonAfterLeavingIsReleasedWhenTheCallerLetsGoToo) {
  Waiter leaver;
  leaver.contender = std::make_shared<FakeContender>(&lock_);
  leaver.contender->CloseGate();
  ASSERT_TRUE(Queue().Enqueue("line", leaver.contender, party_, WaitMode::kAsync, &leaver.id).ok());
  leaver.contender->WaitAtGate();
  EXPECT_FALSE(Queue().Leave(leaver.id));
  leaver.contender->OpenGate();
  ASSERT_TRUE(Until([&] { return leaver.contender.use_count() == 1; }));
  EXPECT_TRUE(lock_.held());
  leaver.contender.reset();
  EXPECT_FALSE(lock_.held());
  EXPECT_EQ(party_->settled(), 0u) << "nobody is told of a request that has left";
}

TEST_F(WaitQueueTest, AwaitingAttemptsEndsWhenWhatTheyWonIsReleased) {
  Waiter leaver;
  leaver.contender = std::make_shared<FakeContender>(&lock_);
  leaver.contender->CloseGate();
  ASSERT_TRUE(Queue().Enqueue("line", leaver.contender, party_, WaitMode::kAsync, &leaver.id).ok());
  FakeContender* const contender = leaver.contender.get();
  contender->WaitAtGate();
  EXPECT_FALSE(Queue().Leave(leaver.id));
  leaver.contender.reset();
  Queue().AwaitAttempts(*party_, milliseconds(1));
  EXPECT_EQ(FakeContender::Living(), 1) << "under way, whatever the patience";
  std::thread awaiting([&] {
    Queue().AwaitAttempts(*party_, kPatience);
    EXPECT_EQ(FakeContender::Living(), 0);
    EXPECT_FALSE(lock_.held());
  });
  contender->OpenGate();
  awaiting.join();
}

TEST_F(WaitQueueTest, AwaitingAttemptsIsOverAtOnceWhereThePartyHasNone) {
  FakeParty idle;
  Waiter busy;
  busy.contender = std::make_shared<FakeContender>(&lock_);
  busy.contender->CloseGate();
  ASSERT_TRUE(Queue().Enqueue("line", busy.contender, party_, WaitMode::kAsync, &busy.id).ok());
  busy.contender->WaitAtGate();
  const auto start = std::chrono::steady_clock::now();
  Queue().AwaitAttempts(idle, 2 * kPatience);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kPatience);
  busy.contender->OpenGate();
  EXPECT_EQ(party_->Next(), busy.id);
  Queue().AwaitAttempts(*party_, 2 * kPatience);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2 * kPatience);
  Release(&busy, "line");
}

TEST_F(WaitQueueTest, AGrantedLockStaysUntilTheRequestLeaves) {
  Waiter waiter = Join("line", &lock_, party_);
  ASSERT_EQ(party_->Next(), waiter.id);
  // Once told, we are alone with the contender.
  EXPECT_EQ(waiter.contender.use_count(), 1);
  EXPECT_TRUE(lock_.held());
  EXPECT_TRUE(Queue().WaitFor(waiter.id, milliseconds(0)));
  EXPECT_TRUE(Queue().Leave(waiter.id));
  EXPECT_TRUE(lock_.held());
  waiter.contender.reset();
  EXPECT_FALSE(lock_.held());
}

TEST_F(WaitQueueTest, AFailedAttemptSettlesAndTheNextIsTried) {
  lock_.Seize();
  Waiter failing = Join("line", &lock_, party_);
  Waiter next = Join("line", &lock_, party_);
  ASSERT_TRUE(IsBlocked(failing));
  failing.contender->Break();
  Queue().Poke("line");
  ASSERT_EQ(party_->Next(), failing.id);
  ASSERT_TRUE(IsBlocked(next));
  lock_.Free();
  Queue().Poke("line");
  ASSERT_EQ(party_->Next(), next.id);
  Release(&failing, "line");
  Release(&next, "line");
}

TEST_F(WaitQueueTest, ARequestThatIsNotThereIsSettledAndCannotLeave) {
  EXPECT_TRUE(Queue().WaitFor(0, milliseconds(0)));
  EXPECT_FALSE(Queue().Leave(0));
  Waiter waiter = Join("line", &lock_, party_);
  ASSERT_EQ(party_->Next(), waiter.id);
  Release(&waiter, "line");
  EXPECT_FALSE(Queue().Leave(waiter.id)) << "left already";
}

TEST_F(WaitQueueTest, ASynchronousRequestIsAwaitedInSlices) {
  lock_.Seize();
  Waiter waiter = Join("line", &lock_, party_, WaitMode::kSync);
  ASSERT_TRUE(IsBlocked(waiter));
  EXPECT_FALSE(Queue().WaitFor(waiter.id, milliseconds(1)));
  lock_.Free();
  Queue().Poke("line");
  EXPECT_TRUE(Queue().WaitFor(waiter.id, kPatience));
  EXPECT_EQ(waiter.contender.use_count(), 1);
  EXPECT_EQ(party_->settled(), 0u) << "the one who blocks needs no word";
  Release(&waiter, "line");
}

TEST_F(WaitQueueTest, ASynchronousRequestThatGivesUpLeavesTheLine) {
  lock_.Seize();
  Waiter quitter = Join("line", &lock_, party_, WaitMode::kSync);
  Waiter next = Join("line", &lock_, std::make_shared<FakeParty>(), WaitMode::kSync);
  EXPECT_FALSE(Queue().WaitFor(quitter.id, milliseconds(1)));
  EXPECT_FALSE(Queue().Leave(quitter.id));
  quitter.contender.reset();
  lock_.Free();
  Queue().Poke("line");
  EXPECT_TRUE(Queue().WaitFor(next.id, kPatience));
  Release(&next, "line");
}

TEST_F(WaitQueueTest, WhileAPartyBlocksItsAsynchronousRequestsArePassedOver) {
  const auto other = std::make_shared<FakeParty>();
  FakeLock elsewhere;
  elsewhere.Seize();
  lock_.Seize();
  Waiter passed_over = Join("line", &lock_, party_);
  Waiter behind = Join("line", &lock_, other);
  Waiter blocking = Join("elsewhere", &elsewhere, party_, WaitMode::kSync);
  Queue().Poke("line");
  ASSERT_TRUE(IsBlocked(behind)) << "it is the head now";
  lock_.Free();
  Queue().Poke("line");
  ASSERT_EQ(other->Next(), behind.id);
  Release(&behind, "line");
  EXPECT_EQ(party_->settled(), 0u);
  // Its call is over: the request counts again, at its place.
  EXPECT_FALSE(Queue().Leave(blocking.id));
  EXPECT_EQ(party_->Next(), passed_over.id);
  Release(&passed_over, "line");
}

TEST_F(WaitQueueTest, APartyThatBlocksPassesItsOwnAsynchronousRequestInTheSameLine) {
  lock_.Seize();
  Waiter passed_over = Join("line", &lock_, party_);
  ASSERT_TRUE(IsBlocked(passed_over));
  Waiter blocking = Join("line", &lock_, party_, WaitMode::kSync);
  ASSERT_TRUE(IsBlocked(blocking));
  lock_.Free();
  Queue().Poke("line");
  ASSERT_TRUE(Queue().WaitFor(blocking.id, kPatience));
  EXPECT_EQ(party_->settled(), 0u);
  Release(&blocking, "line");
  EXPECT_EQ(party_->Next(), passed_over.id);
  Release(&passed_over, "line");
}

TEST_F(WaitQueueTest, ALineOfPassedOverRequestsResumesWhenTheLastCallIsOver) {
  FakeLock first_lock;
  FakeLock second_lock;
  first_lock.Seize();
  second_lock.Seize();
  Waiter first = Join("first", &first_lock, party_, WaitMode::kSync);
  Waiter second = Join("second", &second_lock, party_, WaitMode::kSync);
  Waiter passed_over = Join("line", &lock_, party_);
  EXPECT_FALSE(Queue().Leave(first.id));
  EXPECT_FALSE(Queue().WaitFor(second.id, milliseconds(100)));
  EXPECT_EQ(passed_over.contender->attempts(), 0) << "one call is still under way";
  EXPECT_FALSE(Queue().Leave(second.id));
  EXPECT_EQ(party_->Next(), passed_over.id);
  Release(&passed_over, "line");
}

TEST_F(WaitQueueTest, MoreLinesThanThreadsAreAllServed) {
  constexpr std::size_t kTimekeeper = 1;
  constexpr std::size_t kLines = WaitQueue::kMaxThreads + 36;
  std::vector<FakeLock> locks(kLines);
  std::map<RequestId, std::pair<std::size_t, Waiter>> waiters;
  std::vector<RequestId> heads(kLines);
  for (FakeLock& lock : locks) lock.Seize();
  for (int turn = 0; turn < 2; ++turn) {
    for (std::size_t line = 0; line < kLines; ++line) {
      Waiter waiter = Join("line " + std::to_string(line), &locks[line], party_);
      if (turn == 0) heads[line] = waiter.id;
      waiters.emplace(waiter.id, std::make_pair(line, std::move(waiter)));
    }
  }
  EXPECT_EQ(CountThreads(), threads_ + WaitQueue::kMaxThreads + kTimekeeper);
  for (FakeLock& lock : locks) lock.Free();
  for (std::size_t line = 0; line < kLines; ++line) Queue().Poke("line " + std::to_string(line));
  std::vector<int> served(kLines);
  for (std::size_t i = 0; i < 2 * kLines; ++i) {
    const RequestId id = party_->Next();
    ASSERT_NE(id, 0u);
    auto& [line, waiter] = waiters.at(id);
    if (served[line]++ == 0) {
      EXPECT_EQ(id, heads[line]);
    }
    Release(&waiter, "line " + std::to_string(line));
  }
  for (const FakeLock& lock : locks) EXPECT_FALSE(lock.violated());
}

TEST_F(WaitQueueTest, LinesThatShareAThreadArePolled) {
  constexpr std::size_t kLines = WaitQueue::kMaxThreads;
  FakeLock crowd_lock;
  crowd_lock.Seize();
  std::vector<Waiter> crowd;
  for (std::size_t line = 0; line < kLines; ++line) {
    crowd.push_back(Join("crowd " + std::to_string(line), &crowd_lock, party_));
  }
  lock_.Seize();
  Waiter waiter = Join("one too many", &lock_, party_);
  ASSERT_TRUE(Until([&] { return waiter.contender->attempts() > 1; })) << "tried without a poke";
  lock_.Free();
  EXPECT_EQ(party_->Next(), waiter.id);
  Release(&waiter, "one too many");
  for (const Waiter& other : crowd) EXPECT_FALSE(Queue().Leave(other.id));
}

// Many threads come, give up, are granted and release at once: what the sanitizers look at.
TEST_F(WaitQueueTest, ManyThreadsComeAndGoWithoutATrace) {
  constexpr int kThreads = 6;
  constexpr int kTurns = 300;
  std::vector<FakeLock> locks(3);
  std::atomic<int> granted{0};
  const auto visit = [&](unsigned seed) {
    std::mt19937 random(seed);
    const auto party = std::make_shared<FakeParty>();
    for (int turn = 0; turn < kTurns; ++turn) {
      const std::size_t which = random() % locks.size();
      const std::string line = "line " + std::to_string(which);
      const bool sync = random() % 2 == 0;
      auto contender = std::make_shared<FakeContender>(&locks[which]);
      RequestId id = 0;
      ASSERT_TRUE(
          Queue()
              .Enqueue(line, contender, party, sync ? WaitMode::kSync : WaitMode::kAsync, &id)
              .ok());
      if (random() % 4 != 0) {
        if (sync) {
          ASSERT_TRUE(Queue().WaitFor(id, kPatience));
        } else {
          // Requests that left after they were settled have been announced, too.
          RequestId told = 0;
          do {
            told = party->Next();
            ASSERT_NE(told, 0u);
          } while (told != id);
        }
        ASSERT_TRUE(Queue().Leave(id));
        ASSERT_EQ(contender.use_count(), 1);
        ++granted;
      } else {
        const bool settled = Queue().Leave(id);
        ASSERT_TRUE(!settled || contender.use_count() == 1);
      }
      contender.reset();
      if (random() % 2 == 0) Queue().Poke(line);
    }
  };
  std::vector<std::thread> visitors;
  for (int thread = 0; thread < kThreads; ++thread) {
    visitors.emplace_back(visit, static_cast<unsigned>(thread));
  }
  for (std::thread& visitor : visitors) visitor.join();
  EXPECT_GT(granted, kThreads * kTurns / 2);
  for (const FakeLock& lock : locks) EXPECT_FALSE(lock.violated());
  EXPECT_TRUE(Until([&] {
    return std::none_of(locks.begin(), locks.end(), [](const FakeLock& l) { return l.held(); });
  }));
}

}  // namespace
}  // namespace bucketlock
