// Keeps the addon in memory until the process ends. A runtime unloads an addon with the last
// worker that used it, but our threads may still be in it. On Linux the linker's `nodelete` does
// the same.

#include <dlfcn.h>

namespace bucketlock {
namespace {

bool Pin() {
  // Any address in the module names it.
  static const char here = 0;
  Dl_info info;
  if (::dladdr(&here, &info) == 0) return false;
  return ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
}

// While the module is being loaded. Where it fails the module is as safe as any other's.
[[maybe_unused]] const bool pinned = Pin();

}  // namespace
}  // namespace bucketlock
