// The wait queue's threads: each serves one line, and stands for it in the line of processes.

#include <algorithm>
#include <memory>
#include <utility>

#include "platform/thread.h"
#include "wait_line.h"
#include "wait_queue.h"

namespace bucketlock {
namespace {

// How long a line without requests keeps its thread, and then a thread without a line stays.
constexpr std::chrono::milliseconds kLinger(50);

// How often to look for somebody who could take the lock.
constexpr std::chrono::milliseconds kUnready(20);

// Blocking that ends sooner than this has told nothing.
constexpr std::chrono::microseconds kNoTime(100);

// So often in a row it may tell nothing: somebody else may have been faster as often.
constexpr int kMostIdleBlocks = 8;

}  // namespace

Status WaitQueue::FindWorker(Line* line) {
  if (!idle_workers_.empty()) {
    line->worker = idle_workers_.back();
    idle_workers_.pop_back();
    line->worker->line = line;
    line->worker->assigned.notify_one();
    return Status::Ok();
  }
  if (workers_ < kMaxThreads) {
    auto worker = std::make_unique<Worker>();
    worker->line = line;
    if (StartThread(&WaitQueue::RunWorker, worker.get()).ok()) {
      ++workers_;
      line->worker = worker.release();  // RunWorker owns it now.
      return Status::Ok();
    }
  }
  const Status status = Schedule(line, Clock::now());
  if (!status.ok()) return status;
  unserved_.push_back(line);
  line->unserved_at = std::prev(unserved_.end());
  return status;
}

void WaitQueue::RunWorker(void* raw_worker) {
  const std::unique_ptr<Worker> worker(static_cast<Worker*>(raw_worker));
  WaitQueue& queue = OfProcess();
  Lock lock(queue.mutex_);
  queue.Work(&lock, worker.get());
}

void WaitQueue::Work(Lock* lock, Worker* worker) {
  while (worker->line != nullptr) {
    Serve(lock, worker->line);
    Forget(worker->line);
    worker->line = nullptr;
    if (!unserved_.empty()) {
      Line* const line = unserved_.front();
      unserved_.pop_front();
      line->unserved_at.reset();
      Unschedule(line);
      line->worker = worker;
      worker->line = line;
      continue;
    }
    idle_workers_.push_back(worker);
    if (!worker->assigned.wait_for(*lock, kLinger, [worker] { return worker->line != nullptr; })) {
      idle_workers_.erase(std::find(idle_workers_.begin(), idle_workers_.end(), worker));
    }
  }
  --workers_;
}

void WaitQueue::Serve(Lock* lock, Line* line) {
  for (;;) {
    line->changed.wait(*lock, [line] { return !line->attempting; });
    if (HeadOf(*line) == nullptr) {
      // There is nobody, or nobody who could take the lock now: others shall not wait for us.
      if (line->place != nullptr) {
        LeavePlace(lock, line);
      } else if (line->waiting.empty()) {
        if (!unserved_.empty()) return;
        // Those who have just been served often come again.
        if (!line->changed.wait_for(*lock, kLinger, [line] { return !line->waiting.empty(); })) {
          return;
        }
      } else {
        line->changed.wait_for(*lock, kUnready);
      }
    } else if (line->place == nullptr && !line->polled) {
      TakePlace(lock, line);
    } else if (line->place != nullptr && line->must_block) {
      BlockInPlace(lock, line);
    } else {
      // Kept alive: the timekeeper looks at it, too.
      const std::shared_ptr<Place> place = line->place;
      switch (Attempt(lock, line, place.get())) {
        case Contender::Outcome::kBusy:
          if (place == nullptr || line->idle_blocks > kMostIdleBlocks) Sleep(lock, line);
          line->must_block = true;
          break;
        case Contender::Outcome::kBusyUntold:
          Sleep(lock, line);
          break;
        case Contender::Outcome::kGranted:
        case Contender::Outcome::kFailed:
          LeavePlace(lock, line);
          line->pause.Reset();
          break;
      }
    }
  }
}

void WaitQueue::TakePlace(Lock* lock, Line* line) {
  std::shared_ptr<Contender> contender = HeadOf(*line)->contender;
  lock->unlock();
  std::shared_ptr<Place> place = contender->TakePlace();
  const std::uint64_t signs_of_life = place == nullptr ? 0 : place->SignsOfLife();
  contender.reset();
  lock->lock();
  line->polled = place == nullptr;
  line->place = std::move(place);
  line->must_block = true;
  line->idle_blocks = 0;
  line->signs_of_life = signs_of_life;
  BeginWatch(line);
}

void WaitQueue::BlockInPlace(Lock* lock, Line* line) {
  const std::shared_ptr<Place> place = line->place;
  line->blocked = true;
  KeepWatch(line);
  lock->unlock();
  const auto start = Clock::now();
  const bool told = place->Block();
  const bool took_time = Clock::now() - start > kNoTime;
  lock->lock();
  line->blocked = false;
  line->must_block = false;
  line->idle_blocks = took_time ? 0 : line->idle_blocks + 1;
  if (told) return;
  LeavePlace(lock, line);
  line->polled = true;
}

void WaitQueue::LeavePlace(Lock* lock, Line* line) {
  Unschedule(line);
  const std::shared_ptr<Place> place = std::move(line->place);
  line->place = nullptr;
  line->polled = false;
  if (place == nullptr) return;
  lock->unlock();
  place->Leave();
  lock->lock();
}

void WaitQueue::Sleep(Lock* lock, Line* line) {
  line->changed.wait_for(*lock, line->pause.Next(), [line] { return line->poked; });
}

}  // namespace bucketlock
