#include "wait_queue.h"

#include <algorithm>
#include <list>
#include <utility>

#include "platform/thread.h"

namespace bucketlock {
namespace {

// For a thread that serves several lines, or one whose requests are all passed over.
constexpr std::chrono::milliseconds kSharedPause(20);

}  // namespace

struct WaitQueue::Request {
  RequestId id = 0;
  std::shared_ptr<Contender> contender;
  std::shared_ptr<WaitParty> party;
  WaitMode mode = WaitMode::kAsync;
  Line* line = nullptr;
  bool settled = false;
};

struct WaitQueue::Line {
  std::string name;
  // In order of arrival. Settled requests are no longer here.
  std::list<Request*> waiting;
  Worker* worker = nullptr;
};

struct WaitQueue::Worker {
  Interruption interruption;
  // Only the worker itself removes from it.
  std::vector<Line*> lines;
  // Compared, never followed: its request may have left.
  const WaitParty* attempting_for = nullptr;
};

WaitQueue& WaitQueue::OfProcess() {
  static WaitQueue* const queue = new WaitQueue;
  return *queue;
}

Status WaitQueue::Enqueue(const std::string& name, std::shared_ptr<Contender> contender,
                          std::shared_ptr<WaitParty> party, WaitMode mode, RequestId* id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<Line>& line = lines_[name];
  if (line == nullptr) {
    line = std::make_unique<Line>();
    line->name = name;
    const Status status = GiveWorker(line.get());
    if (!status.ok()) {
      lines_.erase(name);
      return status;
    }
  }
  auto request = std::make_unique<Request>();
  request->id = *id = ++last_request_;
  request->contender = std::move(contender);
  request->party = std::move(party);
  request->mode = mode;
  request->line = line.get();
  if (mode == WaitMode::kSync) ++request->party->sync_calls_;
  line->waiting.push_back(request.get());
  line->worker->interruption.Interrupt();
  requests_.emplace(*id, std::move(request));
  return Status::Ok();
}

bool WaitQueue::WaitFor(RequestId id, std::chrono::milliseconds duration) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto found = requests_.find(id);
  if (found == requests_.end()) return true;
  const Request* const request = found->second.get();
  return changed_.wait_for(lock, duration, [request] { return request->settled; });
}

bool WaitQueue::Leave(RequestId id) {
  std::unique_ptr<Request> request;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = requests_.find(id);
  if (found == requests_.end()) return false;
  request = std::move(found->second);
  requests_.erase(found);
  if (request->mode == WaitMode::kSync && --request->party->sync_calls_ == 0) {
    // Its asynchronous requests count again.
    for (const std::unique_ptr<Worker>& worker : workers_) worker->interruption.Interrupt();
  }
  if (!request->settled) {
    request->line->waiting.remove(request.get());
    request->line->worker->interruption.Interrupt();
  }
  return request->settled;
}

void WaitQueue::Poke(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = lines_.find(name);
  if (found != lines_.end()) found->second->worker->interruption.Interrupt();
}

Status WaitQueue::GiveWorker(Line* line) {
  Status status;
  if (workers_.size() < kMaxThreads) {
    workers_.push_back(std::make_unique<Worker>());
    Worker* const worker = workers_.back().get();
    worker->lines.push_back(line);
    line->worker = worker;
    status = StartThread(&WaitQueue::RunWorker, worker);
    if (status.ok()) return status;
    workers_.pop_back();
  }
  if (workers_.empty()) return status;
  const auto idlest = std::min_element(
      workers_.begin(), workers_.end(),
      [](const auto& a, const auto& b) { return a->lines.size() < b->lines.size(); });
  (*idlest)->lines.push_back(line);
  line->worker = idlest->get();
  return Status::Ok();
}

void WaitQueue::RunWorker(void* worker) { OfProcess().Run(static_cast<Worker*>(worker)); }

void WaitQueue::Run(Worker* worker) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!worker->lines.empty()) {
    bool progress = false;
    // By index: while an attempt is made without the mutex, lines may be added behind.
    for (std::size_t at = 0; at < worker->lines.size();) {
      Line* const line = worker->lines[at];
      if (line->waiting.empty()) {
        worker->lines.erase(worker->lines.begin() + static_cast<std::ptrdiff_t>(at));
        lines_.erase(line->name);
        progress = true;
        continue;
      }
      if (Drive(&lock, line)) progress = true;
      ++at;
    }
    if (!progress) Pause(&lock, worker);
  }
  const auto self = std::find_if(workers_.begin(), workers_.end(),
                                 [worker](const auto& other) { return other.get() == worker; });
  workers_.erase(self);
}

WaitQueue::Request* WaitQueue::HeadOf(const Line& line) const {
  for (Request* const request : line.waiting) {
    if (request->mode == WaitMode::kSync || request->party->sync_calls_ == 0) return request;
  }
  return nullptr;
}

bool WaitQueue::Drive(std::unique_lock<std::mutex>* lock, Line* line) {
  const Request* const head = HeadOf(*line);
  if (head == nullptr) return false;
  Worker* const worker = line->worker;
  worker->attempting_for = head->party.get();
  const bool settled = Attempt(lock, line, head->id, head->contender);
  worker->attempting_for = nullptr;
  changed_.notify_all();
  return settled;
}

bool WaitQueue::Attempt(std::unique_lock<std::mutex>* lock, Line* line, RequestId id,
                        std::shared_ptr<Contender> contender) {
  lock->unlock();
  const Contender::Outcome outcome = contender->Attempt();
  lock->lock();
  if (outcome == Contender::Outcome::kBusy) return false;
  const auto found = requests_.find(id);
  if (found == requests_.end()) {
    // It left meanwhile. If we are the last to hold the contender, this releases what it won, which
    // is I/O.
    lock->unlock();
    contender.reset();
    lock->lock();
    return true;
  }
  Request* const request = found->second.get();
  request->settled = true;
  line->waiting.remove(request);
  // Let go first: once told, the other side counts on being alone with it.
  contender.reset();
  request->contender.reset();
  if (request->mode == WaitMode::kAsync) request->party->Settled(id);
  return true;
}

void WaitQueue::AwaitAttempts(const WaitParty& party, std::chrono::milliseconds duration) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, duration, [this, &party] {
    return std::none_of(workers_.begin(), workers_.end(),
                        [&party](const auto& worker) { return worker->attempting_for == &party; });
  });
}

void WaitQueue::Pause(std::unique_lock<std::mutex>* lock, Worker* worker) {
  std::shared_ptr<Contender> contender;
  if (worker->lines.size() == 1) {
    const Request* const head = HeadOf(*worker->lines.front());
    if (head != nullptr) contender = head->contender;
  }
  lock->unlock();
  if (contender != nullptr) {
    contender->Block(&worker->interruption);
    contender.reset();
  } else {
    worker->interruption.SleepFor(kSharedPause);
  }
  lock->lock();
}

}  // namespace bucketlock
