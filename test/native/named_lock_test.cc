#include "named_lock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bucketlock {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Claim = std::unique_ptr<NamedClaim>;

NamedLocks& Locks() { return NamedLocks::OfProcess(); }

class CountingParty : public NamedParty {
 public:
  void Granted() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++told_;
    changed_.notify_all();
  }

  int told() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return told_;
  }

  // Blocks until another thread has told it of a grant; false: none does.
  bool Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!changed_.wait_for(lock, seconds(30), [this] { return told_ > awaited_; })) return false;
    ++awaited_;
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int told_ = 0;
  int awaited_ = 0;
};

using Party = std::shared_ptr<CountingParty>;

Claim Hold(const std::u16string& name, const Party& party) {
  NamedLook look;
  return Locks().TryClaim(name, std::nullopt, party, &look);
}

Claim Wait(const std::u16string& name, const Party& party, ClaimMode mode = ClaimMode::kAsync) {
  return Locks().Claim(name, std::nullopt, party, mode);
}

// A thread with a party in it that does what it is given to do, one thing after the other.
class Helper {
 public:
  Helper() : thread_([this] { Run(); }) {
    Do([this] { party_ = std::make_shared<CountingParty>(); });
  }

  ~Helper() {
    Do([this] { party_.reset(); });
    Post(nullptr);
    thread_.join();
  }

  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  const Party& party() const { return party_; }

  void Post(std::function<void()> work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_.push_back(std::move(work));
    changed_.notify_all();
  }

  void Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return work_.empty(); });
  }

  void Do(std::function<void()> work) {
    Post(std::move(work));
    Await();
  }

 private:
  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !work_.empty(); });
      const std::function<void()> work = work_.front();
      if (work != nullptr) {
        lock.unlock();
        work();
        lock.lock();
      }
      work_.erase(work_.begin());
      changed_.notify_all();
      if (work == nullptr) return;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> work_;
  Party party_;
  std::thread thread_;
};

class NamedLockTest : public testing::Test {
 protected:
  void TearDown() override {
    // Whatever a test does, no name is left.
    EXPECT_EQ(Locks().size(), 0U);
    EXPECT_EQ(party_.use_count(), 1) << "a claim of the party's is left";
  }

  Party party_ = std::make_shared<CountingParty>();
};

TEST_F(NamedLockTest, HasOneHolder) {
  const Claim first = Hold(u"a", party_);
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->Take());
  EXPECT_EQ(Hold(u"a", party_), nullptr);
}

TEST_F(NamedLockTest, NamesDoNotConcernEachOther) {
  const Claim first = Hold(u"a", party_);
  const Claim second = Hold(u"b", party_);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(Locks().size(), 2U);
}

TEST_F(NamedLockTest, ANameIsComparedInFull) {
  const Claim first = Hold(std::u16string(u"a\0b", 3), party_);
  const Claim second = Hold(std::u16string(u"a\0c", 3), party_);
  const Claim third = Hold(std::u16string(1, u'\xD800'), party_);
  const Claim fourth = Hold(std::u16string(1, u'\xFFFD'), party_);
  EXPECT_EQ(Locks().size(), 4U);
}

TEST_F(NamedLockTest, SaysWhoHoldsIt) {
  NamedLook look;
  const Claim holder = Locks().TryClaim(u"a", "why", party_, &look);
  EXPECT_EQ(Locks().TryClaim(u"a", std::nullopt, party_, &look), nullptr);
  ASSERT_TRUE(look.holder.has_value());
  EXPECT_EQ(look.holder->claim, holder->id());
  EXPECT_EQ(look.holder->label, "why");
  EXPECT_GT(look.holder->since_ms, 1'600'000'000'000);
  EXPECT_TRUE(look.own);
  const Claim waiter = Wait(u"a", party_);
  EXPECT_EQ(waiter->Holder()->claim, holder->id());
  EXPECT_FALSE(Locks().Look(u"b", *party_).holder.has_value());
}

TEST_F(NamedLockTest, OwnIsWhatTheThreadItselfHoldsOrWaitsFor) {
  Helper helper;
  const Claim held = Hold(u"a", party_);
  EXPECT_FALSE(Locks().Look(u"a", *helper.party()).own);
  Claim waiter;
  helper.Do([&] { waiter = Wait(u"a", helper.party()); });
  EXPECT_TRUE(Locks().Look(u"a", *helper.party()).own);
  helper.Do([&] { waiter.reset(); });
  EXPECT_FALSE(Locks().Look(u"a", *helper.party()).own);
  EXPECT_FALSE(Locks().Look(u"b", *party_).own);
}

