// The addon's face for named locks.

#ifndef BUCKETLOCK_NAMED_CALLS_H_
#define BUCKETLOCK_NAMED_CALLS_H_

#include <napi.h>

namespace bucketlock {

void AddNamedCalls(Napi::Object* exports);

}  // namespace bucketlock

#endif  // BUCKETLOCK_NAMED_CALLS_H_
