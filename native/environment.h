// What one thread environment (the main thread, a worker) has in the addon: the locks it holds and
// the requests it waits for. All of it is given back when the environment ends.

#ifndef BUCKETLOCK_ENVIRONMENT_H_
#define BUCKETLOCK_ENVIRONMENT_H_

#include <napi.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "contender.h"
#include "held_lockfile.h"
#include "named_claims.h"
#include "pool_attempt.h"
#include "wait_queue.h"

namespace bucketlock {

class Mailbox;

// Also that of the request whose place in line it keeps.
using AttemptId = RequestId;

// Lives as the environment's instance data. All calls are made on the environment's thread.
class Environment {
 public:
  explicit Environment(napi_env env);
  ~Environment();

  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  static Environment& Of(Napi::Env env);

  // False: Node.js made no thread-safe function, and no wait could ever be told.
  bool usable() const { return settle_ != nullptr; }

  // Keeps the lock under a number that JavaScript can name. Once the environment closes, the lock
  // is released instead, and the answer is 0.
  double AddHold(std::shared_ptr<HeldLockfile> held);
  // Null: there is no such hold any more.
  std::shared_ptr<HeldLockfile> FindHold(double hold) const;
  // Forgets a hold that is released or lost.
  void DropHold(double hold);
  // For the end: drops all that is pending and releases what it can until the budget is spent.
  void ReleaseAll(std::chrono::milliseconds budget);

  // An attempt that is about to be queued on the pool.
  // With a line it has a place there too, until that is left; null, and none to be made, where
  // others of this process stand there already.
  std::pair<AttemptId, std::shared_ptr<PoolAttempt>> AddAttempt(const std::string* line);
  // For an attempt that is back from the pool. False: it has been cancelled meanwhile.
  bool ForgetAttempt(AttemptId id);
  // What it has won or still wins is released by the addon.
  void CancelAttempt(AttemptId id);
  // Gives up the place that an attempt has kept.
  void LeaveLine(AttemptId id);

  // What a wait comes to: of a settled contender its result, of another why it was busy last.
  using Finish = std::function<Napi::Object(Napi::Env env, bool settled)>;

  // Puts the contender in line, in the place that an attempt has kept. Wait answers {request,
  // settled}; WaitSync the request, or a failure object where no thread can be had.
  Napi::Value Wait(Napi::Env env, const std::string& line, AttemptId kept,
                   std::shared_ptr<Contender> contender, Finish finish);
  Napi::Value WaitSync(Napi::Env env, const std::string& line, std::shared_ptr<Contender> contender,
                       Finish finish);
  Napi::Value WaitSlice(Napi::Env env, RequestId request, std::chrono::milliseconds slice);
  Napi::Value CancelWait(Napi::Env env, RequestId request);

  NamedClaims& named_claims() { return *named_claims_; }

 private:
  struct Pending {
    Finish finish;
    // None for a synchronous wait.
    std::optional<Napi::Promise::Deferred> settled;
  };

  using PendingMap = std::unordered_map<RequestId, Pending>;

  static void OnCleanUp(void* environment);
  static void OnSettled(napi_env env, napi_value callback, void* environment, void* request);

  Status Enqueue(const std::string& line, std::shared_ptr<Contender> contender, Finish finish,
                 WaitMode mode, RequestId* request);
  // Takes it out of what is pending; it may still be in line.
  Pending Withdraw(PendingMap::iterator at);
  // A pending asynchronous wait keeps the event loop alive, as a pending read would.
  void HoldLoop(bool alive);
  void Close();

  const napi_env env_;
  napi_threadsafe_function settle_ = nullptr;
  std::shared_ptr<Mailbox> mailbox_;
  std::shared_ptr<WaitParty> party_;
  std::unique_ptr<NamedClaims> named_claims_;
  std::unordered_map<AttemptId, std::shared_ptr<PoolAttempt>> attempts_;
  std::unordered_set<AttemptId> kept_places_;
  std::unordered_map<std::uint64_t, std::shared_ptr<HeldLockfile>> holds_;
  std::uint64_t last_hold_ = 0;
  PendingMap pending_;
  int async_waits_ = 0;
  bool closed_ = false;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_ENVIRONMENT_H_
