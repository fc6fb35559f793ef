#include "held_lockfile.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lockfile.h"
#include "lockfile_inspection.h"
#include "temp_bucket.h"

namespace bucketlock {
namespace {

class HeldLockfileTest : public testing::Test {
 protected:
  std::shared_ptr<HeldLockfile> Acquire() {
    AttemptResult result = bucket_.Attempt();
    EXPECT_EQ(result.kind, ResultKind::kAcquired);
    return std::move(result.held);
  }

  TempBucket bucket_;
};

void ExpectLost(const HoldResult& result, LostReason reason) {
  EXPECT_EQ(result.outcome, HoldOutcome::kLost);
  EXPECT_EQ(result.lost, reason);
}

TEST_F(HeldLockfileTest, ReleaseRemovesTheLockfileAndNothingElse) {
  bucket_.Plant("kept", "neighbour");
  const std::shared_ptr<HeldLockfile> held = Acquire();
  EXPECT_EQ(held->directory_path(), bucket_.path());
  EXPECT_EQ(held->Verify().outcome, HoldOutcome::kOurs);
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs);
  EXPECT_EQ(bucket_.Names(), std::vector<std::string>{"neighbour"});
}

TEST_F(HeldLockfileTest, AReleaseIsAnsweredTheSameForEver) {
  const std::shared_ptr<HeldLockfile> held = Acquire();
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs);
  const std::shared_ptr<HeldLockfile> next = Acquire();
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs);
  EXPECT_EQ(held->Verify().outcome, HoldOutcome::kOurs);
  held->Abandon();
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs);
  EXPECT_EQ(next->Verify().outcome, HoldOutcome::kOurs) << "the next holder's is untouched";
}

TEST_F(HeldLockfileTest, ReleaseClosesWhatItHadOpen) {
  const std::vector<int> before = Descriptors();
  const std::shared_ptr<HeldLockfile> held = Acquire();
  EXPECT_EQ(Descriptors().size(), before.size() + 2) << "the lockfile and its directory";
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs);
  EXPECT_EQ(Descriptors(), before);
}

TEST_F(HeldLockfileTest, ADestroyedHandleHasReleased) {
  Acquire().reset();
  EXPECT_TRUE(bucket_.Names().empty());
}

TEST_F(HeldLockfileTest, ARemovedLockfileIsLost) {
  const std::shared_ptr<HeldLockfile> held = Acquire();
  ASSERT_EQ(::unlink(bucket_.lockfile().c_str()), 0);
  ExpectLost(held->Verify(), LostReason::kRemoved);
  ExpectLost(held->Release(), LostReason::kRemoved);
  ExpectLost(held->Release(), LostReason::kRemoved);
}

TEST_F(HeldLockfileTest, AReplacedLockfileIsLostAndTheOthersStays) {
  const std::shared_ptr<HeldLockfile> held = Acquire();
  ASSERT_EQ(::unlink(bucket_.lockfile().c_str()), 0);
  bucket_.Plant("4242\n");
  ExpectLost(held->Verify(), LostReason::kReplaced);
  ExpectLost(held->Release(), LostReason::kReplaced);
  EXPECT_EQ(ReadFile(bucket_.lockfile()), "4242\n");
}

TEST_F(HeldLockfileTest, ACopyOfTheLockfileIsNotTheLockfile) {
  const std::shared_ptr<HeldLockfile> held = Acquire();
  const std::string record = ReadFile(bucket_.lockfile());
  ASSERT_EQ(::unlink(bucket_.lockfile().c_str()), 0);
  bucket_.Plant(record);
  ExpectLost(held->Release(), LostReason::kReplaced);
  EXPECT_EQ(ReadFile(bucket_.lockfile()), record);
}

TEST_F(HeldLockfileTest, ARewrittenLockfileIsStillOurs) {
  const std::shared_ptr<HeldLockfile> held = Acquire();
  bucket_.Plant("scribble");
  EXPECT_EQ(held->Verify().outcome, HoldOutcome::kOurs);
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs);
  EXPECT_TRUE(bucket_.Names().empty());
}

TEST_F(HeldLockfileTest, ARenamedBucketReleasesWell) {
  const std::shared_ptr<HeldLockfile> held = Acquire();
  const std::string moved = bucket_.parent() + "/moved";
  ASSERT_EQ(std::rename(bucket_.path().c_str(), moved.c_str()), 0);
  ASSERT_EQ(::mkdir(bucket_.path().c_str(), 0755), 0);
  bucket_.Plant("4242\n");
  EXPECT_EQ(held->Verify().outcome, HoldOutcome::kOurs);
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs);
  EXPECT_FALSE(Exists(moved + "/.lock"));
  EXPECT_TRUE(Exists(bucket_.lockfile())) << "the new directory's lockfile is another";
}

