// The addon's face for bucket locks.

#ifndef BUCKETLOCK_BUCKET_CALLS_H_
#define BUCKETLOCK_BUCKET_CALLS_H_

#include <napi.h>

namespace bucketlock {

void AddBucketCalls(Napi::Object* exports);

}  // namespace bucketlock

#endif  // BUCKETLOCK_BUCKET_CALLS_H_
