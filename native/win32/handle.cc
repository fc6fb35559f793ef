#include "platform/handle.h"

#include <windows.h>

namespace bucketlock {

static_assert(sizeof(std::intptr_t) == sizeof(HANDLE), "a HANDLE fits a Handle");

void Handle::Close() {
  if (value_ == kInvalid) return;
  static_cast<void>(::CloseHandle(reinterpret_cast<HANDLE>(value_)));
  value_ = kInvalid;
}

}  // namespace bucketlock
