// The addon's face for what is pending, of whichever kind of lock.

#ifndef BUCKETLOCK_WAIT_CALLS_H_
#define BUCKETLOCK_WAIT_CALLS_H_

#include <napi.h>

namespace bucketlock {

void AddWaitCalls(Napi::Object* exports);

}  // namespace bucketlock

#endif  // BUCKETLOCK_WAIT_CALLS_H_
