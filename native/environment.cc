#include "environment.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "bucket_contender.h"
#include "marshal.h"
#include "platform/thread.h"

namespace bucketlock {
namespace {

// What an ending environment may spend on giving back its locks, all together.
constexpr std::chrono::milliseconds kCleanUpBudget(1000);

void ReleaseOnThread(void* raw_held) {
  const std::unique_ptr<std::shared_ptr<HeldLockfile>> held(
      static_cast<std::shared_ptr<HeldLockfile>*>(raw_held));
  static_cast<void>(ReleaseAndPoke(held->get()));
}

std::chrono::milliseconds Remaining(std::chrono::steady_clock::time_point end) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

}  // namespace

// Carries words from other threads into the environment, for as long as there is one.
class Mailbox {
 public:
  explicit Mailbox(napi_threadsafe_function settle) : settle_(settle) {}

  // A request of the wait queue's, or kNamedGrants.
  void Post(RequestId word) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (settle_ == nullptr) return;
    // An environment that is closing takes no calls, and drops its requests itself.
    static_cast<void>(::napi_call_threadsafe_function(
        settle_, reinterpret_cast<void*>(static_cast<std::uintptr_t>(word)),
        napi_tsfn_nonblocking));
  }

  void Close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    settle_ = nullptr;
  }

 private:
  std::mutex mutex_;
  napi_threadsafe_function settle_;
};

namespace {

// No request has this number.
constexpr RequestId kNamedGrants = 0;

class EnvironmentParty : public WaitParty {
 public:
  explicit EnvironmentParty(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}

  void Settled(RequestId request) override { mailbox_->Post(request); }

 private:
  const std::shared_ptr<Mailbox> mailbox_;
};

class EnvironmentNamedParty : public NamedParty {
 public:
  explicit EnvironmentNamedParty(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}

  void Granted() override { mailbox_->Post(kNamedGrants); }

 private:
  const std::shared_ptr<Mailbox> mailbox_;
};

}  // namespace

Environment::Environment(napi_env env) : env_(env) {
  const Napi::String name = Napi::String::New(env, "bucketlock");
  const napi_status made = ::napi_create_threadsafe_function(
      env, /*func=*/nullptr, /*async_resource=*/nullptr, name, /*max_queue_size=*/0,
      /*initial_thread_count=*/1, /*thread_finalize_data=*/nullptr, /*thread_finalize_cb=*/nullptr,
      /*context=*/this, &Environment::OnSettled, &settle_);
  if (made == napi_ok) {
    static_cast<void>(::napi_unref_threadsafe_function(env, settle_));
  } else {
    settle_ = nullptr;
  }
  mailbox_ = std::make_shared<Mailbox>(settle_);
  party_ = std::make_shared<EnvironmentParty>(mailbox_);
  named_claims_ = std::make_unique<NamedClaims>(std::make_shared<EnvironmentNamedParty>(mailbox_),
                                                [this](bool alive) { HoldLoop(alive); });
  // After the thread-safe function was made, because hooks run in reverse: ours clears the pointer
  // before Node destroys what it points to.
  static_cast<void>(::napi_add_env_cleanup_hook(env, &Environment::OnCleanUp, this));
}

Environment::~Environment() { Close(); }

Environment& Environment::Of(Napi::Env env) { return *env.GetInstanceData<Environment>(); }

void Environment::OnCleanUp(void* environment) { static_cast<Environment*>(environment)->Close(); }

void Environment::Close() {
  if (closed_) return;
  closed_ = true;
  mailbox_->Close();
  named_claims_->DropAll();
  ReleaseAll(kCleanUpBudget);
  // Left over is what the system refused to release, or had no time for: dead locks from here on,
  // which the next acquirer reclaims.
  for (const auto& [hold, held] : holds_) held->Abandon();
  holds_.clear();
}

double Environment::AddHold(std::shared_ptr<HeldLockfile> held) {
  if (closed_) return 0;
  holds_.emplace(++last_hold_, std::move(held));
  return static_cast<double>(last_hold_);
}

std::shared_ptr<HeldLockfile> Environment::FindHold(double hold) const {
  const auto found = holds_.find(static_cast<std::uint64_t>(hold));
  return found == holds_.end() ? nullptr : found->second;
}

void Environment::DropHold(double hold) { holds_.erase(static_cast<std::uint64_t>(hold)); }

void Environment::ReleaseAll(std::chrono::milliseconds budget) {
  // First: what is released must not be granted to a request of ours that nobody will take.
  for (const auto& [request, pending] : pending_) {
    static_cast<void>(WaitQueue::OfProcess().Leave(request));
    if (pending.settled.has_value()) HoldLoop(false);
  }
  pending_.clear();
  for (const AttemptId kept : kept_places_) {
    static_cast<void>(WaitQueue::OfProcess().Leave(kept));
  }
  kept_places_.clear();
  const auto end = std::chrono::steady_clock::now() + budget;
  for (const auto& [id, attempt] : attempts_) {
    const std::shared_ptr<HeldLockfile> won = attempt->Abandon();
    if (won != nullptr) static_cast<void>(ReleaseAndPoke(won.get()));
  }
  for (const auto& [id, attempt] : attempts_) attempt->Await(Remaining(end));
  attempts_.clear();
  WaitQueue::OfProcess().AwaitAttempts(*party_, Remaining(end));
  for (auto at = holds_.begin(); at != holds_.end();) {
    if (std::chrono::steady_clock::now() >= end) return;
    at = IsOver(ReleaseAndPoke(at->second.get())) ? holds_.erase(at) : std::next(at);
  }
}

