#include "lockfile_inspection.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/handle.h"
#include "platform/process.h"
#include "temp_bucket.h"

namespace {

// What happens, once, before the next flock(2) of this thread: between the opening of a lockfile
// and the lock on it.
thread_local std::function<void()> before_flock;

}  // namespace

// In the place of the C library's.
extern "C" int flock(int descriptor, int operation) noexcept {
  if (const std::function<void()> happening = std::exchange(before_flock, nullptr)) happening();
  return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}

namespace bucketlock {
namespace {

constexpr char kOtherToken[] = "00000000000000000000000000000000";

class LockfileInspectionTest : public testing::Test {
 protected:
  LockReport Seen(bool trusted = false) const {
    const Look look = Inspect(bucket_.path(), trusted);
    EXPECT_EQ(look.outcome, LookOutcome::kSeen);
    return look.report;
  }

  // True: the record is gone.
  bool BreakWith(const std::string& token) const {
    const BreakResult result = Break(bucket_.path(), token, /*trusted=*/false);
    EXPECT_EQ(result.look.outcome, LookOutcome::kSeen);
    return result.gone;
  }

  // Of a process that is gone, as far as anybody can tell.
  OwnerRecord Foreign(const std::string& token) const {
    OwnerRecord owner;
    owner.process = CurrentProcess();
    owner.process.pid = static_cast<std::uint32_t>(GonePid());
    owner.token = token;
    owner.file_system = "nfs";
    owner.guarded = true;
    return owner;
  }

  void Plant(const OwnerRecord& owner) const {
    bucket_.Plant(WriteRecord(owner, RecordFormat::kFull));
  }

