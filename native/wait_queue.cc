#include "wait_queue.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "wait_line.h"

namespace bucketlock {
namespace {

// How long those behind wait for one who has reserved a place, and whose own thread may be busy.
constexpr std::chrono::milliseconds kReservation(20);

}  // namespace

WaitQueue& WaitQueue::OfProcess() {
  static WaitQueue* const queue = new WaitQueue;
  return *queue;
}

RequestId WaitQueue::NewId() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ++last_request_;
}

RequestId WaitQueue::Reserve(const std::string& name, std::shared_ptr<WaitParty> party,
                             bool* first) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Line* const line = LineNamed(name);
  // One that has been waited in just now still has its thread, and that goes ahead at once.
  *first = line->waiting.empty() && line->worker == nullptr;
  return Append(line, ++last_request_, std::move(party), WaitMode::kAsync)->id;
}

Status WaitQueue::Enqueue(const std::string& name, std::shared_ptr<Contender> contender,
                          std::shared_ptr<WaitParty> party, WaitMode mode, RequestId* id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto reserved = requests_.find(*id);
  if (reserved == requests_.end()) *id = ++last_request_;
  Request* const request = reserved == requests_.end()
                               ? Append(LineNamed(name), *id, std::move(party), mode)
                               : reserved->second.get();
  request->contender = std::move(contender);
  Line* const line = request->line;
  if (line->worker == nullptr && !line->unserved_at.has_value()) {
    const Status status = FindWorker(line);
    if (!status.ok()) {
      Remove(request);
      return status;
    }
  }
  // Its worker may be blocked still for somebody who has left.
  if (line->blocked && !line->due.has_value()) BeginWatch(line);
  line->changed.notify_all();
  return Status::Ok();
}

WaitQueue::Line* WaitQueue::LineNamed(const std::string& name) {
  std::unique_ptr<Line>& line = lines_[name];
  if (line == nullptr) {
    line = std::make_unique<Line>();
    line->name = name;
  }
  return line.get();
}

WaitQueue::Request* WaitQueue::Append(Line* line, RequestId id, std::shared_ptr<WaitParty> party,
                                      WaitMode mode) {
  auto request = std::make_unique<Request>();
  request->id = id;
  request->party = std::move(party);
  request->mode = mode;
  request->line = line;
  request->since = Clock::now();
  if (mode == WaitMode::kSync) {
    ++request->party->sync_calls_;
    request->is_settled = std::make_unique<std::condition_variable>();
  }
  line->waiting.push_back(request.get());
  request->at = std::prev(line->waiting.end());
  return requests_.emplace(id, std::move(request)).first->second.get();
}

bool WaitQueue::WaitFor(RequestId id, std::chrono::milliseconds duration) {
  Lock lock(mutex_);
  const auto found = requests_.find(id);
  if (found == requests_.end()) return true;
  const Request* const request = found->second.get();
  if (request->settled || request->is_settled == nullptr) return request->settled;
  return request->is_settled->wait_for(lock, duration, [request] { return request->settled; });
}

bool WaitQueue::Leave(RequestId id) {
  // Let go after the mutex: its contender may be the last to hold a lock.
  std::unique_ptr<Request> request;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = requests_.find(id);
  if (found == requests_.end()) return false;
  request = Remove(found->second.get());
  return request->settled;
}

std::unique_ptr<WaitQueue::Request> WaitQueue::Remove(Request* leaving) {
  const auto found = requests_.find(leaving->id);
  std::unique_ptr<Request> request = std::move(found->second);
  requests_.erase(found);
  if (request->mode == WaitMode::kSync && --request->party->sync_calls_ == 0) {
    // Its asynchronous requests count again.
    for (const auto& [name, line] : lines_) line->changed.notify_all();
  }
  if (request->settled) return request;
  Line* const line = request->line;
  line->waiting.erase(request->at);
  line->poked = true;
  line->changed.notify_all();
  if (!line->waiting.empty()) return request;
  if (!line->attempting) line->memory = LineMemory();
  if (line->worker == nullptr) {
    Forget(line);
  } else if (line->blocked) {
    line->place->Abandon();
  }
  return request;
}

