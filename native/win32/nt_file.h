// Files relative to an open directory. The Win32 calls know only whole paths, and give one error
// where the kernel has several: "access denied" may be a file that is being deleted.

#ifndef BUCKETLOCK_WIN32_NT_FILE_H_
#define BUCKETLOCK_WIN32_NT_FILE_H_

// The types of this one come first.
#include <windows.h>
// After it.
#include <winternl.h>

#include <string>

#include "platform/handle.h"
#include "status.h"

namespace bucketlock {

// The kernel's statuses that mean something of their own here. <ntstatus.h> has them, but cannot be
// included beside <windows.h>.
constexpr NTSTATUS kNtAccessDenied = static_cast<NTSTATUS>(0xC0000022);
constexpr NTSTATUS kNtNoSuchFile = static_cast<NTSTATUS>(0xC000000F);
constexpr NTSTATUS kNtNameNotFound = static_cast<NTSTATUS>(0xC0000034);
constexpr NTSTATUS kNtNameCollision = static_cast<NTSTATUS>(0xC0000035);
constexpr NTSTATUS kNtPathNotFound = static_cast<NTSTATUS>(0xC000003A);
constexpr NTSTATUS kNtSharingViolation = static_cast<NTSTATUS>(0xC0000043);
constexpr NTSTATUS kNtLockConflict = static_cast<NTSTATUS>(0xC0000054);
constexpr NTSTATUS kNtDeletePending = static_cast<NTSTATUS>(0xC0000056);
constexpr NTSTATUS kNtCannotDelete = static_cast<NTSTATUS>(0xC0000121);
constexpr NTSTATUS kNtFileDeleted = static_cast<NTSTATUS>(0xC0000123);

// The name, or the directory it is looked for in, is not there.
bool MeansAbsent(NTSTATUS status);

// Somebody's open handle, or a filter that looks into the file, may be the reason: a later attempt
// can succeed.
bool MeansContention(NTSTATUS status);

// As GetLastError() would tell it.
Status FromNt(NTSTATUS status, const char* operation);

// Opens an existing file or directory, or a link itself. An empty name opens the directory anew.
// Shares everything, synchronous, not inheritable.
NTSTATUS OpenAt(const Handle& directory, const std::string& name, ACCESS_MASK access, Handle* file);

// Makes a file that is not there yet.
NTSTATUS CreateAt(const Handle& directory, const std::string& name, ACCESS_MASK access,
                  Handle* file);

// Renames an open file, which needs DELETE access; never replaces.
NTSTATUS RenameAt(const Handle& file, const Handle& directory, const std::string& name);

}  // namespace bucketlock

#endif  // BUCKETLOCK_WIN32_NT_FILE_H_
