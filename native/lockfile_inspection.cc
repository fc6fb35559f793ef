#include "lockfile_inspection.h"

#include <utility>

#include "brief_retries.h"
#include "held_lockfile.h"
#include "lockfile_view.h"
#include "platform/file.h"
#include "platform/kernel_lock.h"
#include "private_files.h"

namespace bucketlock {
namespace {

void Fail(const Status& status, const std::string& path, Look* look) {
  look->outcome =
      status.code == StatusCode::kUnsupported ? LookOutcome::kUnsupported : LookOutcome::kFailed;
  look->status = status;
  look->path = path;
}

void See(LockReport report, Look* look) {
  look->outcome = LookOutcome::kSeen;
  look->report = std::move(report);
}

enum class Found { kLockfile, kNothing, kOver };

// kOver: `look` is final.
Found OpenLockfile(const std::string& path, Handle* directory, Handle* file, Look* look) {
  Status status;
  switch (OpenDirectory(path, DirectoryUse::kNames, directory, &status)) {
    case DirectoryOutcome::kOpened:
      break;
    case DirectoryOutcome::kMissing:
      return Found::kNothing;
    case DirectoryOutcome::kNotDirectory:
      look->outcome = LookOutcome::kInvalid;
      look->invalid = InvalidReason::kNotDirectory;
      return Found::kOver;
    case DirectoryOutcome::kFailed:
      Fail(status, path, look);
      return Found::kOver;
  }
  switch (OpenExisting(*directory, kLockfileName, file, &status)) {
    case OpenOutcome::kOpened:
      return Found::kLockfile;
    case OpenOutcome::kAbsent:
      return Found::kNothing;
    case OpenOutcome::kNotRegular:
      look->outcome = LookOutcome::kInvalid;
      look->invalid = InvalidReason::kLockfileNotRegular;
      return Found::kOver;
    case OpenOutcome::kDenied:
      See(UnreadableReport(), look);
      return Found::kOver;
    case OpenOutcome::kFailed:
      break;
  }
  Fail(status, LockfilePath(path), look);
  return Found::kOver;
}

// Removes what the caller has the guard of. False: it is not the named record.
bool RemoveNamed(const Handle& directory, const Handle& file, const LockReport& seen,
                 const std::string& token, const std::string& path, Look* look) {
  if (seen.token != token) return false;
  Status status;
  const SameOutcome same = SameFile(directory, kLockfileName, file, &status);
  // Another breaker was faster: the file is still open, so nothing else can be it.
  if (same == SameOutcome::kDifferent) return true;
  if (same == SameOutcome::kSame) {
    const RemoveOutcome removed = RemoveName(directory, kLockfileName, file, &status);
    if (removed == RemoveOutcome::kRemoved || removed == RemoveOutcome::kAbsent) return true;
    if (removed == RemoveOutcome::kBusy) return false;
  }
  Fail(status, path, look);
  return false;
}

// Where guards exclude nobody, another breaker and a new holder may be at work beside us: so what
// the name stands for is taken aside first, and compared where nobody else knows it.
bool RemoveForeign(const Handle& directory, const Handle& file, const std::string& path,
                   Look* look) {
  Status status;
  switch (SameFile(directory, kLockfileName, file, &status)) {
    case SameOutcome::kSame:
      break;
    case SameOutcome::kDifferent:
      return true;
    case SameOutcome::kFailed:
      Fail(status, path, look);
      return false;
  }
  PrivateFile aside;
  status = MakeToken(&aside.name);
  if (status.ok()) {
    aside.name = PrivateName(aside.name);
    status = RenameName(directory, kLockfileName, aside.name);
  }
  if (status.code == StatusCode::kVanished) return true;
  if (!status.ok()) {
    Fail(status, path, look);
    return false;
  }
  // The file we judged is still open, so nothing else can have its identity.
  if (SameFile(directory, aside.name, file, &status) == SameOutcome::kSame) {
    const RemoveOutcome removed = RemoveName(directory, aside.name, file, &status);
    if (removed == RemoveOutcome::kRemoved || removed == RemoveOutcome::kAbsent) return true;
    Fail(status, path, look);
    return false;
  }
  // Somebody else's after all: back it goes, unless the name is taken again already.
  static_cast<void>(Publish(directory, aside, kLockfileName, &status));
  return false;
}

// False: the guard is held, and `result` says by whom.
bool BreakOnce(const std::string& directory_path, const std::string& token, bool trusted,
               BreakResult* result) {
  Handle directory;
  Handle file;
  const Found found = OpenLockfile(directory_path, &directory, &file, &result->look);
  if (found == Found::kOver) return true;
  if (found == Found::kNothing) {
    See(LockReport(), &result->look);
    result->gone = true;
    return true;
  }
  Status status;
  const LockOutcome guard = TryLock(file, LockMode::kExclusive, &status);
  if (guard == LockOutcome::kUnsupported || guard == LockOutcome::kFailed) {
    result->gone = status.code == StatusCode::kVanished;
    if (result->gone) {
      See(LockReport(), &result->look);
    } else {
      Fail(status, LockfilePath(directory_path), &result->look);
    }
    return true;
  }
  const bool held = guard == LockOutcome::kHeld;
  const LockfileView view = ViewLockfile(file, held, trusted);
  See(view.report, &result->look);
  if (held) return false;
  const std::string path = LockfilePath(directory_path);
  const bool foreign = view.judgement.evidence == Evidence::kForeign;
  // Its guard may be in another table of locks than ours, but it is there.
  if (foreign && view.owner_lives) {
    Unlock(file);
    return true;
  }
  if (!foreign || view.report.token != token) {
    result->gone = RemoveNamed(directory, file, view.report, token, path, &result->look);
  } else {
    result->gone = RemoveForeign(directory, file, path, &result->look);
  }
  Unlock(file);
  return true;
}

}  // namespace

Look Inspect(const std::string& directory_path, bool trusted) {
  Look look;
  for (BriefRetries retries;;) {
    Handle directory;
    Handle file;
    const Found found = OpenLockfile(directory_path, &directory, &file, &look);
    if (found == Found::kOver) return look;
    if (found == Found::kNothing) {
      See(LockReport(), &look);
      return look;
    }
    Status status;
    const LockOutcome guard = TryLock(file, LockMode::kShared, &status);
    const bool refused = guard == LockOutcome::kUnsupported || guard == LockOutcome::kFailed;
    if (refused && status.code != StatusCode::kVanished) {
      Fail(status, LockfilePath(directory_path), &look);
      const Status ignored = FileSystemOf(file, &look.file_system);
      static_cast<void>(ignored);
      return look;
    }
    const bool held = guard == LockOutcome::kHeld;
    LockfileView view = ViewLockfile(file, held, trusted);
    if (guard == LockOutcome::kAcquired) Unlock(file);
    const bool settled = !view.vanished && (!held || view.owner_may_live);
    if (settled || !retries.Pause()) {
      See(std::move(view.report), &look);
      return look;
    }
  }
}

BreakResult Break(const std::string& directory_path, const std::string& token, bool trusted) {
  for (BriefRetries retries;;) {
    BreakResult result;
    const bool held = !BreakOnce(directory_path, token, trusted, &result);
    const bool may_be_a_look = held && result.look.report.token == token;
    if (!may_be_a_look || !retries.Pause()) return result;
  }
}

}  // namespace bucketlock
