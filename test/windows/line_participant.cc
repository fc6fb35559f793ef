// A process for queue-lock.test.ts, which does what it is told on standard input, one command a
// line: "<id> <command> [<directory>]". Each is answered by "<id> <answer>". What belongs to its
// place in the line is done by a thread of its own, in order; everything else at once.

#include <windows.h>

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "platform/file.h"
#include "platform/kernel_lock.h"
#include "platform/queue_lock.h"
#include "win32/lock_bytes.h"

namespace bucketlock {
namespace {

constexpr char kName[] = ".lock";

class OneThread {
 public:
  OneThread() {
    std::thread([this] { Run(); }).detach();
  }

  void Do(std::function<void()> job) {
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back(std::move(job));
    changed_.notify_one();
  }

 private:
  void Run() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return !jobs_.empty(); });
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
};

Handle Directory(const std::string& path) {
  Handle directory;
  Status status;
  static_cast<void>(OpenDirectory(path, DirectoryUse::kQueue, &directory, &status));
  return directory;
}

Handle Lockfile(const std::string& directory) {
  Handle file;
  Status status;
  static_cast<void>(OpenExisting(Directory(directory), kName, &file, &status));
  return file;
}

class Participant {
 public:
  // Empty where another thread answers.
  std::string Answer(const std::string& id, const std::string& command, const std::string& path) {
    if (command == "stand") return Stand(path);
    if (command == "enter") return InLine(id, [this] { return Enter(); });
    if (command == "await") return InLine(id, [this, path] { return Await(path); });
    if (command == "leave") return InLine(id, [this] { return Leave(); });
    if (command == "abandon") return Abandon();
    if (command == "in-line") return IsSomebodyInLine(Directory(path)) ? "somebody" : "nobody";
    if (command == "hold") return Hold(path, /*awaited=*/true);
    if (command == "hold-guard-alone") return Hold(path, /*awaited=*/false);
    if (command == "unlock") return Unlock();
    if (command == "is-awaited") return IsAwaited(path);
    if (command == "die") ::TerminateProcess(::GetCurrentProcess(), /*uExitCode=*/1);
    return "no such command";
  }

  void Say(const std::string& id, const std::string& answer) {
    const std::lock_guard<std::mutex> lock(output_);
    std::printf("%s %s\n", id.c_str(), answer.c_str());
    std::fflush(stdout);
  }

 private:
  std::string InLine(const std::string& id, std::function<std::string()> job) {
    line_thread_.Do([this, id, job] { Say(id, job()); });
    return std::string();
  }

  std::string Stand(const std::string& path) {
    queue_ = QueueLock::Of(Directory(path));
    return queue_ == nullptr ? "no line" : "done";
  }

  std::string Enter() {
    switch (queue_->Enter()) {
      case QueueOutcome::kHead:
        return "head";
      case QueueOutcome::kAbandoned:
        return "abandoned";
      case QueueOutcome::kUnavailable:
        break;
    }
    return "unavailable";
  }

  std::string Await(const std::string& path) {
    const Handle file = Lockfile(path);
    if (!file.valid()) return "no lockfile";
    queue_->AwaitGuard(file);
    return queue_->IsHead() ? "head" : "left";
  }

  std::string Leave() {
    queue_->Leave();
    return "done";
  }

  std::string Abandon() {
    queue_->Abandon();
    return "done";
  }

  std::string Hold(const std::string& path, bool awaited) {
    PrivateFile file;
    Status status = CreateNamed(Directory(path), kName, /*mode=*/0600, &file);
    if (!status.ok()) return "not made";
    if (TryLock(file.handle, LockMode::kExclusive, &status) != LockOutcome::kAcquired) {
      return "not locked";
    }
    if (awaited) LetOthersAwait(file.handle);
    held_ = std::move(file.handle);
    return "done";
  }

  // The handle stays open, as a child that inherited it would keep it.
  std::string Unlock() {
    bucketlock::Unlock(held_);
    return "done";
  }

  std::string IsAwaited(const std::string& path) {
    const Handle file = Lockfile(path);
    OVERLAPPED at = WakeByte();
    if (!LockOneByte(file, LOCKFILE_FAIL_IMMEDIATELY, &at)) return "yes";
    UnlockOneByte(file, WakeByte());
    return "no";
  }

  std::unique_ptr<QueueLock> queue_;
  Handle held_;
  std::mutex output_;
  OneThread line_thread_;
};

void Listen() {
  // Never destroyed: its thread may be waiting for ever.
  Participant* const participant = new Participant;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string id;
    std::string command;
    std::string path;
    words >> id >> command >> std::ws;
    std::getline(words, path);
    const std::string answer = participant->Answer(id, command, path);
    if (!answer.empty()) participant->Say(id, answer);
  }
}

}  // namespace
}  // namespace bucketlock

int main() {
  bucketlock::Listen();
  // Without a word to threads that wait.
  ::TerminateProcess(::GetCurrentProcess(), /*uExitCode=*/0);
}
