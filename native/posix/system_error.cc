#include "platform/system_error.h"

namespace bucketlock {

// On POSIX libuv's numbers are errno's, negated.
int NodeErrorNumber(int system_error) { return -system_error; }

}  // namespace bucketlock
