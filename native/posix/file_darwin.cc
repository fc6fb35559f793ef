// The parts of platform/file.h for which POSIX has no words, as macOS has them.

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "platform/file.h"
#include "posix/posix_util.h"
#include "posix/publish.h"

namespace bucketlock {

DirectoryOutcome OpenDirectory(const std::string& path, DirectoryUse, Handle* directory,
                               Status* status) {
  const int descriptor =
      Resume([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor >= 0) {
    *directory = Handle(descriptor);
    return DirectoryOutcome::kOpened;
  }
  *status = Status::System(errno, "open");
  if (status->system_error == ENOENT) return DirectoryOutcome::kMissing;
  if (status->system_error == ENOTDIR) return DirectoryOutcome::kNotDirectory;
  return DirectoryOutcome::kFailed;
}

Status CreateUnnamed(const Handle&, unsigned, PrivateFile*) {
  return Status::Unsupported(ENOTSUP, "open");
}

int RenameNoReplace(int directory, const char* from, const char* to) {
  return Resume([&] { return ::renameatx_np(directory, from, directory, to, RENAME_EXCL); });
}

bool MeansUnsupported(int error) {
  return error == ENOTSUP || error == ENOSYS || error == EINVAL || error == EPERM;
}

PublishOutcome Publish(const Handle& directory, const PrivateFile& file, const std::string& name,
                       Status* status) {
  return PublishNamed(directory, file, name, status);
}

Status TimesOf(const Handle& file, FileTimes* times) {
  struct stat info;
  if (Resume([&] { return ::fstat(Descriptor(file), &info); }) != 0) {
    return HandleFailure(errno, "fstat");
  }
  times->modified_ns = NanosecondsFrom(info.st_mtimespec);
  times->changed_ns = NanosecondsFrom(info.st_ctimespec);
  return Status::Ok();
}

Status FileSystemOf(const Handle& file, std::string* name) {
  struct statfs info;
  if (Resume([&] { return ::fstatfs(Descriptor(file), &info); }) != 0) {
    return HandleFailure(errno, "fstatfs");
  }
  *name = info.f_fstypename;
  if (*name == "msdos") *name = "fat";
  // A type may be local here and remote there: only a local one keeps a name that is on the list.
  if ((info.f_flags & MNT_LOCAL) == 0) *name += " (remote)";
  return Status::Ok();
}

}  // namespace bucketlock
