// Threads of our own.

#ifndef BUCKETLOCK_PLATFORM_THREAD_H_
#define BUCKETLOCK_PLATFORM_THREAD_H_

#include "status.h"

namespace bucketlock {

// Starts a detached thread that takes no signals, so that the program's own handlers run where it
// expects them. On failure `body` is not called. (std::thread would throw instead.)
Status StartThread(void (*body)(void* argument), void* argument);

}  // namespace bucketlock

#endif  // BUCKETLOCK_PLATFORM_THREAD_H_