TEST_F(HeldLockfileTest, AnAbandonedLockfileIsDead) {
  const std::shared_ptr<HeldLockfile> held = Acquire();
  held->Abandon();
  ASSERT_TRUE(Exists(bucket_.lockfile()));
  const Look look = Inspect(bucket_.path(), /*trusted=*/false);
  EXPECT_EQ(look.report.state, LockState::kStale);
  EXPECT_EQ(look.report.evidence, Evidence::kGuardFree);
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kLost);
  EXPECT_EQ(Acquire()->Release().outcome, HoldOutcome::kOurs);
}

TEST_F(HeldLockfileTest, AForkedChildOnlyCloses) {
  const std::shared_ptr<HeldLockfile> held = Acquire();
  const int failed_check = InChild([&] {
    const std::size_t before = Descriptors().size();
    const HoldResult verified = held->Verify();
    if (verified.outcome != HoldOutcome::kLost) return 1;
    if (verified.lost != LostReason::kOtherProcess) return 2;
    const HoldResult released = held->Release();
    if (released.outcome != HoldOutcome::kLost) return 3;
    if (released.lost != LostReason::kOtherProcess) return 4;
    if (Descriptors().size() != before - 2) return 5;
    return bucket_.Attempt().kind == ResultKind::kBusy ? 0 : 6;
  });
  EXPECT_EQ(failed_check, 0);
  EXPECT_EQ(held->Verify().outcome, HoldOutcome::kOurs);
  // Another open of the file finds the guard held.
  const AttemptResult other = bucket_.Attempt();
  EXPECT_EQ(other.kind, ResultKind::kBusy);
  EXPECT_EQ(other.report.evidence, Evidence::kGuard);
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs);
  EXPECT_TRUE(bucket_.Names().empty());
}

TEST_F(HeldLockfileTest, AForkedChildThatDropsOrAbandonsTheHandleTakesNothingFromItsParent) {
  std::shared_ptr<HeldLockfile> held = Acquire();
  EXPECT_EQ(InChild([&] {
              held.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(InChild([&] {
              held->Abandon();
              return 0;
            }),
            0);
  EXPECT_EQ(bucket_.Attempt().report.evidence, Evidence::kGuard);
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs);
}

TEST_F(HeldLockfileTest, AReleaseFreesTheGuardThoughAForkedChildStillHasTheFile) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  std::shared_ptr<HeldLockfile> held = Acquire();
  const pid_t child = ::fork();
  if (child == 0) {
    // Lives, with every descriptor it inherited, until the parent is done.
    ::close(gate[1]);
    char byte;
    ::_exit(static_cast<int>(::read(gate[0], &byte, 1)));
  }
  ASSERT_GT(child, 0);
  held->Abandon();
  const AttemptResult next = bucket_.Attempt();
  EXPECT_EQ(next.kind, ResultKind::kAcquired) << "unlocked, not only closed";
  ::close(gate[0]);
  ::close(gate[1]);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(HeldLockfileTest, AReleaseThatTheSystemRefusesCanBeRepeated) {
  const std::shared_ptr<HeldLockfile> held = Acquire();
  // Others may look into the directory, and not write in it.
  const bool root = ::geteuid() == 0;
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(root ? ::seteuid(kNobody) : ::chmod(bucket_.path().c_str(), 0555), 0);
  const HoldResult refused = held->Release();
  const HoldResult meanwhile = held->Verify();
  ASSERT_EQ(root ? ::seteuid(0) : ::chmod(bucket_.path().c_str(), 0755), 0);
  EXPECT_EQ(refused.outcome, HoldOutcome::kFailed);
  EXPECT_EQ(refused.status.system_error, EACCES);
  EXPECT_STREQ(refused.status.operation, "unlink");
  EXPECT_EQ(meanwhile.outcome, HoldOutcome::kOurs);
  EXPECT_EQ(bucket_.Attempt().report.evidence, Evidence::kGuard);
  EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs);
  EXPECT_TRUE(bucket_.Names().empty());
}

TEST_F(HeldLockfileTest, OfManyThreadsThatReleaseAllHearTheSame) {
  for (int round = 0; round < 50; ++round) {
    const std::shared_ptr<HeldLockfile> held = Acquire();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] { EXPECT_EQ(held->Release().outcome, HoldOutcome::kOurs); });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(bucket_.Names().empty());
  }
}

}  // namespace
}  // namespace bucketlock
