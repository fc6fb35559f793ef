// Files of ours beside the lockfile: ".lock.<token>". Where the file system offers no better, a
// lockfile is made under such a name, and one that is broken off the allow-list is taken aside to
// it.

#ifndef BUCKETLOCK_PRIVATE_FILES_H_
#define BUCKETLOCK_PRIVATE_FILES_H_

#include <string>

#include "platform/handle.h"
#include "status.h"

namespace bucketlock {

// Removes private files whose creators died before they could publish them. `trusted`:
// a free guard proves it whatever the file system.
void SweepPrivateFiles(const Handle& directory, bool trusted);

// A private file's name.
std::string PrivateName(const std::string& token);

Status MakeToken(std::string* token);

}  // namespace bucketlock

#endif  // BUCKETLOCK_PRIVATE_FILES_H_
