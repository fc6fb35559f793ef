#include "platform/system_error.h"

#include <windows.h>

namespace bucketlock {
namespace {

// ERROR_ELEVATION_REQUIRED, which some headers lack.
constexpr int kErrorElevationRequired = 740;

// libuv's own numbers on Windows, from its uv/errno.h.
enum UvError {
  kUvUnknown = -4094,
  kUvEacces = -4092,
  kUvEagain = -4088,
  kUvEbadf = -4083,
  kUvEbusy = -4082,
  kUvEcharset = -4080,
  kUvEconnreset = -4077,
  kUvEexist = -4075,
  kUvEfault = -4074,
  kUvEinval = -4071,
  kUvEio = -4070,
  kUvEisdir = -4068,
  kUvEloop = -4067,
  kUvEmfile = -4066,
  kUvEnametoolong = -4064,
  kUvEnoent = -4058,
  kUvEnomem = -4057,
  kUvEnospc = -4055,
  kUvEnotempty = -4051,
  kUvEnotsup = -4049,
  kUvEperm = -4048,
  kUvErofs = -4043,
  kUvEtimedout = -4039,
  kUvExdev = -4037,
};

}  // namespace

// As libuv translates them in Node 20 and 22, so that a user meets the codes that node:fs gives.
int NodeErrorNumber(int system_error) {
  switch (system_error) {
    case ERROR_NOACCESS:
    case kErrorElevationRequired:
    case ERROR_CANT_ACCESS_FILE:
      return kUvEacces;
    case ERROR_MAX_THRDS_REACHED:
    case ERROR_TOO_MANY_TCBS:
      return kUvEagain;
    case ERROR_INVALID_HANDLE:
    case ERROR_INVALID_FLAGS:
      return kUvEbadf;
    case ERROR_LOCK_VIOLATION:
    case ERROR_SHARING_VIOLATION:
    case ERROR_PIPE_BUSY:
      return kUvEbusy;
    case ERROR_NO_UNICODE_TRANSLATION:
      return kUvEcharset;
    case ERROR_NETNAME_DELETED:
      return kUvEconnreset;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS:
      return kUvEexist;
    case ERROR_BUFFER_OVERFLOW:
      return kUvEfault;
    case ERROR_INSUFFICIENT_BUFFER:
    case ERROR_INVALID_DATA:
    case ERROR_INVALID_PARAMETER:
    case ERROR_SYMLINK_NOT_SUPPORTED:
      return kUvEinval;
    case ERROR_CRC:
    case ERROR_DISK_CORRUPT:
    case ERROR_GEN_FAILURE:
    case ERROR_IO_DEVICE:
    case ERROR_OPEN_FAILED:
      return kUvEio;
    case ERROR_INVALID_FUNCTION:
      return kUvEisdir;
    case ERROR_CANT_RESOLVE_FILENAME:
      return kUvEloop;
    case ERROR_TOO_MANY_OPEN_FILES:
      return kUvEmfile;
    case ERROR_FILENAME_EXCED_RANGE:
      return kUvEnametoolong;
    case ERROR_BAD_PATHNAME:
    case ERROR_DIRECTORY:
    case ERROR_FILE_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_REPARSE_DATA:
    case ERROR_MOD_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
      return kUvEnoent;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
      return kUvEnomem;
    case ERROR_CANNOT_MAKE:
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return kUvEnospc;
    case ERROR_DIR_NOT_EMPTY:
      return kUvEnotempty;
    case ERROR_NOT_SUPPORTED:
    case ERROR_CALL_NOT_IMPLEMENTED:
      return kUvEnotsup;
    case ERROR_ACCESS_DENIED:
    case ERROR_PRIVILEGE_NOT_HELD:
      return kUvEperm;
    case ERROR_WRITE_PROTECT:
      return kUvErofs;
    case ERROR_SEM_TIMEOUT:
      return kUvEtimedout;
    case ERROR_NOT_SAME_DEVICE:
      return kUvExdev;
    default:
      return kUvUnknown;
  }
}

}  // namespace bucketlock
