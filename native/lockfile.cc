#include "lockfile.h"

#include <utility>

#include "brief_retries.h"
#include "lockfile_birth.h"
#include "lockfile_view.h"
#include "platform/kernel_lock.h"

namespace bucketlock {
namespace {

// How often one attempt starts over because somebody else was faster. Each round means that another
// process made progress.
constexpr int kMaxRounds = 64;

// How often a missing bucket is made, should somebody remove it again at once.
constexpr int kMaxMakings = 2;

AttemptResult Invalid(InvalidReason reason) {
  AttemptResult result;
  result.kind = ResultKind::kInvalid;
  result.invalid = reason;
  return result;
}

AttemptResult Failed(const Status& status, const std::string& path) {
  AttemptResult result;
  result.kind =
      status.code == StatusCode::kUnsupported ? ResultKind::kUnsupported : ResultKind::kFailed;
  result.status = status;
  result.path = path;
  return result;
}

AttemptResult Busy(LockReport report) {
  AttemptResult result;
  result.kind = ResultKind::kBusy;
  result.report = std::move(report);
  return result;
}

// One attempt's state, so that its steps can be told apart.
class Attempt {
 public:
  Attempt(const BucketSpec& spec, AttemptMemory* memory, const AttemptManner& manner)
      : spec_(spec),
        memory_(memory),
        manner_(manner),
        lockfile_path_(LockfilePath(spec.directory)) {}

  AttemptResult Run() {
    AttemptResult result;
    // An attempt out of turn leaves it: most of those meet the holder, and it would be gone for
    // nothing when its turn comes.
    if (manner_.prepares && memory_->prepared.has_value() && PublishWhatIsPrepared(&result)) {
      return result;
    }
    result = RunRounds();
    result.reclaimed = std::move(reclaimed_);
    if (manner_.prepares && result.guarded.valid()) memory_->prepared = PrepareLockfile(spec_);
    return result;
  }

 private:
  // False: nothing is prepared any more.
  bool PublishWhatIsPrepared(AttemptResult* result) {
    PreparedLockfile prepared = std::move(*memory_->prepared);
    memory_->prepared.reset();
    NewLockfile made;
    if (!PublishPrepared(spec_, std::move(prepared), &directory_, &made)) return false;
    TakeLock(std::move(made), result);
    return true;
  }

  void TakeLock(NewLockfile made, AttemptResult* result) {
    result->kind = ResultKind::kAcquired;
    result->held = std::make_shared<HeldLockfile>(spec_.directory, std::move(directory_),
                                                  std::move(made.file));
    result->token = std::move(made.token);
  }

  AttemptResult RunRounds() {
    AttemptResult result;
    if (!OpenBucket(&result)) return result;
    if (manner_.is_somebody_waiting != nullptr && manner_.is_somebody_waiting(directory_)) {
      return Busy(LockReport());
    }
    for (int round = 0; round < kMaxRounds + brief_retries_.spent(); ++round) {
      if (Round(&result)) return result;
    }
    // So many others got in and out meanwhile that the last one's report is as good as any.
    return Busy(std::move(last_));
  }

  // False: `result` says why.
  bool OpenBucket(AttemptResult* result) {
    Status status;
    const DirectoryUse use =
        manner_.is_somebody_waiting == nullptr ? DirectoryUse::kNames : DirectoryUse::kQueue;
    for (int tries = 0;; ++tries) {
      switch (OpenDirectory(spec_.directory, use, &directory_, &status)) {
        case DirectoryOutcome::kOpened:
          memory_->seen_directory = true;
          return true;
        case DirectoryOutcome::kNotDirectory:
          *result = Invalid(InvalidReason::kNotDirectory);
          return false;
        case DirectoryOutcome::kFailed:
          *result = Failed(status, spec_.directory);
          return false;
        case DirectoryOutcome::kMissing:
          break;
      }
      if (memory_->seen_directory || tries > kMaxMakings) {
        *result = Invalid(InvalidReason::kDirectoryDisappeared);
        return false;
      }
      if (!spec_.create) {
        *result = Invalid(InvalidReason::kDirectoryMissing);
        return false;
      }
      bool made = false;
      status = MakeDirectory(spec_.directory, &made);
      if (status.ok() && !made && tries > 0) {
        // There is something of that name, and yet no directory: a link that leads nowhere.
        *result = Invalid(InvalidReason::kNotDirectory);
        return false;
      }
      if (!status.ok()) {
        *result = Failed(status, spec_.directory);
        return false;
      }
    }
  }

  // True: the attempt is over, and `result` is filled. False: start over.
  bool Round(AttemptResult* result) {
    Handle file;
    Status status;
    switch (OpenExisting(directory_, kLockfileName, &file, &status)) {
      case OpenOutcome::kOpened:
        return MeetLockfile(std::move(file), result);
      case OpenOutcome::kAbsent:
        return Create(result);
      case OpenOutcome::kNotRegular:
        *result = Invalid(InvalidReason::kLockfileNotRegular);
        return true;
      case OpenOutcome::kDenied:
        last_ = UnreadableReport();
        *result = Busy(last_);
        return true;
      case OpenOutcome::kFailed:
        break;
    }
    *result = Failed(status, lockfile_path_);
    return true;
  }

