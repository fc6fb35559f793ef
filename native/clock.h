// The date, as records and reports tell it.

#ifndef BUCKETLOCK_CLOCK_H_
#define BUCKETLOCK_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace bucketlock {

// Milliseconds since 1970. The system's clock may be set back or forth: not for measuring.
inline std::int64_t NowMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace bucketlock

#endif  // BUCKETLOCK_CLOCK_H_
