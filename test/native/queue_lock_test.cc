#include "platform/queue_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fake_lock.h"
#include "platform/handle.h"
#include "platform/kernel_lock.h"
#include "posix/queue_mark.h"

namespace bucketlock {
namespace {

// A process of its own, as far as the kernel's locks go: it has opened the directory for itself.
struct Standing {
  std::unique_ptr<QueueLock> queue;
  std::thread entering;
};

class QueueLockTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/queue-XXXXXX";
    ASSERT_NE(::mkdtemp(path_.data()), nullptr);
    file_ = path_ + "/file";
  }

  void TearDown() override {
    ::unlink(file_.c_str());
    EXPECT_EQ(::rmdir(path_.c_str()), 0);
  }

  static Handle Open(const std::string& path, int flags) {
    Handle handle(::open(path.c_str(), flags | O_CLOEXEC, 0600));
    EXPECT_TRUE(handle.valid());
    return handle;
  }

  Handle OpenDirectory() const { return Open(path_, O_RDONLY | O_DIRECTORY); }
  Handle OpenFile() const { return Open(file_, O_RDWR | O_CREAT); }
  std::unique_ptr<QueueLock> Queue() const { return QueueLock::Of(OpenDirectory()); }
  bool IsLine() const { return IsSomebodyInLine(OpenDirectory()); }

  // How many wait for a kernel lock of ours on this file: those that /proc/locks has an arrow for,
  // below who has the lock. It is read in pieces, so that one lock may be seen twice or not at all.
  static int WaitersFor(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    const std::string process = " " + std::to_string(::getpid()) + " ";
    const std::string inode = ":" + std::to_string(info.st_ino) + " ";
    std::ifstream locks("/proc/locks");
    int waiters = 0;
    for (std::string line; std::getline(locks, line);) {
      if (line.find("FLOCK") == std::string::npos || line.find(process) == std::string::npos ||
          line.find(inode) == std::string::npos) {
        continue;
      }
      const bool waits = line.find("-> ") != std::string::npos;
      waiters = waits ? waiters + 1 : 0;
    }
    return waiters;
  }

  static bool AreWaitingFor(const std::string& path, int waiters) {
    return Until([&] { return WaitersFor(path) == waiters; });
  }

  // Behind those who are in line already.
  Standing StandBehind(int others) const {
    Standing standing;
    standing.queue = Queue();
    QueueLock* const queue = standing.queue.get();
    standing.entering = std::thread([queue] { EXPECT_EQ(queue->Enter(), QueueOutcome::kHead); });
    EXPECT_TRUE(AreWaitingFor(path_, others + 1));
    return standing;
  }

  std::string path_;
  std::string file_;
};

TEST_F(QueueLockTest, WhoEntersFirstIsTheHeadUntilItLeaves) {
  const auto queue = Queue();
  EXPECT_FALSE(queue->IsHead());
  EXPECT_EQ(queue->Enter(), QueueOutcome::kHead);
  EXPECT_TRUE(queue->IsHead());
  EXPECT_EQ(queue->Enter(), QueueOutcome::kHead) << "it is already";
  queue->Leave();
  EXPECT_FALSE(queue->IsHead());
  queue->Leave();
  const auto next = Queue();
  EXPECT_EQ(next->Enter(), QueueOutcome::kHead);
}

TEST_F(QueueLockTest, TheOthersBecomeHeadInOrderOfArrival) {
  const auto head = Queue();
  ASSERT_EQ(head->Enter(), QueueOutcome::kHead);
  EXPECT_TRUE(head->IsLast());
  std::vector<Standing> line;
  for (int i = 0; i < 4; ++i) line.push_back(StandBehind(i));
  EXPECT_FALSE(head->IsLast());
  QueueLock* before = head.get();
  for (std::size_t i = 0; i < line.size(); ++i) {
    before->Leave();
    line[i].entering.join();
    for (std::size_t other = 0; other < line.size(); ++other) {
      EXPECT_EQ(line[other].queue->IsHead(), other == i) << other << " when it is " << i << "'s";
    }
    before = line[i].queue.get();
  }
}

TEST_F(QueueLockTest, WhoIsDestroyedLeaves) {
  auto head = Queue();
  ASSERT_EQ(head->Enter(), QueueOutcome::kHead);
  Standing next = StandBehind(0);
  head.reset();
  next.entering.join();
  EXPECT_TRUE(next.queue->IsHead());
}

TEST_F(QueueLockTest, ALineIsSeenByWhoDoesNotStandInIt) {
  const Handle looking = OpenDirectory();
  EXPECT_FALSE(IsSomebodyInLine(looking));
  EXPECT_FALSE(IsLine()) << "those who look are no line";
  const auto head = Queue();
  ASSERT_EQ(head->Enter(), QueueOutcome::kHead);
  EXPECT_TRUE(IsSomebodyInLine(looking));
  EXPECT_FALSE(IsSomebodyInLine(head->directory())) << "it is behind nobody";
  head->Leave();
  EXPECT_FALSE(IsSomebodyInLine(looking));
}

