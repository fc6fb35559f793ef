// The parts of platform/file.h for which POSIX has no words: files without a name, publishing
// without replacing, the kind of file system.

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "platform/file.h"
#include "posix/posix_util.h"
#include "posix/publish.h"

namespace bucketlock {
namespace {

struct FileSystemMagic {
  std::uint32_t magic;
  const char* name;
};

// statfs(2); values that <linux/magic.h> lacks are spelled out, from the file systems' own sources.
constexpr FileSystemMagic kFileSystems[] = {
    {EXT4_SUPER_MAGIC, "ext"},  {XFS_SUPER_MAGIC, "xfs"},      {BTRFS_SUPER_MAGIC, "btrfs"},
    {F2FS_SUPER_MAGIC, "f2fs"}, {0x2fc12fc1, "zfs"},           {0xca451a4e, "bcachefs"},
    {TMPFS_MAGIC, "tmpfs"},     {RAMFS_MAGIC, "ramfs"},        {OVERLAYFS_SUPER_MAGIC, "overlay"},
    {0x3153464a, "jfs"},        {NILFS_SUPER_MAGIC, "nilfs2"}, {REISERFS_SUPER_MAGIC, "reiserfs"},
    {MSDOS_SUPER_MAGIC, "fat"}, {0x2011bab0, "exfat"},         {0x7366746e, "ntfs"},
    {NFS_SUPER_MAGIC, "nfs"},   {SMB_SUPER_MAGIC, "smb"},      {0xff534d42, "cifs"},
    {0xfe534d42, "smb2"},       {0x65735546, "fuse"},          {V9FS_MAGIC, "9p"},
    {CEPH_SUPER_MAGIC, "ceph"}, {AFS_SUPER_MAGIC, "afs"},      {ECRYPTFS_SUPER_MAGIC, "ecryptfs"},
};

// linkat on a file without a name. AT_EMPTY_PATH wants a capability before Linux 6.10, the detour
// by /proc wants /proc.
int LinkUnnamed(int descriptor, int directory, const char* name) {
  int result = Resume([&] { return ::linkat(descriptor, "", directory, name, AT_EMPTY_PATH); });
  if (result == 0 || (errno != ENOENT && errno != EPERM && errno != EINVAL)) return result;
  char link[32];
  static_cast<void>(std::snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor));
  result = Resume([&] { return ::linkat(AT_FDCWD, link, directory, name, AT_SYMLINK_FOLLOW); });
  return result;
}

}  // namespace

DirectoryOutcome OpenDirectory(const std::string& path, DirectoryUse use, Handle* directory,
                               Status* status) {
  int descriptor = -1;
  if (use == DirectoryUse::kQueue) {
    descriptor = Resume([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  }
  // O_PATH: to use names in a directory one need not be allowed to list it. It cannot be locked.
  if (use == DirectoryUse::kNames || (descriptor < 0 && (errno == EACCES || errno == EPERM))) {
    descriptor = Resume([&] { return ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); });
  }
  if (descriptor >= 0) {
    *directory = Handle(descriptor);
    return DirectoryOutcome::kOpened;
  }
  *status = Status::System(errno, "open");
  if (status->system_error == ENOENT) return DirectoryOutcome::kMissing;
  if (status->system_error == ENOTDIR) return DirectoryOutcome::kNotDirectory;
  return DirectoryOutcome::kFailed;
}

Status CreateUnnamed(const Handle& directory, unsigned mode, PrivateFile* file) {
  const int descriptor = Resume([&] {
    return ::openat(Descriptor(directory), ".", O_RDWR | O_TMPFILE | O_CLOEXEC,
                    static_cast<mode_t>(mode));
  });
  if (descriptor < 0) {
    const int error = errno;
    // EISDIR, ENOENT: kernels from before O_TMPFILE see an attempt to write a directory.
    if (error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOENT) {
      return Status::Unsupported(error, "open");
    }
    return Status::System(error, "open");
  }
  file->handle = Handle(descriptor);
  file->name.clear();
  return SetMode(file->handle, mode);
}

// Through syscall(2): the wrapper came with glibc 2.28 only.
int RenameNoReplace(int directory, const char* from, const char* to) {
  return static_cast<int>(Resume(
      [&] { return ::syscall(SYS_renameat2, directory, from, directory, to, RENAME_NOREPLACE); }));
}

bool MeansUnsupported(int error) {
  return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL ||
         error == EMLINK;
}

PublishOutcome Publish(const Handle& directory, const PrivateFile& file, const std::string& name,
                       Status* status) {
  if (!file.name.empty()) return PublishNamed(directory, file, name, status);
  if (LinkUnnamed(Descriptor(file.handle), Descriptor(directory), name.c_str()) == 0) {
    return PublishOutcome::kPublished;
  }
  const PublishOutcome outcome = FromPublishError(errno, "link", status);
  // Without a name ENOENT may also mean "no /proc": only a named file can tell.
  return outcome == PublishOutcome::kVanished ? PublishOutcome::kUnsupported : outcome;
}

Status TimesOf(const Handle& file, FileTimes* times) {
  struct stat info;
  if (Resume([&] { return ::fstat(Descriptor(file), &info); }) != 0) {
    return HandleFailure(errno, "fstat");
  }
  times->modified_ns = NanosecondsFrom(info.st_mtim);
  times->changed_ns = NanosecondsFrom(info.st_ctim);
  return Status::Ok();
}

Status FileSystemOf(const Handle& file, std::string* name) {
  struct statfs info;
  if (Resume([&] { return ::fstatfs(Descriptor(file), &info); }) != 0) {
    return HandleFailure(errno, "fstatfs");
  }
  const std::uint32_t magic = static_cast<std::uint32_t>(info.f_type);
  for (const FileSystemMagic& known : kFileSystems) {
    if (known.magic == magic) {
      *name = known.name;
      return Status::Ok();
    }
  }
  char unknown[16];
  static_cast<void>(std::snprintf(unknown, sizeof(unknown), "0x%08x", magic));
  *name = unknown;
  return Status::Ok();
}

}  // namespace bucketlock
