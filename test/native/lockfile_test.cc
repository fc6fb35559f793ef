#include "lockfile.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "lockfile_birth.h"
#include "lockfile_inspection.h"
#include "lockfile_view.h"
#include "owner_record.h"
#include "platform/file.h"
#include "platform/handle.h"
#include "platform/process.h"
#include "private_files.h"
#include "temp_bucket.h"

namespace bucketlock {
namespace {

constexpr RecordFormat kFormats[] = {RecordFormat::kFull, RecordFormat::kPidOnly};

class LockfileTest : public testing::Test {
 protected:
  ParsedRecord Record() const { return ParseRecord(ReadFile(bucket_.lockfile()), MaxPid()); }

  // A well-formed full record of ours, which a test then falsifies.
  OwnerRecord Owner() const {
    OwnerRecord owner;
    owner.process = CurrentProcess();
    EXPECT_TRUE(MakeToken(&owner.token).ok());
    owner.file_system = bucket_.FileSystem();
    owner.guarded = true;
    owner.since_ms = 1700000000000;
    return owner;
  }

  void Plant(const OwnerRecord& owner) const {
    bucket_.Plant(WriteRecord(owner, RecordFormat::kFull));
  }

  // The next attempt removes what is there and gets in.
  void ExpectDead() const {
    const AttemptResult result = bucket_.Attempt();
    ASSERT_EQ(result.kind, ResultKind::kAcquired) << ReadFile(bucket_.lockfile());
    ASSERT_TRUE(result.reclaimed.has_value()) << "says what it removed";
    EXPECT_EQ(result.reclaimed->state, LockState::kStale);
    EXPECT_EQ(bucket_.Names(), std::vector<std::string>{".lock"}) << "nothing else is left";
  }

  void ExpectHeld(Evidence evidence) const {
    const std::string before = ReadFile(bucket_.lockfile());
    const AttemptResult result = bucket_.Attempt();
    ASSERT_EQ(result.kind, ResultKind::kBusy);
    EXPECT_EQ(result.report.state, LockState::kHeld);
    EXPECT_EQ(result.report.evidence, evidence);
    EXPECT_FALSE(result.reclaimed.has_value());
    EXPECT_EQ(ReadFile(bucket_.lockfile()), before) << "left as it was";
  }

  // One attempt at a lockfile that was surely written less than two seconds before, however slow
  // the machine.
  AttemptResult AttemptAtYoung(const std::string& bytes, AttemptMemory* memory) const {
    for (;;) {
      const auto start = std::chrono::steady_clock::now();
      bucket_.Plant(bytes);
      AttemptResult result = AttemptAcquire(bucket_.Spec(), memory);
      if (std::chrono::steady_clock::now() - start < kUnstampedGrace) return result;
    }
  }

  void ExpectInvalid(InvalidReason reason) const {
    const AttemptResult result = bucket_.Attempt();
    ASSERT_EQ(result.kind, ResultKind::kInvalid);
    EXPECT_EQ(result.invalid, reason);
  }

