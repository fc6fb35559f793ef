// Keeps the addon in memory until the process ends. A runtime unloads an addon with the last
// worker that used it, but our threads may still be in it. On Linux the linker's `nodelete` does
// the same.

#include <windows.h>

namespace bucketlock {
namespace {

bool Pin() {
  // Any address in the module names it.
  static const char here = 0;
  HMODULE module = nullptr;
  return ::GetModuleHandleExW(
             GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
             reinterpret_cast<LPCWSTR>(&here), &module) != FALSE;
}

// While the module is being loaded. Pinning a loaded module cannot fail.
[[maybe_unused]] const bool pinned = Pin();

}  // namespace
}  // namespace bucketlock
