#include "platform/handle.h"

#include <unistd.h>

namespace bucketlock {

void Handle::Close() {
  if (value_ == kInvalid) return;
  // Not resumed on EINTR: Linux has closed the descriptor by then, and another thread may own the
  // number already.
  static_cast<void>(::close(static_cast<int>(value_)));
  value_ = kInvalid;
}

}  // namespace bucketlock
