// The addon's face for lockfiles of other programs.

#ifndef BUCKETLOCK_LOCKFILE_CALLS_H_
#define BUCKETLOCK_LOCKFILE_CALLS_H_

#include <napi.h>

namespace bucketlock {

void AddLockfileCalls(Napi::Object* exports);

}  // namespace bucketlock

#endif  // BUCKETLOCK_LOCKFILE_CALLS_H_
