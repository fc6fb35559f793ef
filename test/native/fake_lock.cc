#include "fake_lock.h"

#include <dirent.h>
#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace bucketlock {

bool Until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::size_t CountThreads() {
  DIR* const tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  std::size_t threads = 0;
  while (const struct dirent* entry = ::readdir(tasks)) {
    if (entry->d_name[0] != '.') ++threads;
  }
  ::closedir(tasks);
  return threads;
}

std::size_t CountThreadsAtRest() {
  pid_t task = 0;
  std::thread([&task] { task = ::gettid(); }).join();
  const std::string entry = "/proc/self/task/" + std::to_string(task);
  static_cast<void>(Until([&entry] { return ::access(entry.c_str(), F_OK) != 0; }));
  return CountThreads();
}

void FakeLock::Seize() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (held_) violated_ = true;
  held_ = true;
}

void FakeLock::Free() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!held_) violated_ = true;
  held_ = false;
}

bool FakeLock::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++attempts_;
  if (held_) return false;
  held_ = true;
  return true;
}

bool FakeLock::held() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return held_;
}

bool FakeLock::violated() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return violated_;
}

int FakeLock::attempts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return attempts_;
}

std::atomic<int> FakeContender::living_{0};

FakeContender::FakeContender(FakeLock* lock) : lock_(lock) { ++living_; }

FakeContender::~FakeContender() {
  if (granted_) lock_->Free();
  --living_;
}

std::shared_ptr<Place> FakeContender::TakePlace() { return nullptr; }

Contender::Outcome FakeContender::Attempt(Place*, LineMemory*) {
  ++attempts_;
  {
    std::unique_lock<std::mutex> lock(gate_mutex_);
    at_gate_ = gate_closed_;
    gate_changed_.notify_all();
    gate_changed_.wait(lock, [this] { return !gate_closed_; });
  }
  if (broken_) return Outcome::kFailed;
  if (!lock_->Take()) {
    ++blocks_;
    return Outcome::kBusyUntold;
  }
  granted_ = true;
  return Outcome::kGranted;
}

void FakeContender::CloseGate() {
  const std::lock_guard<std::mutex> lock(gate_mutex_);
  gate_closed_ = true;
}

void FakeContender::WaitAtGate() {
  std::unique_lock<std::mutex> lock(gate_mutex_);
  gate_changed_.wait(lock, [this] { return at_gate_; });
}

void FakeContender::OpenGate() {
  const std::lock_guard<std::mutex> lock(gate_mutex_);
  gate_closed_ = false;
  at_gate_ = false;
  gate_changed_.notify_all();
}

void FakeParty::Settled(RequestId request) {
  const std::lock_guard<std::mutex> lock(mutex_);
  requests_.push_back(request);
  changed_.notify_all();
}

RequestId FakeParty::Next() {
  std::unique_lock<std::mutex> lock(mutex_);
  const bool come =
      changed_.wait_for(lock, kPatience, [this] { return requests_.size() > taken_; });
  return come ? requests_[taken_++] : 0;
}

std::size_t FakeParty::settled() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_.size();
}

}  // namespace bucketlock