  TempBucket bucket_;
};

TEST_F(LockfileTest, AFullRecordTellsWhoHolds) {
  BucketSpec spec = bucket_.Spec();
  spec.label = "nightly \"backup\"\n";
  AttemptMemory memory;
  const AttemptResult result = AttemptAcquire(spec, &memory);
  ASSERT_EQ(result.kind, ResultKind::kAcquired);
  EXPECT_FALSE(result.reclaimed.has_value());
  const ParsedRecord record = Record();
  ASSERT_EQ(record.kind, RecordKind::kFull);
  const ProcessIdentity self = CurrentProcess();
  EXPECT_EQ(record.owner.process.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(record.owner.process.start, self.start);
  EXPECT_EQ(record.owner.process.boot, self.boot);
  EXPECT_EQ(record.owner.process.host, self.host);
  EXPECT_EQ(record.owner.token, result.token);
  EXPECT_EQ(record.owner.file_system, bucket_.FileSystem());
  EXPECT_EQ(record.owner.guarded, CanPromiseGuard(bucket_.FileSystem(), RecordFormat::kFull));
  EXPECT_EQ(record.owner.label, spec.label);
  EXPECT_NEAR(static_cast<double>(record.owner.since_ms / 1000),
              static_cast<double>(std::time(nullptr)), 60);
}

TEST_F(LockfileTest, APidOnlyRecordIsThePid) {
  const AttemptResult result = bucket_.Attempt(RecordFormat::kPidOnly);
  ASSERT_EQ(result.kind, ResultKind::kAcquired);
  const bool guarded = CanPromiseGuard(bucket_.FileSystem(), RecordFormat::kPidOnly);
  EXPECT_EQ(ReadFile(bucket_.lockfile()), std::to_string(::getpid()) + (guarded ? " \n" : "\n"));
  EXPECT_EQ(Inspect(bucket_.path(), /*trusted=*/false).report.token, result.token);
}

TEST_F(LockfileTest, AHeldLockIsBusyAndTheReportTellsWhoHoldsIt) {
  BucketSpec spec = bucket_.Spec();
  spec.label = "backup";
  AttemptMemory memory;
  const AttemptResult held = AttemptAcquire(spec, &memory);
  const AttemptResult result = bucket_.Attempt();
  ASSERT_EQ(result.kind, ResultKind::kBusy);
  EXPECT_EQ(result.report.state, LockState::kHeld);
  EXPECT_EQ(result.report.evidence, Evidence::kGuard);
  EXPECT_EQ(result.report.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(result.report.process, ProcessState::kAlive);
  EXPECT_TRUE(result.report.this_process);
  EXPECT_EQ(result.report.label, "backup");
  EXPECT_EQ(result.report.host, CurrentProcess().host);
  EXPECT_EQ(result.report.token, held.token);
  EXPECT_EQ(result.report.file_system, bucket_.FileSystem());
}

TEST_F(LockfileTest, EitherFormatExcludesTheOther) {
  for (const RecordFormat first : kFormats) {
    for (const RecordFormat second : kFormats) {
      const AttemptResult held = bucket_.Attempt(first);
      ASSERT_EQ(held.kind, ResultKind::kAcquired);
      EXPECT_EQ(bucket_.Attempt(second).report.evidence, Evidence::kGuard);
      EXPECT_EQ(held.held->Release().outcome, HoldOutcome::kOurs);
    }
  }
}

TEST_F(LockfileTest, EveryAcquireHasATokenOfItsOwn) {
  std::string last;
  for (int turn = 0; turn < 8; ++turn) {
    const AttemptResult result = bucket_.Attempt();
    ASSERT_EQ(result.kind, ResultKind::kAcquired);
    EXPECT_EQ(result.token.size(), 32u);
    EXPECT_NE(result.token, last);
    last = result.token;
  }
}

TEST_F(LockfileTest, TheModeIsExactWhateverTheUmask) {
  for (const mode_t mask : {mode_t{0000}, mode_t{0022}, mode_t{0077}, mode_t{0777}}) {
    for (const unsigned mode : {0600u, 0640u, 0664u, 0666u}) {
      BucketSpec spec = bucket_.Spec();
      spec.mode = mode;
      AttemptMemory memory;
      const mode_t before = ::umask(mask);
      const AttemptResult result = AttemptAcquire(spec, &memory);
      ::umask(before);
      ASSERT_EQ(result.kind, ResultKind::kAcquired);
      struct stat info;
      ASSERT_EQ(::stat(bucket_.lockfile().c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 07777, mode) << std::oct << "umask " << mask;
    }
  }
}

TEST_F(LockfileTest, AHolderThatDiedIsSucceededAtOnce) {
  for (const RecordFormat format : kFormats) {
    bucket_.PlantDead(format);
    ExpectDead();
  }
}

TEST_F(LockfileTest, AGuardedRecordWithAFreeGuardIsDeadWhateverItsProcessDoes) {
  OwnerRecord owner = Owner();
  Plant(owner);
  ExpectDead();
  owner.process.pid = 1;
  Plant(owner);
  ExpectDead();
  owner.process.boot = "another boot";
  Plant(owner);
  ExpectDead();
  owner.process.host = "another host";
  owner.process.start = "1:1";
  Plant(owner);
  ExpectDead();
  if (CanPromiseGuard(bucket_.FileSystem(), RecordFormat::kPidOnly)) {
    bucket_.Plant(std::to_string(::getpid()) + " \n");
    ExpectDead();
  }
}

TEST_F(LockfileTest, ADeadLockThatSomebodyLooksAtIsTakenAsSoonAsTheLookEnds) {
  OwnerRecord alive = Owner();
  OwnerRecord unknown = Owner();
  unknown.process.host = "another host";
  unknown.process.start = "1:1";
  OwnerRecord gone = Owner();
  gone.process.pid = static_cast<std::uint32_t>(GonePid());
  for (const OwnerRecord& owner : {alive, unknown, gone}) {
    Plant(owner);
    const Handle looking(::open(bucket_.lockfile().c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(static_cast<int>(looking.get()), LOCK_SH | LOCK_NB), 0);
    const AttemptResult result = bucket_.Attempt();
    ASSERT_EQ(result.kind, ResultKind::kBusy) << "a look is not disturbed";
    EXPECT_EQ(result.report.state, LockState::kStale);
    EXPECT_EQ(result.report.evidence, Evidence::kGuardFree);
    EXPECT_EQ(result.report.token, owner.token);
    EXPECT_EQ(Record().owner.token, owner.token) << "left as it was";
    ASSERT_EQ(::flock(static_cast<int>(looking.get()), LOCK_UN), 0);
    ExpectDead();
  }
}

TEST_F(LockfileTest, AFullRecordThatPromisesNothingIsHeldUnlessTheUserTrusts) {
  OwnerRecord owner = Owner();
  owner.guarded = false;
  Plant(owner);
  ExpectHeld(Evidence::kUnknown);
  BucketSpec spec = bucket_.Spec();
  spec.trusted = true;
  AttemptMemory memory;
  EXPECT_EQ(AttemptAcquire(spec, &memory).kind, ResultKind::kAcquired);
}

TEST_F(LockfileTest, ARecordFromOffTheListIsForeignUnlessTheUserTrusts) {
  const bool overlay = bucket_.FileSystem() == "overlay";
  for (const char* const recorded : {"nfs", "fuse", "", overlay ? "ext" : "overlay"}) {
    OwnerRecord owner = Owner();
    owner.file_system = recorded;
    Plant(owner);
    ExpectHeld(Evidence::kForeign);
    BucketSpec spec = bucket_.Spec();
    spec.trusted = true;
    AttemptMemory memory;
    EXPECT_EQ(AttemptAcquire(spec, &memory).kind, ResultKind::kAcquired) << recorded;
  }
}

TEST_F(LockfileTest, APidOnlyRecordIsJudgedByItsProcess) {
  bucket_.Plant(std::to_string(::getpid()) + "\n");
  ExpectHeld(Evidence::kProcessAlive);
  bucket_.Plant("1\n");
  ExpectHeld(Evidence::kProcessAlive);
  bucket_.Plant(std::to_string(GonePid()) + "\n");
  ExpectDead();
  bucket_.Plant(std::to_string(MaxPid()) + "\n");
  ExpectDead();
}

TEST_F(LockfileTest, AnUnknownVersionIsHeldHoweverOld) {
  bucket_.Plant("1\n{\"v\":2}\n");
  bucket_.Date(-3600);
  ExpectHeld(Evidence::kUnknown);
}

TEST_F(LockfileTest, AMalformedRecordIsHeldWhileYoungAndDeadWhenTwoSecondsOld) {
  for (const std::string& bytes : {std::string(), std::string("4242"), std::string("0\n"),
                                   std::string(4096, '\0'), std::string(1 << 20, 'x'),
                                   std::string("\x7f"
                                               "ELF\xff\xfe")}) {
    AttemptMemory memory;
    const AttemptResult young = AttemptAtYoung(bytes, &memory);
    ASSERT_EQ(young.kind, ResultKind::kBusy);
    EXPECT_EQ(young.report.evidence, Evidence::kUnstamped);
    EXPECT_EQ(ReadFile(bucket_.lockfile()), bytes) << "left as it was";
    bucket_.Date(-3);
    ExpectDead();
  }
}

TEST_F(LockfileTest, AMalformedRecordFromTheFutureIsDatedNow) {
  bucket_.Plant("4242");
  bucket_.Date(3600);
  ExpectHeld(Evidence::kUnstamped);
  struct stat info;
  ASSERT_EQ(::stat(bucket_.lockfile().c_str(), &info), 0);
  EXPECT_LE(info.st_mtim.tv_sec, std::time(nullptr));
}

TEST_F(LockfileTest, AMalformedRecordFromAFarFutureIsNotOld) {
  // More than 60 years; four times that is more nanoseconds than fit 64 bits.
  constexpr std::time_t kLifetime = 2000000000;
  for (int lifetimes = 1; lifetimes <= 4; ++lifetimes) {
    bucket_.Plant("4242");
    struct timespec then = {};
    then.tv_sec = std::time(nullptr) + lifetimes * kLifetime;
    const struct timespec times[2] = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, bucket_.lockfile().c_str(), times, 0), 0);
    ExpectHeld(Evidence::kUnstamped);
  }
}

TEST_F(LockfileTest, AMalformedRecordWatchedUnchangedForTwoSecondsIsDead) {
  AttemptMemory memory;
  ASSERT_EQ(AttemptAtYoung("4242", &memory).kind, ResultKind::kBusy);
  // As if the watch had begun so much earlier; the file's own date stays young.
  memory.unstamped_since -= kUnstampedGrace;
  ASSERT_EQ(AttemptAtYoung("424", &memory).kind, ResultKind::kBusy) << "changed: watched anew";
  memory.unstamped_since -= kUnstampedGrace;
  EXPECT_EQ(AttemptAcquire(bucket_.Spec(), &memory).kind, ResultKind::kAcquired);
}

TEST_F(LockfileTest, WhatIsNoRegularFileIsNoLockfileAndStays) {
  const std::string path = bucket_.lockfile();
  ASSERT_EQ(::mkdir(path.c_str(), 0755), 0);
  ExpectInvalid(InvalidReason::kLockfileNotRegular);
  ASSERT_EQ(::rmdir(path.c_str()), 0);

  for (const char* const target : {"nowhere", "neighbour"}) {
    bucket_.Plant("4242", "neighbour");
    ASSERT_EQ(::symlink(target, path.c_str()), 0);
    ExpectInvalid(InvalidReason::kLockfileNotRegular);
    EXPECT_EQ(ReadFile(bucket_.path() + "/neighbour"), "4242");
    ASSERT_EQ(::unlink(path.c_str()), 0);
  }

  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
  ExpectInvalid(InvalidReason::kLockfileNotRegular);
  ASSERT_EQ(::unlink(path.c_str()), 0);

  ASSERT_EQ(::mknod(path.c_str(), S_IFSOCK | 0666, 0), 0);
  ExpectInvalid(InvalidReason::kLockfileNotRegular);
  EXPECT_TRUE(Exists(path));
}

TEST_F(LockfileTest, AMissingBucketIsMadeWithoutItsParents) {
  BucketSpec spec = bucket_.Spec();
  spec.directory = bucket_.path() + "/new";
  spec.create = false;
  AttemptMemory memory;
  AttemptResult result = AttemptAcquire(spec, &memory);
  ASSERT_EQ(result.kind, ResultKind::kInvalid);
  EXPECT_EQ(result.invalid, InvalidReason::kDirectoryMissing);

  spec.create = true;
  const BucketSpec deep = [&] {
    BucketSpec other = spec;
    other.directory += "/deep";
    return other;
  }();
  AttemptMemory fresh;
  result = AttemptAcquire(deep, &fresh);
  ASSERT_EQ(result.kind, ResultKind::kFailed);
  EXPECT_EQ(result.status.system_error, ENOENT);
  EXPECT_STREQ(result.status.operation, "mkdir");
  EXPECT_EQ(result.path, deep.directory);

  EXPECT_EQ(AttemptAcquire(spec, &memory).kind, ResultKind::kAcquired);
}

TEST_F(LockfileTest, ABucketThatWasThereHasDisappearedAndIsNotMadeAgain) {
  const BucketSpec spec = bucket_.Spec();
  AttemptMemory memory;
  ASSERT_EQ(AttemptAcquire(spec, &memory).kind, ResultKind::kAcquired);
  ASSERT_EQ(::rmdir(bucket_.path().c_str()), 0);
  const AttemptResult result = AttemptAcquire(spec, &memory);
  ASSERT_EQ(result.kind, ResultKind::kInvalid);
  EXPECT_EQ(result.invalid, InvalidReason::kDirectoryDisappeared);
  EXPECT_FALSE(Exists(bucket_.path()));
}

TEST_F(LockfileTest, AFileIsNoBucket) {
  bucket_.Plant("", "file");
  BucketSpec spec = bucket_.Spec();
  spec.directory += "/file";
  AttemptMemory memory;
  const AttemptResult result = AttemptAcquire(spec, &memory);
  ASSERT_EQ(result.kind, ResultKind::kInvalid);
  EXPECT_EQ(result.invalid, InvalidReason::kNotDirectory);
}

TEST_F(LockfileTest, ALinkThatLeadsNowhereIsNoBucket) {
  BucketSpec spec = bucket_.Spec();
  spec.directory = bucket_.path() + "/link";
  ASSERT_EQ(::symlink("nowhere", spec.directory.c_str()), 0);
  for (const bool create : {true, false}) {
    spec.create = create;
    AttemptMemory memory;
    const AttemptResult result = AttemptAcquire(spec, &memory);
    ASSERT_EQ(result.kind, ResultKind::kInvalid);
    EXPECT_EQ(result.invalid,
              create ? InvalidReason::kNotDirectory : InvalidReason::kDirectoryMissing);
    EXPECT_EQ(bucket_.Names(), std::vector<std::string>{"link"});
  }
}

TEST_F(LockfileTest, AnAttemptLeavesNoDescriptorBehind) {
  const std::vector<int> before = Descriptors();
  bucket_.PlantDead();
  bucket_.Attempt().held.reset();
  bucket_.Plant("1\n");
  EXPECT_EQ(bucket_.Attempt().kind, ResultKind::kBusy);
  bucket_.Plant("4242");
  bucket_.Attempt().held.reset();
  EXPECT_EQ(Descriptors(), before);
}

TEST_F(LockfileTest, NoProgramInheritsWhatAHolderHasOpen) {
  const std::vector<int> before = Descriptors();
  const AttemptResult result = bucket_.Attempt();
  ASSERT_EQ(result.kind, ResultKind::kAcquired);
  for (const int descriptor : Descriptors()) {
    if (std::find(before.begin(), before.end(), descriptor) != before.end()) continue;
    EXPECT_NE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0) << descriptor;
  }
}

TEST_F(LockfileTest, ThePublishedLockfileIsGuardedWhateverItsFormat) {
  for (const RecordFormat format : kFormats) {
    const AttemptResult result = bucket_.Attempt(format);
    ASSERT_EQ(result.kind, ResultKind::kAcquired);
    const Handle other(::open(bucket_.lockfile().c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(::flock(static_cast<int>(other.get()), LOCK_SH | LOCK_NB), -1);
    EXPECT_EQ(errno, EWOULDBLOCK);
  }
}

TEST_F(LockfileTest, ManyThreadsOnOneDeadRecordGetExactlyOneHolder) {
  for (int round = 0; round < 50; ++round) {
    bucket_.PlantDead();
    std::atomic<int> ready{0};
    std::atomic<int> done{0};
    std::atomic<int> holders{0};
    constexpr int kThreads = 6;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        const AttemptResult result = bucket_.Attempt();
        if (result.kind == ResultKind::kAcquired) {
          ++holders;
        } else {
          EXPECT_EQ(result.kind, ResultKind::kBusy);
        }
        ++done;
        while (done < kThreads) std::this_thread::yield();
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(holders, 1) << "round " << round;
  }
}

TEST_F(LockfileTest, ThreadsThatComeAndGoNeverHoldBesideEachOther) {
  constexpr int kTurns = 1000;
  std::atomic<int> inside{0};
  std::atomic<int> turns{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      while (turns < kTurns && !HasFailure()) {
        AttemptResult result = bucket_.Attempt(kFormats[thread % 2]);
        if (result.kind != ResultKind::kAcquired) continue;
        EXPECT_EQ(++inside, 1);
        ++turns;
        std::this_thread::yield();
        --inside;
        // Whoever removed another's lockfile by mistake makes its release fail.
        EXPECT_EQ(result.held->Release().outcome, HoldOutcome::kOurs);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(bucket_.Names().empty());
}

TEST_F(LockfileTest, TheSweepRemovesWhatNobodyHoldsAndNothingElse) {
  const std::string token(32, 'a');
  const std::string left_over = PrivateName(token);
  const std::string in_use = PrivateName(std::string(32, 'b'));
  const std::vector<std::string> others = {".lock.", ".lock.abc", PrivateName(token + "a"),
                                           PrivateName(std::string(32, 'A')), "neighbour"};
  bucket_.Plant("4242\n", left_over);
  bucket_.Plant("4242\n", in_use);
  for (const std::string& name : others) bucket_.Plant("kept", name);
  const Handle user(::open((bucket_.path() + '/' + in_use).c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(static_cast<int>(user.get()), LOCK_EX | LOCK_NB), 0);

  Handle directory;
  Status status;
  ASSERT_EQ(OpenDirectory(bucket_.path(), DirectoryUse::kNames, &directory, &status),
            DirectoryOutcome::kOpened);
  SweepPrivateFiles(directory, /*trusted=*/false);
  EXPECT_FALSE(Exists(bucket_.path() + '/' + left_over));
  EXPECT_TRUE(Exists(bucket_.path() + '/' + in_use));
  for (const std::string& name : others) EXPECT_TRUE(Exists(bucket_.path() + '/' + name)) << name;
}

}  // namespace
}  // namespace bucketlock