TEST_F(NamedLockTest, GrantsInOrderOfArrival) {
  Claim holder = Hold(u"a", party_);
  std::vector<Claim> line;
  for (int i = 0; i < 100; ++i) line.push_back(Wait(u"a", party_));
  for (Claim& next : line) {
    EXPECT_FALSE(next->Take());
    holder = nullptr;
    EXPECT_EQ(party_->FetchGranted(), std::vector<ClaimId>{next->id()});
    EXPECT_TRUE(next->Take());
    holder = std::move(next);
  }
  EXPECT_EQ(party_->told(), 0) << "what its own calls bring about needs no telling";
}

TEST_F(NamedLockTest, GrantsInOrderOfArrivalWhicheverThreadTheyComeFrom) {
  Helper helpers[3];
  Claim holder = Hold(u"a", party_);
  std::vector<std::pair<Helper*, Claim>> line;
  for (int i = 0; i < 60; ++i) {
    Helper* const helper = &helpers[(i * i) % 3];
    helper->Do([&] { line.emplace_back(helper, Wait(u"a", helper->party())); });
  }
  holder = nullptr;
  for (std::size_t i = 0; i < line.size(); ++i) {
    Helper* const helper = line[i].first;
    helper->Do([&] {
      EXPECT_TRUE(line[i].second->Take());
      for (std::size_t k = i + 1; k < line.size(); ++k) {
        if (line[k].first != helper) continue;
        EXPECT_FALSE(line[k].second->Take());
      }
      line[i].second = nullptr;
    });
  }
}

TEST_F(NamedLockTest, TellsAnotherThreadOnceUntilItFetches) {
  Helper helper;
  Claim first = Hold(u"a", party_);
  Claim second = Hold(u"b", party_);
  std::vector<Claim> line;
  helper.Do([&] {
    line.push_back(Wait(u"a", helper.party()));
    line.push_back(Wait(u"b", helper.party()));
  });
  first = nullptr;
  second = nullptr;
  EXPECT_EQ(helper.party()->told(), 1);
  helper.Do([&] {
    EXPECT_EQ(helper.party()->FetchGranted(), (std::vector<ClaimId>{line[0]->id(), line[1]->id()}));
    line.clear();
  });
}

TEST_F(NamedLockTest, AClaimOnAFreeNameIsGrantedAtOnce) {
  const Claim claim = Wait(u"a", party_);
  EXPECT_EQ(party_->FetchGranted(), std::vector<ClaimId>{claim->id()});
  EXPECT_TRUE(claim->Take());
}

TEST_F(NamedLockTest, AWaiterThatIsDroppedIsNeverGranted) {
  Claim holder = Hold(u"a", party_);
  Claim first = Wait(u"a", party_);
  const Claim second = Wait(u"a", party_);
  first = nullptr;
  holder = nullptr;
  EXPECT_TRUE(second->Take());
}

TEST_F(NamedLockTest, AGrantThatNobodyTakesGoesToTheNext) {
  Claim holder = Hold(u"a", party_);
  Claim first = Wait(u"a", party_);
  const Claim second = Wait(u"a", party_);
  holder = nullptr;
  EXPECT_EQ(Hold(u"a", party_), nullptr);
  first = nullptr;
  EXPECT_TRUE(second->Take());
}

TEST_F(NamedLockTest, ASynchronousWaitEndsWithTheRelease) {
  Helper helper;
  Claim holder = Hold(u"a", party_);
  std::atomic<bool> waits{false};
  std::atomic<bool> taken{false};
  helper.Post([&] {
    const Claim claim = Wait(u"a", helper.party(), ClaimMode::kSync);
    EXPECT_FALSE(claim->WaitFor(milliseconds(1)));
    waits = true;
    EXPECT_TRUE(claim->WaitFor(std::chrono::hours(1)));
    taken = claim->Take();
  });
  while (!waits) std::this_thread::yield();
  EXPECT_FALSE(taken);
  holder = nullptr;
  helper.Await();
  EXPECT_TRUE(taken);
}

