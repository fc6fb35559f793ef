// Removing names. Windows forbids it while somebody has the file open without sharing deletion, and
// keeps a removed name for as long as anybody has the file open at all, unless POSIX semantics are
// asked for and known.

#include <string>

#include "platform/file.h"
#include "platform/process.h"
#include "win32/nt_file.h"
#include "win32/win32_util.h"

namespace bucketlock {
namespace {

constexpr ACCESS_MASK kToRemove = DELETE | FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES;

RemoveOutcome FromRefusal(int error, Status* status) {
  *status = Status::System(error, "unlink");
  // Denied may mean a filter (an antivirus) that looks into the file, or a program that runs it:
  // this passes, too. Whoever retries finds out.
  const bool passes = error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION;
  return passes ? RemoveOutcome::kBusy : RemoveOutcome::kFailed;
}

// A fresh private name beside `name`: `.lock` and `.lock.<token>` alike give `.lock.<token>`.
Status MakeAsideName(const std::string& name, std::string* aside) {
  constexpr std::size_t kTokenBytes = 16;
  static constexpr char kHex[] = "0123456789abcdef";
  unsigned char random[kTokenBytes];
  const Status status = FillRandom(random, sizeof(random));
  *aside = name.substr(0, name.find('.', 1)) + '.';
  for (const unsigned char byte : random) {
    aside->push_back(kHex[byte >> 4]);
    aside->push_back(kHex[byte & 15]);
  }
  return status;
}

// How a removal under POSIX semantics (Windows 10 1809, NTFS) went: the name is free at once,
// whoever has the file open.
enum class PosixRemoval { kDone, kUnknownHere, kRefused };

PosixRemoval RemoveAsPosix(const Handle& file) {
  // FILE_DISPOSITION_INFO_EX, which older headers lack.
  struct {
    DWORD flags;
  } disposition = {};
  constexpr DWORD kDelete = 0x1;
  constexpr DWORD kPosixSemantics = 0x2;
  constexpr DWORD kIgnoreReadOnly = 0x10;
  constexpr FILE_INFO_BY_HANDLE_CLASS kDispositionEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(21);
  disposition.flags = kDelete | kPosixSemantics | kIgnoreReadOnly;
  if (::SetFileInformationByHandle(Raw(file), kDispositionEx, &disposition, sizeof(disposition))) {
    return PosixRemoval::kDone;
  }
  switch (::GetLastError()) {
    case ERROR_INVALID_PARAMETER:  // Windows before 10.
    case ERROR_INVALID_FUNCTION:   // FAT and other file systems.
    case ERROR_NOT_SUPPORTED:      // Servers of network file systems.
    case ERROR_CALL_NOT_IMPLEMENTED:
      return PosixRemoval::kUnknownHere;
    default:
      return PosixRemoval::kRefused;
  }
}

// A file marked so cannot be deleted the classic way. Where this fails, the deletion tells why.
void StripReadOnly(const Handle& file) {
  FILE_BASIC_INFO info = {};
  if (!::GetFileInformationByHandleEx(Raw(file), FileBasicInfo, &info, sizeof(info))) return;
  if ((info.FileAttributes & FILE_ATTRIBUTE_READONLY) == 0) return;
  // Zeros: the times stay.
  FILE_BASIC_INFO writable = {};
  writable.FileAttributes = info.FileAttributes & ~DWORD{FILE_ATTRIBUTE_READONLY};
  if (writable.FileAttributes == 0) writable.FileAttributes = FILE_ATTRIBUTE_NORMAL;
  static_cast<void>(
      ::SetFileInformationByHandle(Raw(file), FileBasicInfo, &writable, sizeof(writable)));
}

// The classic way the name stays until the last handle is closed, so the file is first taken aside.
RemoveOutcome RemoveClassically(const Handle& directory, const std::string& name,
                                const Handle& file, Status* status) {
  StripReadOnly(file);
  std::string aside;
  const bool renamed =
      MakeAsideName(name, &aside).ok() && NT_SUCCESS(RenameAt(file, directory, aside));
  FILE_DISPOSITION_INFO disposition = {};
  disposition.DeleteFile = TRUE;
  if (::SetFileInformationByHandle(Raw(file), FileDispositionInfo, &disposition,
                                   sizeof(disposition))) {
    return RemoveOutcome::kRemoved;
  }
  const int error = LastError();
  // The name is free in any case; a private one that stays is swept later.
  if (renamed) return RemoveOutcome::kRemoved;
  return FromRefusal(error, status);
}

RemoveOutcome FromFailedOpen(NTSTATUS opened, Status* status) {
  *status = FromNt(opened, "unlink");
  // Somebody has removed it already; its name goes when the last handle is closed.
  if (MeansAbsent(opened) || opened == kNtDeletePending) return RemoveOutcome::kAbsent;
  return MeansContention(opened) ? RemoveOutcome::kBusy : RemoveOutcome::kFailed;
}

// `file` is `name`, opened for removal.
RemoveOutcome RemoveOpened(const Handle& directory, const std::string& name, const Handle& file,
                           Status* status) {
  switch (RemoveAsPosix(file)) {
    case PosixRemoval::kDone:
      return RemoveOutcome::kRemoved;
    case PosixRemoval::kUnknownHere:
      return RemoveClassically(directory, name, file, status);
    case PosixRemoval::kRefused:
      break;
  }
  return FromRefusal(LastError(), status);
}

}  // namespace

RemoveOutcome RemoveName(const Handle& directory, const std::string& name, const Handle& file,
                         Status* status) {
  Handle named;
  const NTSTATUS opened = OpenAt(directory, name, kToRemove, &named);
  if (!NT_SUCCESS(opened)) return FromFailedOpen(opened, status);
  FileIdentity expected;
  FileIdentity found;
  *status = IdentityOf(file, &expected);
  if (status->ok()) *status = IdentityOf(named, &found);
  if (!status->ok()) return RemoveOutcome::kFailed;
  if (found != expected) return RemoveOutcome::kAbsent;
  return RemoveOpened(directory, name, named, status);
}

RemoveOutcome RemovePath(const std::string& path, Status* status) {
  const std::size_t name_at = path.find_last_of("\\/") + 1;
  Handle directory;
  switch (OpenDirectory(path.substr(0, name_at), DirectoryUse::kNames, &directory, status)) {
    case DirectoryOutcome::kOpened:
      break;
    case DirectoryOutcome::kMissing:
      return RemoveOutcome::kAbsent;
    case DirectoryOutcome::kNotDirectory:
    case DirectoryOutcome::kFailed:
      return RemoveOutcome::kFailed;
  }
  const std::string name = path.substr(name_at);
  Handle file;
  const NTSTATUS opened = OpenAt(directory, name, kToRemove, &file);
  if (!NT_SUCCESS(opened)) return FromFailedOpen(opened, status);
  FILE_STANDARD_INFO info = {};
  if (!::GetFileInformationByHandleEx(Raw(file), FileStandardInfo, &info, sizeof(info))) {
    *status = Status::System(LastError(), "fstat");
    return RemoveOutcome::kFailed;
  }
  if (info.Directory) {
    // The error that Node spells EISDIR.
    *status = Status::System(ERROR_INVALID_FUNCTION, "unlink");
    return RemoveOutcome::kFailed;
  }
  return RemoveOpened(directory, name, file, status);
}

}  // namespace bucketlock