std::pair<AttemptId, std::shared_ptr<PoolAttempt>> Environment::AddAttempt(
    const std::string* line) {
  WaitQueue& queue = WaitQueue::OfProcess();
  bool first = true;
  const AttemptId id = line == nullptr ? queue.NewId() : queue.Reserve(*line, party_, &first);
  if (line != nullptr) kept_places_.insert(id);
  if (!first) return {id, nullptr};
  auto attempt = std::make_shared<PoolAttempt>();
  attempts_.emplace(id, attempt);
  return {id, std::move(attempt)};
}

void Environment::LeaveLine(AttemptId id) {
  if (kept_places_.erase(id) != 0) static_cast<void>(WaitQueue::OfProcess().Leave(id));
}

bool Environment::ForgetAttempt(AttemptId id) { return attempts_.erase(id) != 0; }

void Environment::CancelAttempt(AttemptId id) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return;
  const std::shared_ptr<PoolAttempt> attempt = std::move(found->second);
  attempts_.erase(found);
  std::shared_ptr<HeldLockfile> won = attempt->Abandon();
  if (won == nullptr) return;
  // Not here, since it is I/O, and not on the pool, which may be the very reason for giving up.
  auto argument = std::make_unique<std::shared_ptr<HeldLockfile>>(std::move(won));
  if (StartThread(&ReleaseOnThread, argument.get()).ok()) {
    static_cast<void>(argument.release());  // ReleaseOnThread owns it now.
  } else {
    static_cast<void>(ReleaseAndPoke(argument->get()));
  }
}

Status Environment::Enqueue(const std::string& line, std::shared_ptr<Contender> contender,
                            Finish finish, WaitMode mode, RequestId* request) {
  const Status status =
      WaitQueue::OfProcess().Enqueue(line, std::move(contender), party_, mode, request);
  if (status.ok()) pending_[*request].finish = std::move(finish);
  return status;
}

Napi::Value Environment::Wait(Napi::Env env, const std::string& line, AttemptId kept,
                              std::shared_ptr<Contender> contender, Finish finish) {
  const Napi::Promise::Deferred settled = Napi::Promise::Deferred::New(env);
  RequestId request = kept_places_.erase(kept) == 0 ? 0 : kept;
  const Status status =
      Enqueue(line, std::move(contender), std::move(finish), WaitMode::kAsync, &request);
  if (status.ok()) {
    pending_[request].settled = settled;
    HoldLoop(true);
  } else {
    settled.Resolve(FromFailure(env, status, line, std::string()));
  }
  Napi::Object wait = Napi::Object::New(env);
  wait.Set("request", Napi::Number::New(env, static_cast<double>(request)));
  wait.Set("settled", settled.Promise());
  return wait;
}

Napi::Value Environment::WaitSync(Napi::Env env, const std::string& line,
                                  std::shared_ptr<Contender> contender, Finish finish) {
  RequestId request = 0;
  const Status status =
      Enqueue(line, std::move(contender), std::move(finish), WaitMode::kSync, &request);
  if (!status.ok()) return FromFailure(env, status, line, std::string());
  return Napi::Number::New(env, static_cast<double>(request));
}

Napi::Value Environment::WaitSlice(Napi::Env env, RequestId request,
                                   std::chrono::milliseconds slice) {
  const auto found = pending_.find(request);
  if (found == pending_.end()) return env.Undefined();
  if (!WaitQueue::OfProcess().WaitFor(request, slice)) return env.Undefined();
  return CancelWait(env, request);
}

Napi::Value Environment::CancelWait(Napi::Env env, RequestId request) {
  const auto found = pending_.find(request);
  if (found == pending_.end()) return env.Undefined();
  const Pending pending = Withdraw(found);
  // A promise that is never settled would be kept for ever.
  if (pending.settled.has_value()) pending.settled->Resolve(env.Undefined());
  return pending.finish(env, WaitQueue::OfProcess().Leave(request));
}

Environment::Pending Environment::Withdraw(PendingMap::iterator at) {
  Pending pending = std::move(at->second);
  pending_.erase(at);
  if (pending.settled.has_value()) HoldLoop(false);
  return pending;
}

void Environment::OnSettled(napi_env raw_env, napi_value, void* raw_environment,
                            void* raw_request) {
  // Null: the environment is closing, and Close() takes care of the request.
  if (raw_env == nullptr) return;
  Environment* const self = static_cast<Environment*>(raw_environment);
  const RequestId request = reinterpret_cast<std::uintptr_t>(raw_request);
  if (request == kNamedGrants) {
    self->named_claims_->Deliver(raw_env);
    return;
  }
  const auto found = self->pending_.find(request);
  // Given up in the meantime.
  if (found == self->pending_.end()) return;
  const Pending pending = self->Withdraw(found);
  const Napi::Object outcome = pending.finish(raw_env, WaitQueue::OfProcess().Leave(request));
  if (pending.settled.has_value()) pending.settled->Resolve(outcome);
}

void Environment::HoldLoop(bool alive) {
  async_waits_ += alive ? 1 : -1;
  if (settle_ == nullptr || closed_) return;
  if (alive && async_waits_ == 1) {
    static_cast<void>(::napi_ref_threadsafe_function(env_, settle_));
  } else if (async_waits_ == 0) {
    static_cast<void>(::napi_unref_threadsafe_function(env_, settle_));
  }
}

}  // namespace bucketlock