TEST_F(NamedLockTest, ASynchronousWaitPassesOverTheOtherClaimsOfItsThread) {
  Helper other;
  Helper third;
  Claim held = Hold(u"a", party_);
  const Claim before = Wait(u"a", party_);
  Claim theirs;
  other.Do([&] { theirs = Wait(u"a", other.party()); });
  Claim blocker;
  third.Do([&] { blocker = Hold(u"b", third.party()); });
  Claim sync = Wait(u"b", party_, ClaimMode::kSync);
  held = nullptr;
  EXPECT_FALSE(before->Take());
  other.Do([&] {
    EXPECT_TRUE(theirs->Take());
    theirs = nullptr;
  });
  // Free, for nobody who waits can take it: whoever comes now gets it.
  EXPECT_FALSE(before->Take());
  EXPECT_FALSE(Locks().Look(u"a", *party_).holder.has_value());
  third.Do([&] {
    EXPECT_NE(Hold(u"a", third.party()), nullptr);
    EXPECT_TRUE(Wait(u"a", third.party())->Take());
    EXPECT_TRUE(Wait(u"a", third.party(), ClaimMode::kSync)->Take());
  });
  sync = nullptr;
  EXPECT_EQ(party_->FetchGranted(), std::vector<ClaimId>{before->id()});
  EXPECT_TRUE(before->Take());
  third.Do([&] { blocker = nullptr; });
}

TEST_F(NamedLockTest, TakingASynchronousClaimEndsThePassingOver) {
  Helper other;
  Claim held;
  other.Do([&] { held = Hold(u"a", other.party()); });
  const Claim waiting = Wait(u"a", party_);
  const Claim sync = Wait(u"b", party_, ClaimMode::kSync);
  EXPECT_TRUE(sync->WaitFor(milliseconds(0)));
  other.Do([&] { held = nullptr; });
  EXPECT_FALSE(waiting->Take());
  EXPECT_TRUE(sync->Take());
  EXPECT_TRUE(waiting->Take());
}

TEST_F(NamedLockTest, ASynchronousWaitHandsOnWhatItsThreadHasNotTaken) {
  Helper other;
  Claim held = Hold(u"a", party_);
  const Claim first = Wait(u"a", party_);
  const Claim second = Wait(u"a", party_);
  Claim theirs;
  other.Do([&] { theirs = Wait(u"a", other.party()); });
  held = nullptr;
  EXPECT_EQ(party_->FetchGranted(), std::vector<ClaimId>{first->id()});
  Claim sync = Wait(u"b", party_, ClaimMode::kSync);
  EXPECT_EQ(other.party()->told(), 1);
  other.Do([&] {
    EXPECT_TRUE(theirs->Take());
    theirs = nullptr;
  });
  sync = nullptr;
  // It has kept its place.
  EXPECT_EQ(party_->FetchGranted(), std::vector<ClaimId>{first->id()});
  EXPECT_TRUE(first->Take());
  EXPECT_FALSE(second->Take());
}

TEST_F(NamedLockTest, ASynchronousClaimGetsWhatItsOwnThreadHasNotTaken) {
  Claim held = Hold(u"a", party_);
  const Claim first = Wait(u"a", party_);
  held = nullptr;
  Claim sync = Wait(u"a", party_, ClaimMode::kSync);
  EXPECT_TRUE(sync->Take());
  EXPECT_FALSE(first->Take());
  sync = nullptr;
  EXPECT_TRUE(first->Take());
}

TEST_F(NamedLockTest, ASynchronousWaitBlocksAllPartiesOfItsThread) {
  const Party copy = std::make_shared<CountingParty>();
  Helper other;
  Claim held;
  other.Do([&] { held = Hold(u"a", other.party()); });
  const Claim waiting = Wait(u"a", copy);
  Claim sync = Wait(u"b", party_, ClaimMode::kSync);
  other.Do([&] { held = nullptr; });
  EXPECT_FALSE(waiting->Take());
  sync = nullptr;
  EXPECT_EQ(copy->told(), 1) << "the call that ended the wait was another party's";
  EXPECT_TRUE(waiting->Take());
}

