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

namespace bucketlock {
namespace {

bool MeansUnsupported(int error) {
  return error == ENOTSUP || error == ENOSYS || error == EINVAL || error == EPERM;
}

PublishOutcome FromError(int error, const char* operation, Status* status) {
  *status = Status::System(error, operation);
  if (error == EEXIST) return PublishOutcome::kExists;
  if (error == ENOENT) return PublishOutcome::kVanished;
  return MeansUnsupported(error) ? PublishOutcome::kUnsupported : PublishOutcome::kFailed;
}

}  // namespace

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

PublishOutcome Publish(const Handle& directory, const PrivateFile& file, const std::string& name,
                       Status* status) {
  const int parent = Descriptor(directory);
  if (Resume([&] {
        return ::renameatx_np(parent, file.name.c_str(), parent, name.c_str(), RENAME_EXCL);
      }) == 0) {
    return PublishOutcome::kPublished;
  }
  const PublishOutcome renamed = FromError(errno, "rename", status);
  if (renamed != PublishOutcome::kUnsupported) return renamed;
  // Two steps: between them a death leaves both names, of which the sweep takes the private one.
  if (Resume([&] { return ::linkat(parent, file.name.c_str(), parent, name.c_str(), 0); }) != 0) {
    return FromError(errno, "link", status);
  }
  Status ignored;  // The lock is ours; a left-over name is swept by a later use.
  static_cast<void>(RemoveName(directory, file.name, file.handle, &ignored));
  return PublishOutcome::kPublished;
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
