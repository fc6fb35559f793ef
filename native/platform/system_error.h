// System errors as Node counts them.

#ifndef BUCKETLOCK_PLATFORM_SYSTEM_ERROR_H_
#define BUCKETLOCK_PLATFORM_SYSTEM_ERROR_H_

namespace bucketlock {

// The negative number that libuv, and so util.getSystemErrorName(), has for a system error.
int NodeErrorNumber(int system_error);

}  // namespace bucketlock

#endif  // BUCKETLOCK_PLATFORM_SYSTEM_ERROR_H_
