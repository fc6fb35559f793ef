#include "win32/win32_util.h"

#include <algorithm>

namespace bucketlock {
namespace {

bool StartsWith(const std::wstring& text, std::wstring_view prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

}  // namespace

std::wstring ToWide(std::string_view utf8) {
  const int size = static_cast<int>(utf8.size());
  const int length = ::MultiByteToWideChar(CP_UTF8, /*dwFlags=*/0, utf8.data(), size,
                                           /*lpWideCharStr=*/nullptr, /*cchWideChar=*/0);
  std::wstring wide(static_cast<std::size_t>(std::max(length, 0)), L'\0');
  if (length > 0) {
    static_cast<void>(
        ::MultiByteToWideChar(CP_UTF8, /*dwFlags=*/0, utf8.data(), size, &wide[0], length));
  }
  return wide;
}

std::string ToUtf8(std::wstring_view wide) {
  const int size = static_cast<int>(wide.size());
  const int length = ::WideCharToMultiByte(
      CP_UTF8, /*dwFlags=*/0, wide.data(), size, /*lpMultiByteStr=*/nullptr, /*cbMultiByte=*/0,
      /*lpDefaultChar=*/nullptr, /*lpUsedDefaultChar=*/nullptr);
  std::string utf8(static_cast<std::size_t>(std::max(length, 0)), '\0');
  if (length > 0) {
    static_cast<void>(::WideCharToMultiByte(CP_UTF8, /*dwFlags=*/0, wide.data(), size, &utf8[0],
                                            length, /*lpDefaultChar=*/nullptr,
                                            /*lpUsedDefaultChar=*/nullptr));
  }
  return utf8;
}

std::wstring ToLongPath(const std::string& path) {
  std::wstring wide = ToWide(path);
  // Behind the prefix nothing is translated any more, slashes neither.
  std::replace(wide.begin(), wide.end(), L'/', L'\\');
  if (StartsWith(wide, L"\\\\?\\") || StartsWith(wide, L"\\\\.\\")) return wide;
  if (StartsWith(wide, L"\\\\")) return L"\\\\?\\UNC" + wide.substr(1);
  return L"\\\\?\\" + wide;
}

}  // namespace bucketlock