TEST_F(NamedLockTest, ALineThatOnlyPassedOverClaimsAreInEndsWithThem) {
  Helper other;
  Claim held;
  other.Do([&] { held = Hold(u"a", other.party()); });
  Claim waiting = Wait(u"a", party_);
  Claim sync = Wait(u"b", party_, ClaimMode::kSync);
  other.Do([&] { held = nullptr; });
  waiting = nullptr;
  EXPECT_EQ(Locks().size(), 1U);
  sync = nullptr;
  EXPECT_EQ(Locks().size(), 0U);
}

TEST_F(NamedLockTest, SynchronousClaimsOfSeveralThreadsAreServedInOrder) {
  Helper helpers[4];
  Claim holder = Hold(u"a", party_);
  std::vector<int> order;
  for (int i = 0; i < 4; ++i) {
    std::mutex mutex;
    std::condition_variable stands;
    bool in_line = false;
    helpers[i].Post([&, i] {
      const Claim claim = Wait(u"a", helpers[i].party(), ClaimMode::kSync);
      {
        const std::lock_guard<std::mutex> lock(mutex);
        in_line = true;
        stands.notify_all();
      }
      while (!claim->WaitFor(milliseconds(50))) continue;
      EXPECT_TRUE(claim->Take());
      order.push_back(i);
    });
    std::unique_lock<std::mutex> lock(mutex);
    stands.wait(lock, [&] { return in_line; });
  }
  holder = nullptr;
  for (Helper& helper : helpers) helper.Await();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(NamedLockTest, OneOfAHundredThousandWaitersLeavesWithoutATouchOfTheOthers) {
  constexpr std::size_t kWaiters = 100'000;
  Claim holder = Hold(u"a", party_);
  std::vector<Claim> line;
  for (std::size_t i = 0; i < kWaiters; ++i) line.push_back(Wait(u"a", party_));
  std::shuffle(line.begin(), line.end(), std::mt19937(1));
  // Searching the line for each would take 5 * 10^9 steps.
  while (line.size() > 1) line.pop_back();
  holder = nullptr;
  EXPECT_TRUE(line.front()->Take());
}

// Threads take, wait for, abandon and release a few names at random, by both faces.
TEST_F(NamedLockTest, NeverHasTwoHoldersAndForgetsNobody) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 2'000;
  const std::u16string names[] = {u"a", u"b", u"c"};
  std::atomic<int> holders[3] = {};
  std::atomic<bool> violated{false};
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const Party party = std::make_shared<CountingParty>();
      std::mt19937 random(static_cast<unsigned>(thread));
      std::map<ClaimId, std::pair<std::size_t, Claim>> waiting;
      const auto use = [&](std::size_t at, Claim claim) {
        if (holders[at].fetch_add(1) != 0) violated = true;
        if (random() % 4 == 0) std::this_thread::yield();
        holders[at].fetch_sub(1);
        ++granted;
        claim = nullptr;
      };
      const auto deliver = [&] {
        // Each use may bring about the next.
        for (auto ids = party->FetchGranted(); !ids.empty(); ids = party->FetchGranted()) {
          for (const ClaimId id : ids) {
            const auto found = waiting.find(id);
            if (found == waiting.end() || !found->second.second->Take()) continue;
            auto [at, claim] = std::move(found->second);
            waiting.erase(found);
            use(at, std::move(claim));
          }
        }
      };
      for (int turn = 0; turn < kTurns; ++turn) {
        const std::size_t at = random() % 3;
        switch (random() % 5) {
          case 0: {
            Claim claim = Hold(names[at], party);
            if (claim != nullptr) use(at, std::move(claim));
            break;
          }
          case 1: {
            Claim claim = Wait(names[at], party, ClaimMode::kSync);
            if (random() % 2 == 0) {
              while (!claim->WaitFor(milliseconds(50))) continue;
              EXPECT_TRUE(claim->Take());
              use(at, std::move(claim));
            }
            break;
          }
          case 2:
            if (!waiting.empty()) waiting.erase(waiting.begin());
            break;
          default: {
            Claim claim = Wait(names[at], party);
            const ClaimId id = claim->id();
            waiting.emplace(id, std::make_pair(at, std::move(claim)));
          }
        }
        if (random() % 2 == 0) deliver();
      }
      deliver();
      while (!waiting.empty()) {
        EXPECT_TRUE(party->Await()) << waiting.size() << " were forgotten";
        deliver();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(violated);
  EXPECT_GT(granted, kThreads * kTurns / 4);
}

}  // namespace
}  // namespace bucketlock
