// Waiting for whoever has the guard of a lockfile.

#ifndef BUCKETLOCK_WIN32_GUARD_WAIT_H_
#define BUCKETLOCK_WIN32_GUARD_WAIT_H_

#include "platform/handle.h"

namespace bucketlock {

// Blocks until the guard of the open lockfile may be free; may return early. False: `cancel`, an
// event that is reset by waiting for it, has ended the wait. The lockfile's handle is synchronous.
//
//   if (!WaitForGuard(lockfile, cancelled)) Leave();
bool WaitForGuard(const Handle& lockfile, const Handle& cancel);

}  // namespace bucketlock

#endif  // BUCKETLOCK_WIN32_GUARD_WAIT_H_
