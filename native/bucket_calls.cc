#include "bucket_calls.h"

#include <memory>
#include <string>
#include <utility>

#include "bucket_contender.h"
#include "call.h"
#include "environment.h"
#include "job.h"
#include "lockfile.h"
#include "lockfile_inspection.h"
#include "lockfile_view.h"
#include "marshal.h"

namespace bucketlock {
namespace {

// A lock that was won becomes a hold of the environment's.
Napi::Object FinishAttempt(Napi::Env env, AttemptResult* result) {
  const bool acquired = result->kind == ResultKind::kAcquired;
  const double hold = acquired ? Environment::Of(env).AddHold(std::move(result->held)) : 0;
  return FromAttempt(env, *result, hold);
}

class AttemptJob : public Job {
 public:
  AttemptJob(BucketSpec spec, Turn turn, AttemptId id, std::shared_ptr<PoolAttempt> attempt)
      : spec_(std::move(spec)), turn_(turn), id_(id), attempt_(std::move(attempt)) {}

  void Run() override {
    if (!attempt_->Begin()) return;
    result_ = AttemptOnce(spec_, turn_);
    attempt_->Done(std::move(result_.held));
  }

  Napi::Value Finish(Napi::Env env) override {
    if (!Environment::Of(env).ForgetAttempt(id_)) return FinishGivenUp(env);
    if (result_.kind != ResultKind::kBusy) Environment::Of(env).LeaveLine(id_);
    result_.held = attempt_->Take();
    return FinishAttempt(env, &result_);
  }

 private:
  // Nothing is won by it, but a dead lockfile that it has removed is gone.
  Napi::Value FinishGivenUp(Napi::Env env) {
    AttemptResult given_up;
    given_up.kind = ResultKind::kBusy;
    given_up.reclaimed = std::move(result_.reclaimed);
    return FromAttempt(env, given_up, /*hold=*/0);
  }

  const BucketSpec spec_;
  const Turn turn_;
  const AttemptId id_;
  const std::shared_ptr<PoolAttempt> attempt_;
  AttemptResult result_;
};

Napi::Value FinishRelease(Napi::Env env, double hold, const HeldLockfile& held,
                          const HoldResult& result) {
  if (IsOver(result)) Environment::Of(env).DropHold(hold);
  return FromRelease(env, result, LockfilePath(held.directory_path()));
}

// A hold that is gone has been released, by this environment.
Napi::Value Gone(Napi::Env env) {
  HoldResult result;
  result.outcome = HoldOutcome::kOurs;
  return FromRelease(env, result, std::string());
}

class ReleaseJob : public Job {
 public:
  ReleaseJob(double hold, std::shared_ptr<HeldLockfile> held)
      : hold_(hold), held_(std::move(held)) {}

  void Run() override { result_ = ReleaseAndPoke(held_.get()); }
  Napi::Value Finish(Napi::Env env) override { return FinishRelease(env, hold_, *held_, result_); }

 private:
  const double hold_;
  const std::shared_ptr<HeldLockfile> held_;
  HoldResult result_;
};

class VerifyJob : public Job {
 public:
  explicit VerifyJob(std::shared_ptr<HeldLockfile> held) : held_(std::move(held)) {}

  void Run() override { result_ = held_->Verify(); }
  Napi::Value Finish(Napi::Env env) override {
    return FromVerify(env, result_, LockfilePath(held_->directory_path()));
  }

 private:
  const std::shared_ptr<HeldLockfile> held_;
  HoldResult result_;
};

class InspectJob : public Job {
 public:
  InspectJob(std::string directory, bool trusted)
      : directory_(std::move(directory)), trusted_(trusted) {}

  void Run() override { look_ = Inspect(directory_, trusted_); }
  Napi::Value Finish(Napi::Env env) override { return FromLook(env, look_); }

 private:
  const std::string directory_;
  const bool trusted_;
  Look look_;
};

class BreakJob : public Job {
 public:
  BreakJob(std::string directory, std::string token, bool trusted)
      : directory_(std::move(directory)), token_(std::move(token)), trusted_(trusted) {}

