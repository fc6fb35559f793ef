#include "platform/queue_lock.h"

namespace bucketlock {

bool IsSomebodyInLine(const Handle&) { return false; }

std::unique_ptr<QueueLock> QueueLock::Of(Handle) { return nullptr; }

}  // namespace bucketlock
