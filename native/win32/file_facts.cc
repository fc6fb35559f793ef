// What an open file says of itself, and its bytes.

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "platform/file.h"
#include "win32/win32_util.h"

namespace bucketlock {
namespace {

// From the count of FILETIME to nanoseconds since 1970.
std::int64_t UnixNanoseconds(const LARGE_INTEGER& ticks) {
  constexpr std::int64_t kUnixEpoch = 116444736000000000;
  constexpr std::int64_t kNanosecondsPerTick = 100;
  return (ticks.QuadPart - kUnixEpoch) * kNanosecondsPerTick;
}

// Places for ReadFile and WriteFile on a synchronous handle.
OVERLAPPED Offset(std::size_t offset) {
  OVERLAPPED at = {};
  at.Offset = static_cast<DWORD>(offset);
  return at;
}

// False only for what is known to be a local volume.
bool IsRemote(const Handle& file) {
  FILE_REMOTE_PROTOCOL_INFO protocol = {};
  if (::GetFileInformationByHandleEx(Raw(file), FileRemoteProtocolInfo, &protocol,
                                     sizeof(protocol))) {
    return true;
  }
  // Local file systems do not know the question. Some redirectors do not either, but all of them
  // lie below the one device. As opened: to spell out its long names one must be allowed to list
  // the directories above.
  constexpr DWORD kForm = VOLUME_NAME_NT | FILE_NAME_OPENED;
  const DWORD needed = ::GetFinalPathNameByHandleW(Raw(file), /*lpszFilePath=*/nullptr,
                                                   /*cchFilePath=*/0, kForm);
  std::vector<wchar_t> path(needed);
  const DWORD length = ::GetFinalPathNameByHandleW(Raw(file), path.data(), needed, kForm);
  if (length == 0 || length >= needed) return true;
  constexpr std::wstring_view kRedirectors = L"\\Device\\Mup\\";
  return std::wstring_view(path.data(), length).substr(0, kRedirectors.size()) == kRedirectors;
}

Status WholeIdentityOf(const Handle& file, FileIdentity* identity) {
  *identity = FileIdentity();
  FILE_ID_INFO id = {};
  if (::GetFileInformationByHandleEx(Raw(file), FileIdInfo, &id, sizeof(id))) {
    static_assert(sizeof(id.FileId) == sizeof(identity->file), "128 bits");
    identity->volume = id.VolumeSerialNumber;
    std::memcpy(identity->file.data(), &id.FileId, sizeof(id.FileId));
    return Status::Ok();
  }
  // Not every file system has the long ids.
  BY_HANDLE_FILE_INFORMATION info = {};
  if (!::GetFileInformationByHandle(Raw(file), &info)) return Status::System(LastError(), "fstat");
  identity->volume = info.dwVolumeSerialNumber;
  std::memcpy(identity->file.data(), &info.nFileIndexLow, sizeof(info.nFileIndexLow));
  std::memcpy(identity->file.data() + sizeof(info.nFileIndexLow), &info.nFileIndexHigh,
              sizeof(info.nFileIndexHigh));
  return Status::Ok();
}

}  // namespace

// The volume is left out. What is compared was opened relative to one directory and is no reparse
// point, so it lies on one volume; and Wine forgets a file's volume once it has been renamed by
// another handle than the one asked.
Status IdentityOf(const Handle& file, FileIdentity* identity) {
  const Status status = WholeIdentityOf(file, identity);
  identity->volume = 0;
  return status;
}

Status IdentityOfDirectory(const Handle& directory, FileIdentity* identity) {
  return WholeIdentityOf(directory, identity);
}

Status ReadPrefix(const Handle& file, std::size_t limit, std::string* bytes) {
  bytes->assign(limit, '\0');
  std::size_t done = 0;
  while (done < limit) {
    OVERLAPPED at = Offset(done);
    DWORD count = 0;
    if (!::ReadFile(Raw(file), &(*bytes)[done], static_cast<DWORD>(limit - done), &count, &at)) {
      const int error = LastError();
      if (error == ERROR_HANDLE_EOF) break;
      bytes->clear();
      return Status::System(error, "read");
    }
    if (count == 0) break;
    done += count;
  }
  bytes->resize(done);
  return Status::Ok();
}

Status WriteAll(const PrivateFile& file, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    OVERLAPPED at = Offset(done);
    DWORD count = 0;
    if (!::WriteFile(Raw(file.maker), bytes.data() + done, static_cast<DWORD>(bytes.size() - done),
                     &count, &at)) {
      return Status::System(LastError(), "write");
    }
    // No file system should, but a loop that cannot advance must not spin.
    if (count == 0) return Status::System(ERROR_DISK_FULL, "write");
    done += count;
  }
  return Status::Ok();
}

Status TimesOf(const Handle& file, FileTimes* times) {
  FILE_BASIC_INFO info = {};
  if (!::GetFileInformationByHandleEx(Raw(file), FileBasicInfo, &info, sizeof(info))) {
    return Status::System(LastError(), "fstat");
  }
  times->modified_ns = UnixNanoseconds(info.LastWriteTime);
  times->changed_ns = UnixNanoseconds(info.ChangeTime);
  return Status::Ok();
}

Status TouchNow(const Handle& file) {
  const Handle writable = Own(::ReOpenFile(Raw(file), FILE_WRITE_ATTRIBUTES,
                                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                           /*dwFlagsAndAttributes=*/0));
  if (!writable.valid()) return Status::System(LastError(), "open");
  FILETIME now;
  ::GetSystemTimePreciseAsFileTime(&now);
  if (::SetFileTime(Raw(writable), /*lpCreationTime=*/nullptr, /*lpLastAccessTime=*/nullptr,
                    &now)) {
    return Status::Ok();
  }
  return Status::System(LastError(), "futimens");
}

Status FileSystemOf(const Handle& file, std::string* name) {
  wchar_t wide[MAX_PATH + 1] = {};
  if (!::GetVolumeInformationByHandleW(
          Raw(file), /*lpVolumeNameBuffer=*/nullptr, /*nVolumeNameSize=*/0,
          /*lpVolumeSerialNumber=*/nullptr, /*lpMaximumComponentLength=*/nullptr,
          /*lpFileSystemFlags=*/nullptr, wide, sizeof(wide) / sizeof(wide[0]))) {
    return Status::System(LastError(), "fstatfs");
  }
  *name = ToUtf8(wide);
  std::transform(name->begin(), name->end(), name->begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (*name == "fat32") *name = "fat";
  // A server's file system is shown under its own name.
  if (IsRemote(file)) *name += " (remote)";
  return Status::Ok();
}

}  // namespace bucketlock