  void Run() override { result_ = Break(directory_, token_, trusted_); }
  Napi::Value Finish(Napi::Env env) override { return FromBreak(env, result_); }

 private:
  const std::string directory_;
  const std::string token_;
  const bool trusted_;
  BreakResult result_;
};

std::shared_ptr<HeldLockfile> HoldAt(const Napi::CallbackInfo& info, std::size_t index) {
  return Environment::Of(info.Env()).FindHold(NumberAt(info, index));
}

void DeleteSpec(Napi::Env, BucketSpec* spec) { delete spec; }

// Kept for the lock object that calls with it: reading it anew costs as much as a system call.
Napi::Value MakeBucketSpec(const Napi::CallbackInfo& info) {
  auto spec = std::make_unique<BucketSpec>();
  spec->directory = StringAt(info, 0);
  spec->mode = static_cast<unsigned>(NumberAt(info, 1));
  spec->create = BooleanAt(info, 2);
  if (StringAt(info, 3) == "pid") spec->format = RecordFormat::kPidOnly;
  spec->trusted = BooleanAt(info, 4);
  const auto kept = Napi::External<BucketSpec>::New(info.Env(), spec.get(), DeleteSpec);
  static_cast<void>(spec.release());  // DeleteSpec owns it now.
  return kept;
}

// The first two arguments: the spec and the label.
BucketSpec BucketSpecOf(const Napi::CallbackInfo& info) {
  BucketSpec spec;
  if (info[0].IsExternal()) spec = *info[0].As<Napi::External<BucketSpec>>().Data();
  if (info[1].IsString()) spec.label = StringAt(info, 1);
  return spec;
}

Napi::Value BucketAttempt(const Napi::CallbackInfo& info) {
  BucketSpec spec = BucketSpecOf(info);
  const bool in_turn = BooleanAt(info, 2);
  const auto [id, attempt] =
      Environment::Of(info.Env()).AddAttempt(in_turn ? &spec.directory : nullptr);
  Napi::Object pending = Napi::Object::New(info.Env());
  pending.Set("request", Napi::Number::New(info.Env(), static_cast<double>(id)));
  if (attempt == nullptr) return pending;
  const Turn turn = in_turn ? Turn::kFirstHere : Turn::kAny;
  pending.Set("settled", Job::Start(info.Env(), std::make_unique<AttemptJob>(std::move(spec), turn,
                                                                             id, attempt)));
  return pending;
}

void CancelAttempt(const Napi::CallbackInfo& info) {
  Environment::Of(info.Env()).CancelAttempt(static_cast<AttemptId>(NumberAt(info, 0)));
}

void LeaveLine(const Napi::CallbackInfo& info) {
  Environment::Of(info.Env()).LeaveLine(static_cast<AttemptId>(NumberAt(info, 0)));
}

Napi::Value BucketAttemptSync(const Napi::CallbackInfo& info) {
  const BucketSpec spec = BucketSpecOf(info);
  AttemptResult result = AttemptOnce(spec, BooleanAt(info, 2) ? Turn::kLast : Turn::kAny);
  return FinishAttempt(info.Env(), &result);
}

// What a wait for a bucket lock comes to: a granted lock becomes a hold.
Environment::Finish FinishBucketWait(std::shared_ptr<BucketContender> contender) {
  return [contender = std::move(contender)](Napi::Env env, bool settled) {
    if (!settled) return FromAttempt(env, contender->LastBusy(), /*hold=*/0);
    return FinishAttempt(env, &contender->result());
  };
}

Napi::Value BucketWait(const Napi::CallbackInfo& info) {
  const BucketSpec spec = BucketSpecOf(info);
  auto contender = std::make_shared<BucketContender>(spec, BooleanAt(info, 2));
  return Environment::Of(info.Env())
      .Wait(info.Env(), spec.directory, static_cast<AttemptId>(NumberAt(info, 3)), contender,
            FinishBucketWait(contender));
}

Napi::Value BucketWaitSync(const Napi::CallbackInfo& info) {
  const BucketSpec spec = BucketSpecOf(info);
  auto contender = std::make_shared<BucketContender>(spec, /*attempted=*/true);
  return Environment::Of(info.Env())
      .WaitSync(info.Env(), spec.directory, contender, FinishBucketWait(contender));
}

Napi::Value ReleaseAsync(const Napi::CallbackInfo& info) {
  std::shared_ptr<HeldLockfile> held = HoldAt(info, 0);
  if (held == nullptr) {
    const auto deferred = Napi::Promise::Deferred::New(info.Env());
    deferred.Resolve(Gone(info.Env()));
    return deferred.Promise();
  }
  return Job::Start(info.Env(), std::make_unique<ReleaseJob>(NumberAt(info, 0), std::move(held)));
}

Napi::Value ReleaseSync(const Napi::CallbackInfo& info) {
  const std::shared_ptr<HeldLockfile> held = HoldAt(info, 0);
  if (held == nullptr) return Gone(info.Env());
  return FinishRelease(info.Env(), NumberAt(info, 0), *held, ReleaseAndPoke(held.get()));
}

// A hold that is gone is not ours any more.
Napi::Value VerifyGone(Napi::Env env) {
  HoldResult result;
  result.outcome = HoldOutcome::kLost;
  return FromVerify(env, result, std::string());
}

Napi::Value VerifyAsync(const Napi::CallbackInfo& info) {
  std::shared_ptr<HeldLockfile> held = HoldAt(info, 0);
  if (held == nullptr) {
    const auto deferred = Napi::Promise::Deferred::New(info.Env());
    deferred.Resolve(VerifyGone(info.Env()));
    return deferred.Promise();
  }
  return Job::Start(info.Env(), std::make_unique<VerifyJob>(std::move(held)));
}

Napi::Value VerifySync(const Napi::CallbackInfo& info) {
  const std::shared_ptr<HeldLockfile> held = HoldAt(info, 0);
  if (held == nullptr) return VerifyGone(info.Env());
  return FromVerify(info.Env(), held->Verify(), LockfilePath(held->directory_path()));
}

Napi::Value InspectAsync(const Napi::CallbackInfo& info) {
  return Job::Start(info.Env(),
                    std::make_unique<InspectJob>(StringAt(info, 0), BooleanAt(info, 1)));
}

Napi::Value InspectSync(const Napi::CallbackInfo& info) {
  return FromLook(info.Env(), Inspect(StringAt(info, 0), BooleanAt(info, 1)));
}

Napi::Value BreakAsync(const Napi::CallbackInfo& info) {
  return Job::Start(info.Env(), std::make_unique<BreakJob>(StringAt(info, 0), StringAt(info, 1),
                                                           BooleanAt(info, 2)));
}

Napi::Value BreakSync(const Napi::CallbackInfo& info) {
  return FromBreak(info.Env(), Break(StringAt(info, 0), StringAt(info, 1), BooleanAt(info, 2)));
}

}  // namespace

void AddBucketCalls(Napi::Object* exports) {
  AddCall(exports, "bucketSpec", MakeBucketSpec);
  AddCall(exports, "bucketAttempt", BucketAttempt);
  AddCall(exports, "bucketAttemptSync", BucketAttemptSync);
  AddCall(exports, "cancelAttempt", CancelAttempt);
  AddCall(exports, "leaveLine", LeaveLine);
  AddCall(exports, "bucketWait", BucketWait);
  AddCall(exports, "bucketWaitSync", BucketWaitSync);
  AddCall(exports, "release", ReleaseAsync);
  AddCall(exports, "releaseSync", ReleaseSync);
  AddCall(exports, "verify", VerifyAsync);
  AddCall(exports, "verifySync", VerifySync);
  AddCall(exports, "inspect", InspectAsync);
  AddCall(exports, "inspectSync", InspectSync);
  AddCall(exports, "breakLock", BreakAsync);
  AddCall(exports, "breakLockSync", BreakSync);
}

}  // namespace bucketlock