TEST_F(QueueLockTest, AStrangersLockOnTheDirectoryIsNoLineButHoldsItUp) {
  const Handle stranger = OpenDirectory();
  Status status;
  ASSERT_EQ(TryLock(stranger, LockMode::kExclusive, &status), LockOutcome::kAcquired);
  EXPECT_FALSE(IsLine());
  Standing waiting = StandBehind(0);
  EXPECT_TRUE(IsLine()) << "now there is one";
  EXPECT_FALSE(waiting.queue->IsHead());
  Unlock(stranger);
  waiting.entering.join();
  EXPECT_TRUE(waiting.queue->IsHead());
}

TEST_F(QueueLockTest, AHeadThatIsAbandonedLetsTheNextBeHead) {
  const auto head = Queue();
  ASSERT_EQ(head->Enter(), QueueOutcome::kHead);
  Standing next = StandBehind(0);
  std::thread([&] { head->Abandon(); }).join();
  next.entering.join();
  EXPECT_FALSE(head->IsHead());
  EXPECT_TRUE(next.queue->IsHead());
}

TEST_F(QueueLockTest, AHeadThatIsAbandonedWhileItAwaitsAGuardLetsTheNextBeHead) {
  const Handle holder = OpenFile();
  const Handle lockfile = OpenFile();
  Status status;
  ASSERT_EQ(TryLock(holder, LockMode::kExclusive, &status), LockOutcome::kAcquired);
  const auto head = Queue();
  ASSERT_EQ(head->Enter(), QueueOutcome::kHead);
  std::thread awaiting([&] { head->AwaitGuard(lockfile); });
  EXPECT_TRUE(AreWaitingFor(file_, 1));
  Standing next = StandBehind(0);
  head->Abandon();
  next.entering.join();
  EXPECT_TRUE(next.queue->IsHead());
  EXPECT_TRUE(AreWaitingFor(file_, 1)) << "nothing ends that but the grant";
  Unlock(holder);
  awaiting.join();
}

TEST_F(QueueLockTest, WhoIsAbandonedInLineIsNoLineUntilItIsTheHead) {
  const Handle stranger = OpenDirectory();
  Status status;
  ASSERT_EQ(TryLock(stranger, LockMode::kExclusive, &status), LockOutcome::kAcquired);
  Standing abandoned = StandBehind(0);
  abandoned.queue->Abandon();
  EXPECT_FALSE(IsLine());
  EXPECT_TRUE(AreWaitingFor(path_, 1)) << "nothing ends that but the grant";
  Unlock(stranger);
  abandoned.entering.join();
  EXPECT_TRUE(abandoned.queue->IsHead());
  EXPECT_TRUE(IsLine()) << "somebody may need it again";
  abandoned.queue->Leave();
  EXPECT_FALSE(IsLine());
}

TEST_F(QueueLockTest, AwaitsTheGuardAndKeepsItNot) {
  const Handle holder = OpenFile();
  const Handle lockfile = OpenFile();
  Status status;
  ASSERT_EQ(TryLock(holder, LockMode::kExclusive, &status), LockOutcome::kAcquired);
  const auto head = Queue();
  std::atomic<bool> is_over{false};
  std::thread awaiting([&] {
    head->AwaitGuard(lockfile);
    is_over = true;
  });
  EXPECT_TRUE(AreWaitingFor(file_, 1));
  EXPECT_FALSE(is_over);
  Unlock(holder);
  awaiting.join();
  EXPECT_EQ(TryLock(holder, LockMode::kExclusive, &status), LockOutcome::kAcquired);
}

TEST_F(QueueLockTest, StandsBackForWhoWasMarkedBeforeButNotForEver) {
  // Suspended between its mark and its place, say.
  const Handle suspended = OpenDirectory();
  MarkWaiting(suspended);
  const auto start = std::chrono::steady_clock::now();
  const auto queue = Queue();
  EXPECT_EQ(queue->Enter(), QueueOutcome::kHead);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(10));
}

TEST_F(QueueLockTest, WhereTheDirectoryMayNotBeReadThereIsNoLine) {
  const auto queue = QueueLock::Of(Open(path_, O_PATH | O_DIRECTORY));
  EXPECT_EQ(queue->Enter(), QueueOutcome::kUnavailable);
  EXPECT_FALSE(queue->IsHead());
  EXPECT_FALSE(IsLine());
}

TEST_F(QueueLockTest, AMarkIsSeenByEveryOtherOpenUntilItIsTakenBackOrClosed) {
  Handle marked = OpenDirectory();
  const Handle other = OpenDirectory();
  MarkWaiting(marked);
  EXPECT_TRUE(IsMarkedWaiting(other));
  EXPECT_FALSE(IsMarkedWaiting(marked)) << "its own";
  MarkWaiting(other);
  EXPECT_TRUE(IsMarkedWaiting(marked)) << "marks are no obstacle to each other";
  UnmarkWaiting(other);
  EXPECT_FALSE(IsMarkedWaiting(marked));
  EXPECT_TRUE(IsMarkedWaiting(other));
  marked.Close();
  EXPECT_FALSE(IsMarkedWaiting(other));
}

TEST_F(QueueLockTest, AMarkIsNoObstacleToTheQueueLock) {
  const Handle marked = OpenDirectory();
  MarkWaiting(marked);
  const Handle other = OpenDirectory();
  Status status;
  EXPECT_EQ(TryLock(other, LockMode::kExclusive, &status), LockOutcome::kAcquired);
}

}  // namespace
}  // namespace bucketlock
