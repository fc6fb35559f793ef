// What the Windows files share.

#ifndef BUCKETLOCK_WIN32_WIN32_UTIL_H_
#define BUCKETLOCK_WIN32_WIN32_UTIL_H_

#include <windows.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/handle.h"
#include "status.h"

namespace bucketlock {

inline HANDLE Raw(const Handle& handle) { return reinterpret_cast<HANDLE>(handle.get()); }

// Takes over what a call gave. Some calls fail with null, others with -1.
inline Handle Own(HANDLE raw) {
  return Handle(raw == nullptr ? Handle::kInvalid : reinterpret_cast<std::intptr_t>(raw));
}

// GetLastError() as Status keeps it.
inline int LastError() { return static_cast<int>(::GetLastError()); }

// All paths and names cross as UTF-16. What is no UTF-8 becomes U+FFFD.
std::wstring ToWide(std::string_view utf8);
std::string ToUtf8(std::wstring_view wide);

// An absolute path as the wide calls take it beyond 260 characters.
std::wstring ToLongPath(const std::string& path);

// FILETIME's count: 100 ns since 1601.
inline std::uint64_t Ticks(const FILETIME& time) {
  return (static_cast<std::uint64_t>(time.dwHighDateTime) << 32) | time.dwLowDateTime;
}

}  // namespace bucketlock

#endif  // BUCKETLOCK_WIN32_WIN32_UTIL_H_
