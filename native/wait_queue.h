// Waiting for locks, without the libuv pool and without a thread for each waiter.
//
// Requests for one lock stand in one line, first come first served, whichever thread of the process
// they come from. Each line has one thread, which drives the request at its head; it knows no kind
// of lock, only Contender. Beyond kMaxThreads lines share threads, and are polled.
//
// A granted lock stays with its contender until the request leaves the queue; whoever lets the
// contender go then, releases.

#ifndef BUCKETLOCK_WAIT_QUEUE_H_
#define BUCKETLOCK_WAIT_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "contender.h"
#include "status.h"

namespace bucketlock {

using RequestId = std::uint64_t;

// The thread environment that requests come from.
class WaitParty {
 public:
  virtual ~WaitParty() = default;

  // A request that nobody awaits in WaitFor() is settled. Called from a thread of the queue's,
  // under its mutex: it must only pass the word on.
  virtual void Settled(RequestId request) = 0;

 private:
  friend class WaitQueue;
  // How many of its requests are in a synchronous call; guarded by the queue's mutex.
  int sync_calls_ = 0;
};

enum class WaitMode {
  kAsync,
  // The party's thread is about to block in WaitFor(). Meanwhile its asynchronous requests are
  // passed over, for it could not take what they are granted.
  kSync,
};

class WaitQueue {
 public:
  static constexpr std::size_t kMaxThreads = 64;

  // The process's own. Never destroyed: its threads outlive what exit() destroys.
  static WaitQueue& OfProcess();

  // Puts the contender at the end of the line. Fails only where no thread can be had.
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

  // The lock of this line may be free now.
  void Poke(const std::string& line);

 private:
  struct Request;
  struct Line;
  struct Worker;

  WaitQueue() = default;

  static void RunWorker(void* worker);
  void Run(Worker* worker);
  // One attempt for the line's head, if there is one. True: that settled it.
  bool Drive(std::unique_lock<std::mutex>* lock, Line* line);
  bool Attempt(std::unique_lock<std::mutex>* lock, Line* line, RequestId id,
               std::shared_ptr<Contender> contender);
  Request* HeadOf(const Line& line) const;
  void Pause(std::unique_lock<std::mutex>* lock, Worker* worker);
  Status GiveWorker(Line* line);

  std::mutex mutex_;
  // A request is settled, or an attempt is over.
  std::condition_variable changed_;
  RequestId last_request_ = 0;
  std::map<RequestId, std::unique_ptr<Request>> requests_;
  std::map<std::string, std::unique_ptr<Line>> lines_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_WAIT_QUEUE_H_
