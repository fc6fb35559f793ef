// How a process that stands in line says so to those who come.
//
// flock(2) wakes the first in line and has it ask again: until it runs, the queue lock is free, and
// whoever comes by would be ahead of the whole line. So a waiter is marked from before it asks
// until it has the lock that it waits for.

#ifndef BUCKETLOCK_POSIX_QUEUE_MARK_H_
#define BUCKETLOCK_POSIX_QUEUE_MARK_H_

#include "platform/handle.h"

namespace bucketlock {

// Marks this open directory, until it is closed at the latest. Failures are ignored: the mark is
// for the order in line alone.
void MarkWaiting(const Handle& directory);
void UnmarkWaiting(const Handle& directory);

// Whether another open of the same directory is marked.
bool IsMarkedWaiting(const Handle& directory);

}  // namespace bucketlock

#endif  // BUCKETLOCK_POSIX_QUEUE_MARK_H_
