// Names in a directory: opening, creating, publishing. Removing is in file_removal.cc, what an open
// file says of itself in file_facts.cc.

#include "platform/file.h"

#include "win32/nt_file.h"
#include "win32/win32_util.h"

namespace bucketlock {
namespace {

// True for whatever is no plain file. A file that the system itself keeps as a reparse point
// (deduplicated, in the cloud) does not show as one here, or is far larger than a lockfile.
bool IsSomethingElse(const Handle& file, Status* status) {
  FILE_ATTRIBUTE_TAG_INFO info = {};
  if (!::GetFileInformationByHandleEx(Raw(file), FileAttributeTagInfo, &info, sizeof(info))) {
    *status = Status::System(LastError(), "fstat");
    return true;
  }
  return (info.FileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) != 0;
}

// The directory itself is being deleted: nothing can be opened or made in it any more.
bool IsGoing(const Handle& directory) {
  FILE_STANDARD_INFO info = {};
  return ::GetFileInformationByHandleEx(Raw(directory), FileStandardInfo, &info, sizeof(info)) &&
         info.DeletePending;
}

// What there is to see of a name that may not be opened for reading.
OpenOutcome LookAtDenied(const Handle& directory, const std::string& name, Status* status) {
  Handle file;
  // Seeing attributes takes only the right to list the directory.
  const NTSTATUS seen = OpenAt(directory, name, FILE_READ_ATTRIBUTES, &file);
  if (seen == kNtDeletePending) return OpenOutcome::kDenied;
  if (!NT_SUCCESS(seen)) return OpenOutcome::kFailed;
  return IsSomethingElse(file, status) ? OpenOutcome::kNotRegular : OpenOutcome::kDenied;
}

bool IsThere(const Handle& directory, const std::string& name) {
  Handle file;
  return !MeansAbsent(OpenAt(directory, name, FILE_READ_ATTRIBUTES, &file));
}

PublishOutcome FromRename(NTSTATUS renamed, const Handle& directory, const std::string& name,
                          Status* status) {
  if (NT_SUCCESS(renamed)) return PublishOutcome::kPublished;
  *status = FromNt(renamed, "rename");
  if (renamed == kNtNameCollision || renamed == kNtDeletePending) return PublishOutcome::kExists;
  if (MeansAbsent(renamed)) return PublishOutcome::kVanished;
  // Denied, because what has the name is being deleted or in use? Then it is contention. With
  // nothing there, it is a denial.
  if (MeansContention(renamed) && IsThere(directory, name)) return PublishOutcome::kExists;
  return PublishOutcome::kFailed;
}

}  // namespace

DirectoryOutcome OpenDirectory(const std::string& path, DirectoryUse, Handle* directory,
                               Status* status) {
  // To use names in a directory one need not be allowed to list it.
  Handle opened = Own(::CreateFileW(
      ToLongPath(path).c_str(), FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE,
      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, /*lpSecurityAttributes=*/nullptr,
      OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, /*hTemplateFile=*/nullptr));
  if (!opened.valid()) {
    *status = Status::System(LastError(), "open");
    switch (status->system_error) {
      case ERROR_FILE_NOT_FOUND:
      case ERROR_PATH_NOT_FOUND:
        return DirectoryOutcome::kMissing;
      case ERROR_DIRECTORY:
        return DirectoryOutcome::kNotDirectory;
      default:
        return DirectoryOutcome::kFailed;
    }
  }
  FILE_STANDARD_INFO info = {};
  if (!::GetFileInformationByHandleEx(Raw(opened), FileStandardInfo, &info, sizeof(info))) {
    *status = Status::System(LastError(), "fstat");
    return DirectoryOutcome::kFailed;
  }
  if (!info.Directory) return DirectoryOutcome::kNotDirectory;
  *directory = std::move(opened);
  return DirectoryOutcome::kOpened;
}

Status MakeDirectory(const std::string& path, bool* made) {
  *made = ::CreateDirectoryW(ToLongPath(path).c_str(), /*lpSecurityAttributes=*/nullptr) != 0;
  if (*made) return Status::Ok();
  const int error = LastError();
  return error == ERROR_ALREADY_EXISTS ? Status::Ok() : Status::System(error, "mkdir");
}

OpenOutcome OpenExisting(const Handle& directory, const std::string& name, Handle* file,
                         Status* status) {
  Handle opened;
  const NTSTATUS outcome = OpenAt(directory, name, FILE_GENERIC_READ, &opened);
  if (NT_SUCCESS(outcome)) {
    *status = Status::Ok();
    if (IsSomethingElse(opened, status)) {
      return status->ok() ? OpenOutcome::kNotRegular : OpenOutcome::kFailed;
    }
    *file = std::move(opened);
    return OpenOutcome::kOpened;
  }
  *status = FromNt(outcome, "open");
  if (MeansAbsent(outcome)) return OpenOutcome::kAbsent;
  if (outcome == kNtDeletePending) {
    return IsGoing(directory) ? OpenOutcome::kAbsent : OpenOutcome::kDenied;
  }
  if (outcome == kNtSharingViolation) return OpenOutcome::kDenied;
  if (outcome == kNtAccessDenied) return LookAtDenied(directory, name, status);
  return OpenOutcome::kFailed;
}

Status CreateUnnamed(const Handle&, unsigned, PrivateFile*) {
  return Status::Unsupported(ERROR_NOT_SUPPORTED, "open");
}

// The mode means nothing here: the directory's access control list is inherited.
Status CreateNamed(const Handle& directory, const std::string& name, unsigned, PrivateFile* file) {
  // Shares for reading, but a handle that may write or delete keeps those out who share less. The
  // one that lasts as long as the lock may do neither.
  const NTSTATUS created =
      CreateAt(directory, name, FILE_GENERIC_WRITE | FILE_READ_ATTRIBUTES | DELETE, &file->maker);
  if (!NT_SUCCESS(created)) {
    Status status = FromNt(created, "open");
    const bool vanished = MeansAbsent(created) || created == kNtDeletePending ||
                          (created == kNtAccessDenied && IsGoing(directory));
    if (vanished) status.code = StatusCode::kVanished;
    return status;
  }
  file->name = name;
  file->handle = Own(::ReOpenFile(Raw(file->maker), FILE_GENERIC_READ,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                  /*dwFlagsAndAttributes=*/0));
  if (file->handle.valid()) return Status::Ok();
  const Status status = Status::System(LastError(), "open");
  Status ignored;  // The first failure is the one to tell.
  static_cast<void>(RemoveName(directory, name, file->maker, &ignored));
  return status;
}

PublishOutcome Publish(const Handle& directory, const PrivateFile& file, const std::string& name,
                       Status* status) {
  if (file.maker.valid()) {
    return FromRename(RenameAt(file.maker, directory, name), directory, name, status);
  }
  // Not made by us but taken aside.
  Handle named;
  const NTSTATUS opened = OpenAt(directory, file.name, DELETE | FILE_READ_ATTRIBUTES, &named);
  if (!NT_SUCCESS(opened)) {
    *status = FromNt(opened, "rename");
    return MeansAbsent(opened) || opened == kNtDeletePending ? PublishOutcome::kVanished
                                                             : PublishOutcome::kFailed;
  }
  return FromRename(RenameAt(named, directory, name), directory, name, status);
}

NameOutcome IdentityOfName(const Handle& directory, const std::string& name, FileIdentity* identity,
                           Status* status) {
  Handle file;
  const NTSTATUS opened = OpenAt(directory, name, FILE_READ_ATTRIBUTES, &file);
  // One whose deletion is decided keeps the name for as long as anybody has it open, but it is
  // nobody's file any more.
  if (MeansAbsent(opened) || opened == kNtDeletePending) return NameOutcome::kAbsent;
  *status = NT_SUCCESS(opened) ? IdentityOf(file, identity) : FromNt(opened, "lstat");
  return status->ok() ? NameOutcome::kFound : NameOutcome::kFailed;
}

Status RenameName(const Handle& directory, const std::string& from, const std::string& to) {
  Handle file;
  NTSTATUS outcome = OpenAt(directory, from, DELETE | FILE_READ_ATTRIBUTES, &file);
  if (NT_SUCCESS(outcome)) outcome = RenameAt(file, directory, to);
  if (NT_SUCCESS(outcome)) return Status::Ok();
  Status status = FromNt(outcome, "rename");
  if (MeansAbsent(outcome) || outcome == kNtDeletePending) status.code = StatusCode::kVanished;
  return status;
}

Status ListNames(const Handle& directory, const std::string& prefix,
                 std::vector<std::string>* names) {
  // Opened anew: listing takes a right of its own, and a position.
  Handle listing;
  const NTSTATUS opened = OpenAt(directory, std::string(), FILE_LIST_DIRECTORY, &listing);
  if (!NT_SUCCESS(opened)) return FromNt(opened, "open");
  constexpr std::size_t kUnits = 1024;
  // The entries want the alignment of their 64-bit members.
  std::vector<LARGE_INTEGER> buffer(kUnits);
  for (;;) {
    if (!::GetFileInformationByHandleEx(Raw(listing), FileIdBothDirectoryInfo, buffer.data(),
                                        static_cast<DWORD>(kUnits * sizeof(LARGE_INTEGER)))) {
      const int error = LastError();
      return error == ERROR_NO_MORE_FILES ? Status::Ok() : Status::System(error, "scandir");
    }
    const char* at = reinterpret_cast<const char*>(buffer.data());
    for (;;) {
      const auto* const entry = reinterpret_cast<const FILE_ID_BOTH_DIR_INFO*>(at);
      std::string name =
          ToUtf8(std::wstring_view(entry->FileName, entry->FileNameLength / sizeof(wchar_t)));
      if (name.compare(0, prefix.size(), prefix) == 0) names->push_back(std::move(name));
      if (entry->NextEntryOffset == 0) break;
      at += entry->NextEntryOffset;
    }
  }
}

}  // namespace bucketlock
