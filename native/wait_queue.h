// Waiting for locks, without the libuv pool and without a thread for each waiter.
//
// Requests for one lock stand in one line, first come first served, whichever thread of the process
// they come from. Each line has one thread, which stands for the request at its head in the line of
// processes; it knows no kind of lock, only Contender. Beyond kMaxThreads, lines are polled until a
// thread is free.
//
// Nothing depends on the line of processes: its head may be suspended, or somebody may lock what
// the line is made of. So for each line that blocks, one thread more, the timekeeper of them all,
// makes an attempt out of turn where nothing has moved for a while.
//
// A granted lock stays with its contender until the request leaves the queue; whoever lets the
// contender go then, releases.

#ifndef BUCKETLOCK_WAIT_QUEUE_H_
#define BUCKETLOCK_WAIT_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "contender.h"
#include "status.h"

namespace bucketlock {

using RequestId = std::uint64_t;

// The thread environment that requests come from.
class WaitParty {
 public:
  virtual ~WaitParty() = default;

  // A request that nobody awaits in WaitFor() is settled, or has left meanwhile. Called from a
  // thread of the queue's: it must only pass the word on.
  virtual void Settled(RequestId request) = 0;

 private:
  friend class WaitQueue;
  // How many of its requests are in a synchronous call; guarded by the queue's mutex.
  int sync_calls_ = 0;
};

enum class WaitMode {
  kAsync,
  // The requesting thread is about to block in WaitFor(). Meanwhile its asynchronous requests are
  // passed over, for it could not take what they are granted.
  kSync,
};

class WaitQueue {
 public:
  static constexpr std::size_t kMaxThreads = 64;

  // The process's own. Never destroyed: its threads outlive what exit() destroys.
  static WaitQueue& OfProcess();

  // A number that no request has.
  RequestId NewId();

  // Keeps a place at the end of the line for somebody who makes an attempt of his own first, if
  // nobody stands there; `first` says that. A first one who takes his time is passed over.
  RequestId Reserve(const std::string& line, std::shared_ptr<WaitParty> party, bool* first);

  // Puts the contender in the place that is reserved for `*request`, or else at the end of the
  // line. Fails only where no thread can be had; then nothing is reserved any more.
  Status Enqueue(const std::string& line, std::shared_ptr<Contender> contender,
                 std::shared_ptr<WaitParty> party, WaitMode mode, RequestId* request);

  // Blocks until the request is settled, `duration` at most. True: it is settled.
  bool WaitFor(RequestId request, std::chrono::milliseconds duration);

  // Takes the request out. True: it was settled, and its contender is the caller's alone. False: it
  // was not; an attempt may still be under way on the contender, and what that wins is released as
  // soon as the caller lets the contender go, too.
  bool Leave(RequestId request);

  // Blocks until no attempt for a request of the party's is under way, `duration` at most. What an
  // attempt has won for a request that left meanwhile is released by then.
  void AwaitAttempts(const WaitParty& party, std::chrono::milliseconds duration);

  bool IsSomebodyIn(const std::string& line);

  // The lock of this line may be free now.
  void Poke(const std::string& line);

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;

  struct Request;
  struct Line;
  struct Worker;

  WaitQueue() = default;

  // wait_queue.cc
  Line* LineNamed(const std::string& name);
  Request* Append(Line* line, RequestId id, std::shared_ptr<WaitParty> party, WaitMode mode);
  Request* HeadOf(const Line& line) const;
  // One attempt for the line's head, which must be there.
  Contender::Outcome Attempt(Lock* lock, Line* line, Place* place);
  void Settle(Lock* lock, Line* line, RequestId id, std::shared_ptr<Contender> contender,
              const Place* place);
  std::unique_ptr<Request> Remove(Request* request);
  void Forget(Line* line);

  // wait_worker.cc
  static void RunWorker(void* worker);
  void Work(Lock* lock, Worker* worker);
  Status FindWorker(Line* line);
  void Serve(Lock* lock, Line* line);
  void TakePlace(Lock* lock, Line* line);
  void BlockInPlace(Lock* lock, Line* line);
  void LeavePlace(Lock* lock, Line* line);
  void Sleep(Lock* lock, Line* line);

  // wait_timekeeper.cc
  static void RunTimekeeper(void* queue);
  void KeepTime(Lock* lock);
  Status Schedule(Line* line, Clock::time_point due);
  void Unschedule(Line* line);
  void BeginWatch(Line* line);
  void KeepWatch(Line* line);
  bool Moves(Lock* lock, Line* line);
  void Watch(Lock* lock, Line* line);
  void Poll(Lock* lock, Line* line);

  std::mutex mutex_;
  // An attempt is over.
  std::condition_variable attempt_over_;
  RequestId last_request_ = 0;
  std::unordered_map<RequestId, std::unique_ptr<Request>> requests_;
  std::map<std::string, std::unique_ptr<Line>> lines_;

  std::size_t workers_ = 0;
  std::vector<Worker*> idle_workers_;
  // Those that found no worker, oldest first.
  std::list<Line*> unserved_;

  bool has_timekeeper_ = false;
  // When it looks at the schedule next, if nobody wakes it.
  Clock::time_point timekeeper_wakes_;
  std::condition_variable schedule_changed_;
  std::set<std::pair<Clock::time_point, Line*>> schedule_;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_WAIT_QUEUE_H_
