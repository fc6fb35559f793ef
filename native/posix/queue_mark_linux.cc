// The mark is a shared lock on the first byte of the directory, of the kind that belongs to an open
// file: fcntl(2), "Open file description locks". It is no obstacle to flock(2), nor to itself.

#include <fcntl.h>

#include "posix/posix_util.h"
#include "posix/queue_mark.h"

namespace bucketlock {
namespace {

struct flock FirstByte(short type) {
  struct flock byte = {};
  byte.l_type = type;
  byte.l_whence = SEEK_SET;
  byte.l_start = 0;
  byte.l_len = 1;
  return byte;
}

}  // namespace

void MarkWaiting(const Handle& directory) {
  struct flock byte = FirstByte(F_RDLCK);
  static_cast<void>(Resume([&] { return ::fcntl(Descriptor(directory), F_OFD_SETLK, &byte); }));
}

void UnmarkWaiting(const Handle& directory) {
  struct flock byte = FirstByte(F_UNLCK);
  static_cast<void>(Resume([&] { return ::fcntl(Descriptor(directory), F_OFD_SETLK, &byte); }));
}

bool IsMarkedWaiting(const Handle& directory) {
  struct flock byte = FirstByte(F_WRLCK);
  return Resume([&] { return ::fcntl(Descriptor(directory), F_OFD_GETLK, &byte); }) == 0 &&
         byte.l_type != F_UNLCK;
}

}  // namespace bucketlock
