#include "lockfile_birth.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "clock.h"
#include "held_lockfile.h"
#include "judgement.h"
#include "lockfile_view.h"
#include "owner_record.h"
#include "platform/file.h"
#include "platform/kernel_lock.h"
#include "platform/process.h"
#include "private_files.h"

namespace bucketlock {
namespace {

// True once for each directory in a process, as far as a bounded memory goes.
bool IsFirstUse(const std::string& directory) {
  constexpr std::size_t kMostRemembered = 4096;
  static std::mutex* const mutex = new std::mutex;
  static std::unordered_set<std::string>* const seen = new std::unordered_set<std::string>;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (seen->size() >= kMostRemembered) seen->clear();
  return seen->insert(directory).second;
}

// A sweeper took the private file: as if somebody had been faster.
CreateOutcome FromFailure(const Status& status) {
  return status.code == StatusCode::kVanished ? CreateOutcome::kExists : CreateOutcome::kFailed;
}

// What others read is a promise to all of them, trusting or not. A full record may make it on the
// user's word, for it names the file system; a PID-only one cannot.
bool MayPromiseGuard(const std::string& file_system, const BucketSpec& spec) {
  return CanPromiseGuard(file_system, spec.format) ||
         (spec.trusted && spec.format == RecordFormat::kFull);
}

Status WriteOwner(const PrivateFile& file, const BucketSpec& spec, const std::string& token,
                  std::string file_system) {
  OwnerRecord owner;
  owner.process = CurrentProcess();
  owner.token = token;
  owner.guarded = MayPromiseGuard(file_system, spec);
  owner.file_system = std::move(file_system);
  owner.label = spec.label;
  owner.since_ms = NowMs();
  return WriteAll(file, WriteRecord(owner, spec.format));
}

// Takes the guard and writes the record. Nobody else knows of the file, except a sweeper if it has
// a name: then the guard can be held for a moment, and the file is given up.
CreateOutcome Stamp(const PrivateFile& file, const BucketSpec& spec, NewLockfile* made) {
  switch (TryLock(file.handle, LockMode::kExclusive, &made->status)) {
    case LockOutcome::kAcquired:
      break;
    case LockOutcome::kHeld:
      return CreateOutcome::kExists;
    case LockOutcome::kUnsupported: {
      const Status ignored = FileSystemOf(file.handle, &made->file_system);
      static_cast<void>(ignored);
      return CreateOutcome::kFailed;
    }
    case LockOutcome::kFailed:
      return FromFailure(made->status);
  }
  LetOthersAwait(file.handle);
  std::string file_system;
  made->status = FileSystemOf(file.handle, &file_system);
  if (!made->status.ok()) return FromFailure(made->status);
  made->status = WriteOwner(file, spec, made->token, std::move(file_system));
  return made->status.ok() ? CreateOutcome::kPublished : FromFailure(made->status);
}

CreateOutcome FromPublish(PublishOutcome outcome) {
  switch (outcome) {
    case PublishOutcome::kPublished:
      return CreateOutcome::kPublished;
    case PublishOutcome::kExists:
    // A sweeper took the private file, or the directory is gone: the next round tells.
    case PublishOutcome::kVanished:
      return CreateOutcome::kExists;
    case PublishOutcome::kUnsupported:
    case PublishOutcome::kFailed:
      break;
  }
  return CreateOutcome::kFailed;
}

// False: this file system has no files without a name, or cannot name one later.
bool CreateWithoutName(const Handle& directory, const BucketSpec& spec, NewLockfile* made,
                       CreateOutcome* outcome) {
  PrivateFile file;
  made->status = CreateUnnamed(directory, spec.mode, &file);
  if (made->status.code == StatusCode::kUnsupported) return false;
  *outcome = CreateOutcome::kFailed;
  if (!made->status.ok()) return true;
  *outcome = Stamp(file, spec, made);
  if (*outcome != CreateOutcome::kPublished) return true;
  const PublishOutcome published = Publish(directory, file, kLockfileName, &made->status);
  if (published == PublishOutcome::kUnsupported) return false;
  *outcome = FromPublish(published);
  if (*outcome == CreateOutcome::kPublished) made->file = std::move(file.handle);
  return true;
}

bool IsFree(const Handle& file) {
  Status status;
  const bool free = TryLock(file, LockMode::kShared, &status) == LockOutcome::kAcquired;
  if (free) Unlock(file);
  return free;
}

// Whether a lock on the named file is the lock on the one that we have open: held because of ours,
// and free once ours is. Leaves ours held, or answers false.
bool SharesLock(const Handle& file, const Handle& named) {
  Status status;
  const bool held_with_ours = !IsFree(named);
  Unlock(file);
  const bool free_with_ours = IsFree(named);
  const bool held_again = TryLock(file, LockMode::kExclusive, &status) == LockOutcome::kAcquired;
  return held_with_ours && free_with_ours && held_again;
}

// A FUSE file system may show a name that it was given later as another file, with a lock of its
// own: then a guard guards nothing. Off the allow-list this is found out before anybody relies on
// it, by giving the private file another private name in the very way in which it is published.
Status CheckGuardWhenNamed(const Handle& directory, PrivateFile* file) {
  std::string file_system;
  Status status = FileSystemOf(file->handle, &file_system);
  if (!status.ok() || IsAllowListed(file_system)) return status;
  std::string token;
  status = MakeToken(&token);
  if (!status.ok()) return status;
  const std::string name = PrivateName(token);
  switch (Publish(directory, *file, name, &status)) {
    case PublishOutcome::kPublished:
      break;
    case PublishOutcome::kUnsupported:
    case PublishOutcome::kFailed:
      return status;
    case PublishOutcome::kExists:
    case PublishOutcome::kVanished:
      return Status::Vanished(status.system_error, status.operation);
  }
  file->name = name;
  Handle named;
  switch (OpenExisting(directory, name, &named, &status)) {
    case OpenOutcome::kOpened:
      break;
    case OpenOutcome::kAbsent:
      return Status::Vanished(status.system_error, status.operation);
    case OpenOutcome::kFailed:
    case OpenOutcome::kDenied:
      return status;
    case OpenOutcome::kNotRegular:
      return Status::Useless();
  }
  // Several times, since for a moment a sweeper's lock may be in the way of ours, or look like it.
  constexpr int kTries = 6;
  int shared = 0;
  for (int tries = 0; tries < kTries && shared < kTries / 2; ++tries) {
    if (SharesLock(file->handle, named)) ++shared;
  }
  return shared == kTries / 2 ? Status::Ok() : Status::Useless();
}

CreateOutcome CreateWithName(const Handle& directory, const BucketSpec& spec, NewLockfile* made) {
  PrivateFile file;
  made->status = CreateNamed(directory, PrivateName(made->token), spec.mode, &file);
  if (made->status.code == StatusCode::kVanished) return CreateOutcome::kVanished;
  if (!made->status.ok()) return CreateOutcome::kFailed;
  CreateOutcome outcome = Stamp(file, spec, made);
  if (outcome == CreateOutcome::kPublished && spec.trusted) {
    made->status = CheckGuardWhenNamed(directory, &file);
    if (!made->status.ok()) outcome = FromFailure(made->status);
    if (made->status.code == StatusCode::kUnsupported) {
      const Status ignored = FileSystemOf(file.handle, &made->file_system);
      static_cast<void>(ignored);
    }
  }
  if (outcome == CreateOutcome::kPublished) {
    Status status;
    const PublishOutcome published = Publish(directory, file, kLockfileName, &status);
    outcome = FromPublish(published);
    made->status = status;
    // A request that a network file system repeated may find its own first success in the way.
    if (published == PublishOutcome::kExists &&
        SameFile(directory, kLockfileName, file.handle, &status) == SameOutcome::kSame) {
      outcome = CreateOutcome::kPublished;
      static_cast<void>(RemoveName(directory, file.name, file.handle, &status));
    }
  }
  if (outcome == CreateOutcome::kPublished) {
    made->file = std::move(file.handle);
    return outcome;
  }
  Status ignored;  // The outcome is what counts; a name that stays is swept later.
  static_cast<void>(RemoveName(directory, file.name, file.handle, &ignored));
  return outcome;
}

// A PID-only record has no room for a token, so the handle gets the one that a look derives.
void TakeTokenOfPidOnly(const BucketSpec& spec, NewLockfile* made) {
  if (spec.format != RecordFormat::kPidOnly) return;
  made->token = ViewLockfile(made->file, /*guard_held=*/true, spec.trusted).report.token;
}

// Whether the path still leads to that directory.
bool IsStill(const Handle& directory, const std::string& path) {
  Handle now;
  Status status;
  FileIdentity ours;
  FileIdentity theirs;
  return OpenDirectory(path, DirectoryUse::kNames, &now, &status) == DirectoryOutcome::kOpened &&
         IdentityOfDirectory(directory, &ours).ok() && IdentityOfDirectory(now, &theirs).ok() &&
         ours == theirs;
}

}  // namespace

std::optional<PreparedLockfile> PrepareLockfile(const BucketSpec& spec) {
  PreparedLockfile prepared;
  Status status;
  if (OpenDirectory(spec.directory, DirectoryUse::kNames, &prepared.directory, &status) !=
          DirectoryOutcome::kOpened ||
      !MakeToken(&prepared.token).ok() ||
      !CreateUnnamed(prepared.directory, spec.mode, &prepared.file).ok() ||
      TryLock(prepared.file.handle, LockMode::kExclusive, &status) != LockOutcome::kAcquired ||
      !FileSystemOf(prepared.file.handle, &prepared.file_system).ok() ||
      // Written again when it is published, for the time; room for it is there then.
      !WriteOwner(prepared.file, spec, prepared.token, prepared.file_system).ok()) {
    return std::nullopt;
  }
  LetOthersAwait(prepared.file.handle);
  return prepared;
}

bool PublishPrepared(const BucketSpec& spec, PreparedLockfile prepared, Handle* directory,
                     NewLockfile* made) {
  if (!IsStill(prepared.directory, spec.directory)) return false;
  // Whatever goes wrong here goes wrong again where it is told.
  if (!WriteOwner(prepared.file, spec, prepared.token, prepared.file_system).ok()) return false;
  if (Publish(prepared.directory, prepared.file, kLockfileName, &made->status) !=
      PublishOutcome::kPublished) {
    return false;
  }
  *directory = std::move(prepared.directory);
  made->file = std::move(prepared.file.handle);
  made->token = std::move(prepared.token);
  TakeTokenOfPidOnly(spec, made);
  return true;
}

CreateOutcome CreateLockfile(const Handle& directory, const BucketSpec& spec, bool after_crash,
                             NewLockfile* made) {
  made->status = MakeToken(&made->token);
  if (!made->status.ok()) return CreateOutcome::kFailed;
  CreateOutcome outcome = CreateOutcome::kFailed;
  if (!CreateWithoutName(directory, spec, made, &outcome)) {
    if (IsFirstUse(spec.directory) || after_crash) SweepPrivateFiles(directory, spec.trusted);
    outcome = CreateWithName(directory, spec, made);
  }
  if (outcome == CreateOutcome::kPublished) TakeTokenOfPidOnly(spec, made);
  return outcome;
}

}  // namespace bucketlock