  TempBucket bucket_;
};

TEST_F(LockfileInspectionTest, NothingThereIsFree) {
  EXPECT_EQ(Seen().state, LockState::kFree);
  ASSERT_EQ(::rmdir(bucket_.path().c_str()), 0);
  EXPECT_EQ(Seen().state, LockState::kFree);
  EXPECT_TRUE(BreakWith(kOtherToken)) << "nothing there is gone";
}

TEST_F(LockfileInspectionTest, SeesAHolderAndChangesNothing) {
  const AttemptResult held = bucket_.Attempt();
  const std::string record = ReadFile(bucket_.lockfile());
  const LockReport report = Seen();
  EXPECT_EQ(report.state, LockState::kHeld);
  EXPECT_EQ(report.evidence, Evidence::kGuard);
  EXPECT_EQ(report.token, held.token);
  EXPECT_EQ(ReadFile(bucket_.lockfile()), record);
}

TEST_F(LockfileInspectionTest, SeesADeadHolderAndLeavesItThere) {
  for (const RecordFormat format : {RecordFormat::kFull, RecordFormat::kPidOnly}) {
    bucket_.PlantDead(format);
    const LockReport report = Seen();
    EXPECT_EQ(report.state, LockState::kStale);
    EXPECT_EQ(report.process, ProcessState::kGone);
    EXPECT_TRUE(Exists(bucket_.lockfile()));
    ASSERT_EQ(::unlink(bucket_.lockfile().c_str()), 0);
  }
}

TEST_F(LockfileInspectionTest, LooksDoNotLookLikeHoldersToEachOther) {
  // Its process lives, so a guard that somebody has would be believed to be its.
  const AttemptResult abandoned = bucket_.Attempt();
  abandoned.held->Abandon();
  const Handle looking(::open(bucket_.lockfile().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(static_cast<int>(looking.get()), LOCK_SH | LOCK_NB), 0);
  const LockReport report = Seen();
  EXPECT_EQ(report.process, ProcessState::kAlive);
  EXPECT_EQ(report.state, LockState::kStale);
  EXPECT_EQ(report.evidence, Evidence::kGuardFree);
}

TEST_F(LockfileInspectionTest, ManyLooksAtADeadLockSayTheSame) {
  bucket_.PlantDead();
  std::atomic<int> stale{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int look = 0; look < 100; ++look) {
        if (Seen().evidence == Evidence::kGuardFree) ++stale;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stale, 4 * 100);
}

TEST_F(LockfileInspectionTest, ADerivedTokenNamesOneStateOfOneFile) {
  bucket_.Plant("4242");
  const std::string token = Seen().token;
  EXPECT_EQ(token.compare(0, 4, "raw-"), 0);
  EXPECT_EQ(Seen().token, token);
  bucket_.Plant("4243");
  EXPECT_NE(Seen().token, token);
  EXPECT_FALSE(BreakWith(token));
  EXPECT_TRUE(Exists(bucket_.lockfile()));
  EXPECT_TRUE(BreakWith(Seen().token));
  EXPECT_FALSE(Exists(bucket_.lockfile()));
}

TEST_F(LockfileInspectionTest, WhatIsNoRegularFileIsInvalid) {
  ASSERT_EQ(::mkfifo(bucket_.lockfile().c_str(), 0666), 0);
  const Look look = Inspect(bucket_.path(), /*trusted=*/false);
  ASSERT_EQ(look.outcome, LookOutcome::kInvalid);
  EXPECT_EQ(look.invalid, InvalidReason::kLockfileNotRegular);
  const BreakResult broken = Break(bucket_.path(), kOtherToken, /*trusted=*/false);
  EXPECT_EQ(broken.look.outcome, LookOutcome::kInvalid);
  EXPECT_TRUE(Exists(bucket_.lockfile()));
}

TEST_F(LockfileInspectionTest, AHeldGuardIsNeverBroken) {
  const AttemptResult held = bucket_.Attempt();
  EXPECT_FALSE(BreakWith(held.token));
  EXPECT_EQ(held.held->Verify().outcome, HoldOutcome::kOurs);
}

TEST_F(LockfileInspectionTest, BreaksTheNamedRecordAlone) {
  bucket_.PlantDead();
  const std::string token = Seen().token;
  EXPECT_FALSE(BreakWith(kOtherToken));
  EXPECT_FALSE(BreakWith(""));
  EXPECT_TRUE(Exists(bucket_.lockfile()));
  EXPECT_TRUE(BreakWith(token));
  EXPECT_TRUE(bucket_.Names().empty());
}

TEST_F(LockfileInspectionTest, BreaksWhatIsHeldOnlyByItsProcess) {
  bucket_.Plant(std::to_string(::getpid()) + "\n");
  ASSERT_EQ(Seen().evidence, Evidence::kProcessAlive);
  EXPECT_TRUE(BreakWith(Seen().token));
  EXPECT_TRUE(bucket_.Names().empty());
}

TEST_F(LockfileInspectionTest, BreaksTheNamedForeignRecordAlone) {
  const std::string token(32, 'c');
  Plant(Foreign(token));
  ASSERT_EQ(Seen().evidence, Evidence::kForeign);
  EXPECT_FALSE(BreakWith(kOtherToken));
  EXPECT_EQ(bucket_.Names(), std::vector<std::string>{".lock"});
  EXPECT_TRUE(BreakWith(token));
  EXPECT_TRUE(bucket_.Names().empty());
}

TEST_F(LockfileInspectionTest, ALateBreakerLeavesTheNextHolderAlone) {
  const std::string token(32, 'c');
  for (const bool foreign : {true, false}) {
    std::string dead = token;
    if (foreign) {
      Plant(Foreign(token));
    } else {
      bucket_.PlantDead();
      dead = Seen().token;
    }
    AttemptResult next;
    ino_t published = 0;
    struct timespec changed = {};
    before_flock = [&] {
      EXPECT_TRUE(BreakWith(dead));
      next = bucket_.Attempt();
      struct stat info;
      ASSERT_EQ(::stat(bucket_.lockfile().c_str(), &info), 0);
      published = info.st_ino;
      changed = info.st_ctim;
    };
    EXPECT_TRUE(BreakWith(dead)) << "that record is gone";
    ASSERT_EQ(next.kind, ResultKind::kAcquired);
    struct stat info;
    ASSERT_EQ(::stat(bucket_.lockfile().c_str(), &info), 0);
    EXPECT_EQ(info.st_ino, published);
    EXPECT_EQ(info.st_ctim.tv_sec, changed.tv_sec) << "not even moved aside and put back";
    EXPECT_EQ(info.st_ctim.tv_nsec, changed.tv_nsec) << "not even moved aside and put back";
    EXPECT_EQ(next.held->Verify().outcome, HoldOutcome::kOurs);
    EXPECT_EQ(bucket_.Names(), std::vector<std::string>{".lock"});
    EXPECT_EQ(next.held->Release().outcome, HoldOutcome::kOurs);
  }
}

TEST_F(LockfileInspectionTest, AForeignRecordWhoseVeryProcessLivesIsNotBroken) {
  const std::string token(32, 'c');
  OwnerRecord owner = Foreign(token);
  owner.process = CurrentProcess();
  Plant(owner);
  ASSERT_EQ(Seen().process, ProcessState::kAlive);
  EXPECT_FALSE(BreakWith(token));
  EXPECT_EQ(ReadFile(bucket_.lockfile()), WriteRecord(owner, RecordFormat::kFull));

  // Its PID alone is no proof of it.
  owner.process.start += "0";
  Plant(owner);
  ASSERT_NE(Seen().process, ProcessState::kAlive);
  EXPECT_TRUE(BreakWith(token));
}

TEST_F(LockfileInspectionTest, AFullRecordWithoutAStartMayNameAnotherProcess) {
  const std::string token(32, 'c');
  OwnerRecord owner = Foreign(token);
  owner.process = CurrentProcess();
  owner.process.start.clear();
  Plant(owner);
  EXPECT_EQ(Seen().process, ProcessState::kUnknown);
  EXPECT_TRUE(BreakWith(token));
}

TEST_F(LockfileInspectionTest, AForeignRecordWhoseGuardIsHeldIsNotBroken) {
  const std::string token(32, 'c');
  Plant(Foreign(token));
  const Handle holder(::open(bucket_.lockfile().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(static_cast<int>(holder.get()), LOCK_EX | LOCK_NB), 0);
  EXPECT_FALSE(BreakWith(token));
  EXPECT_TRUE(Exists(bucket_.lockfile()));
}

}  // namespace
}  // namespace bucketlock