void WaitQueue::AwaitAttempts(const WaitParty& party, std::chrono::milliseconds duration) {
  Lock lock(mutex_);
  attempt_over_.wait_for(lock, duration, [this, &party] {
    return std::none_of(lines_.begin(), lines_.end(), [&party](const auto& line) {
      return line.second->attempting_for == &party;
    });
  });
}

bool WaitQueue::IsSomebodyIn(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = lines_.find(name);
  return found != lines_.end() && !found->second->waiting.empty();
}

void WaitQueue::Poke(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = lines_.find(name);
  if (found == lines_.end()) return;
  Line* const line = found->second.get();
  line->poked = true;
  line->changed.notify_all();
  if (line->worker != nullptr) return;
  if (!line->unserved_at.has_value()) return;
  // Fails only without a timekeeper, and then there are no lines without a worker.
  const Status ignored = Schedule(line, Clock::now());
  static_cast<void>(ignored);
}

WaitQueue::Request* WaitQueue::HeadOf(const Line& line) const {
  for (Request* const request : line.waiting) {
    const bool is_passed_over = request->mode != WaitMode::kSync && request->party->sync_calls_ > 0;
    if (is_passed_over) continue;
    if (request->contender != nullptr) return request;
    if (Clock::now() - request->since < kReservation) return nullptr;
  }
  return nullptr;
}

Contender::Outcome WaitQueue::Attempt(Lock* lock, Line* line, Place* place) {
  const Request* const head = HeadOf(*line);
  const RequestId id = head->id;
  std::shared_ptr<Contender> contender = head->contender;
  line->attempting = true;
  line->attempting_for = head->party.get();
  line->poked = false;
  lock->unlock();
  const Contender::Outcome outcome = contender->Attempt(place, &line->memory);
  lock->lock();
  if (outcome == Contender::Outcome::kGranted || outcome == Contender::Outcome::kFailed) {
    Settle(lock, line, id, std::move(contender), place);
  }
  line->attempting = false;
  line->attempting_for = nullptr;
  if (line->waiting.empty()) line->memory = LineMemory();
  line->changed.notify_all();
  attempt_over_.notify_all();
  return outcome;
}

void WaitQueue::Settle(Lock* lock, Line* line, RequestId id, std::shared_ptr<Contender> contender,
                       const Place* place) {
  const auto found = requests_.find(id);
  if (found == requests_.end()) {
    // It left meanwhile. If we are the last to hold the contender, this releases what it won, which
    // is I/O.
    lock->unlock();
    contender.reset();
    lock->lock();
    return;
  }
  Request* const request = found->second.get();
  request->settled = true;
  line->waiting.erase(request->at);
  // Let go first: once told, the other side counts on being alone with it.
  contender.reset();
  request->contender.reset();
  if (request->mode == WaitMode::kSync) {
    request->is_settled->notify_all();
    return;
  }
  const std::shared_ptr<WaitParty> party = request->party;
  // Without the mutex, which is the first thing that whoever hears of it takes.
  lock->unlock();
  party->Settled(id);
  // Where the thread that is told wakes on this processor, it goes first, unless somebody waits for
  // our place in line, which is left next.
  if (place != nullptr && place->IsLast()) std::this_thread::yield();
  lock->lock();
}

void WaitQueue::Forget(Line* line) {
  // Whoever attempts comes back to it, and forgets it then.
  if (line->attempting) return;
  Unschedule(line);
  if (line->unserved_at.has_value()) unserved_.erase(*line->unserved_at);
  // By a copy: the name lies in what is erased.
  const std::string name = line->name;
  lines_.erase(name);
}

}  // namespace bucketlock
