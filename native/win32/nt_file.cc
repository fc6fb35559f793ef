#include "win32/nt_file.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include "win32/win32_util.h"

// Not in every SDK's <winternl.h>, though the kernel documentation describes it.
extern "C" NTSTATUS NTAPI NtSetInformationFile(HANDLE file, PIO_STATUS_BLOCK io, PVOID information,
                                               ULONG length, FILE_INFORMATION_CLASS kind);

namespace bucketlock {
namespace {

constexpr ULONG kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr FILE_INFORMATION_CLASS kFileRenameInformation = static_cast<FILE_INFORMATION_CLASS>(10);

NTSTATUS Open(const Handle& directory, const std::string& name, ACCESS_MASK access,
              ULONG disposition, ULONG options, Handle* file) {
  std::wstring wide = ToWide(name);
  UNICODE_STRING text;
  text.Buffer = &wide[0];
  text.Length = static_cast<USHORT>(wide.size() * sizeof(wchar_t));
  text.MaximumLength = text.Length;
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &text, OBJ_CASE_INSENSITIVE, Raw(directory),
                             /*security=*/nullptr);
  IO_STATUS_BLOCK io = {};
  HANDLE raw = nullptr;
  const NTSTATUS status =
      ::NtCreateFile(&raw, access | SYNCHRONIZE, &attributes, &io, /*AllocationSize=*/nullptr,
                     FILE_ATTRIBUTE_NORMAL, kShareAll, disposition,
                     options | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_REPARSE_POINT,
                     /*EaBuffer=*/nullptr, /*EaLength=*/0);
  if (NT_SUCCESS(status)) *file = Own(raw);
  return status;
}

}  // namespace

bool MeansAbsent(NTSTATUS status) {
  return status == kNtNameNotFound || status == kNtPathNotFound || status == kNtNoSuchFile ||
         status == kNtFileDeleted;
}

bool MeansContention(NTSTATUS status) {
  return status == kNtSharingViolation || status == kNtLockConflict || status == kNtAccessDenied ||
         status == kNtCannotDelete;
}

Status FromNt(NTSTATUS status, const char* operation) {
  return Status::System(static_cast<int>(::RtlNtStatusToDosError(status)), operation);
}

NTSTATUS OpenAt(const Handle& directory, const std::string& name, ACCESS_MASK access,
                Handle* file) {
  return Open(directory, name, access, FILE_OPEN, /*options=*/0, file);
}

NTSTATUS CreateAt(const Handle& directory, const std::string& name, ACCESS_MASK access,
                  Handle* file) {
  return Open(directory, name, access, FILE_CREATE, FILE_NON_DIRECTORY_FILE, file);
}

NTSTATUS RenameAt(const Handle& file, const Handle& directory, const std::string& name) {
  const std::wstring wide = ToWide(name);
  const std::size_t bytes = wide.size() * sizeof(wchar_t);
  // FILE_RENAME_INFO is what the kernel calls FILE_RENAME_INFORMATION. Zero: no replacing.
  std::vector<std::max_align_t> buffer(
      (sizeof(FILE_RENAME_INFO) + bytes) / sizeof(std::max_align_t) + 1);
  FILE_RENAME_INFO* const rename = reinterpret_cast<FILE_RENAME_INFO*>(buffer.data());
  rename->RootDirectory = Raw(directory);
  rename->FileNameLength = static_cast<DWORD>(bytes);
  std::memcpy(rename->FileName, wide.data(), bytes);
  IO_STATUS_BLOCK io = {};
  return ::NtSetInformationFile(Raw(file), &io, rename,
                                static_cast<ULONG>(sizeof(FILE_RENAME_INFO) + bytes),
                                kFileRenameInformation);
}

}  // namespace bucketlock