  bool MeetLockfile(Handle file, AttemptResult* result) {
    Status status;
    switch (TryLock(file, LockMode::kExclusive, &status)) {
      case LockOutcome::kAcquired:
        break;
      case LockOutcome::kHeld:
        return MeetGuard(std::move(file), result);
      case LockOutcome::kUnsupported:
        *result = Unsupported(status, file);
        return true;
      case LockOutcome::kFailed:
        if (status.code == StatusCode::kVanished) return false;
        *result = Failed(status, lockfile_path_);
        return true;
    }
    const bool over = HoldingGuard(file, result);
    Unlock(file);
    if (over || !removed_) return over;
    // Whoever has removed a dead lock must not give up before it has tried to create: of several
    // that meet one dead lock, the others may have given up because of us.
    removed_ = false;
    return Create(result);
  }

  // The guard is somebody's.
  bool MeetGuard(Handle file, AttemptResult* result) {
    if (manner_.will_await_guard) {
      *result = Busy(LockReport());
      result->guarded = std::move(file);
      return true;
    }
    // A guard that can be shared is shared already: by somebody who looks, and holds nothing.
    Status status;
    const bool looked_at = TryLock(file, LockMode::kShared, &status) == LockOutcome::kAcquired;
    const LockfileView view = ViewLockfile(file, /*guard_held=*/!looked_at, spec_.trusted);
    if (looked_at) Unlock(file);
    if (view.vanished) return false;
    last_ = view.report;
    // Provably not its recorded owner's: then it is a peer's who is about to remove it.
    if ((looked_at || !view.owner_may_live) && brief_retries_.Pause()) return false;
    *result = Busy(last_);
    return true;
  }

  // The guard is ours: nobody else judges or removes this file now.
  bool HoldingGuard(const Handle& file, AttemptResult* result) {
    Status status;
    switch (SameFile(directory_, kLockfileName, file, &status)) {
      case SameOutcome::kSame:
        break;
      case SameOutcome::kDifferent:
        return false;
      case SameOutcome::kFailed:
        *result = Failed(status, lockfile_path_);
        return true;
    }
    LockfileView view = ViewLockfile(file, /*guard_held=*/false, spec_.trusted);
    if (view.vanished) return false;
    if (view.malformed && view.judgement.verdict == Verdict::kHeld) Watch(file, &view);
    last_ = view.report;
    if (view.judgement.verdict == Verdict::kHeld) {
      *result = Busy(last_);
      return true;
    }
    switch (RemoveName(directory_, kLockfileName, file, &status)) {
      case RemoveOutcome::kRemoved:
        reclaimed_ = last_;
        met_dead_ = true;
        removed_ = true;
        return false;
      case RemoveOutcome::kAbsent:
        met_dead_ = true;
        return false;
      case RemoveOutcome::kBusy:
        *result = Busy(last_);
        return true;
      case RemoveOutcome::kFailed:
        break;
    }
    *result = Failed(status, lockfile_path_);
    return true;
  }

  // A malformed lockfile that is not old enough by its date. The date may be wrong, so it is also
  // watched by our own clock; one in the future is set right, for those who do not wait.
  void Watch(const Handle& file, LockfileView* view) {
    // May be forbidden: then watching must do.
    if (view->dated_in_future && TouchNow(file).ok()) return;
    const auto now = std::chrono::steady_clock::now();
    if (memory_->unstamped_token != view->report.token) {
      memory_->unstamped_token = view->report.token;
      memory_->unstamped_since = now;
    } else if (now - memory_->unstamped_since >= kUnstampedGrace) {
      view->judgement.verdict = Verdict::kDead;
      view->report.state = LockState::kStale;
    }
  }

  bool Create(AttemptResult* result) {
    NewLockfile made;
    switch (CreateLockfile(directory_, spec_, met_dead_, &made)) {
      case CreateOutcome::kPublished:
        TakeLock(std::move(made), result);
        return true;
      case CreateOutcome::kExists:
        return false;
      case CreateOutcome::kVanished:
        *result = Invalid(InvalidReason::kDirectoryDisappeared);
        return true;
      case CreateOutcome::kFailed:
        break;
    }
    *result = Failed(made.status, lockfile_path_);
    result->file_system = std::move(made.file_system);
    return true;
  }

  AttemptResult Unsupported(const Status& status, const Handle& file) {
    AttemptResult result = Failed(status, lockfile_path_);
    const Status ignored = FileSystemOf(file, &result.file_system);
    static_cast<void>(ignored);
    return result;
  }

  const BucketSpec& spec_;
  AttemptMemory* const memory_;
  const AttemptManner& manner_;
  const std::string lockfile_path_;
  Handle directory_;
  LockReport last_;
  BriefRetries brief_retries_;
  // The dead lockfile that was removed on the way.
  std::optional<LockReport> reclaimed_;
  // A dead lockfile has just been removed, and nothing tried in its place.
  bool removed_ = false;
  // There was one, whoever removed it: its owner may have left more.
  bool met_dead_ = false;
};

}  // namespace

AttemptResult AttemptAcquire(const BucketSpec& spec, AttemptMemory* memory,
                             const AttemptManner& manner) {
  return Attempt(spec, memory, manner).Run();
}

}  // namespace bucketlock
