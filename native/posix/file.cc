#include "platform/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "posix/directory_stream.h"
#include "posix/posix_util.h"
#include "posix/publish.h"

namespace bucketlock {
FileIdentity IdentityFrom(const struct stat& info) {
  FileIdentity identity;
  identity.volume = static_cast<std::uint64_t>(info.st_dev);
  const std::uint64_t inode = static_cast<std::uint64_t>(info.st_ino);
  std::memcpy(identity.file.data(), &inode, sizeof(inode));
  return identity;
}

std::int64_t NanosecondsFrom(const struct timespec& time) {
  constexpr std::int64_t kPerSecond = 1000000000;
  constexpr std::int64_t kMostSeconds = std::numeric_limits<std::int64_t>::max() / kPerSecond - 1;
  const std::int64_t seconds = time.tv_sec;
  return std::clamp(seconds, -kMostSeconds, kMostSeconds) * kPerSecond + time.tv_nsec;
}

Status SetMode(const Handle& file, unsigned mode) {
  struct stat info;
  if (Resume([&] { return ::fstat(Descriptor(file), &info); }) != 0) {
    return HandleFailure(errno, "fstat");
  }
  if ((info.st_mode & 07777) == mode) return Status::Ok();
  if (Resume([&] { return ::fchmod(Descriptor(file), static_cast<mode_t>(mode)); }) != 0) {
    return HandleFailure(errno, "fchmod");
  }
  return Status::Ok();
}

Status MakeDirectory(const std::string& path, bool* made) {
  // 0777 less the umask: the mode Node's own mkdir gives.
  *made = Resume([&] { return ::mkdir(path.c_str(), 0777); }) == 0;
  return *made || errno == EEXIST ? Status::Ok() : Status::System(errno, "mkdir");
}

OpenOutcome OpenExisting(const Handle& directory, const std::string& name, Handle* file,
                         Status* status) {
  const int parent = Descriptor(directory);
  // O_NONBLOCK: a FIFO in the lockfile's place must not hang us.
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  // For writing too, though nothing is written: NFS locks exclusively only what is open for it.
  int descriptor = Resume([&] { return ::openat(parent, name.c_str(), O_RDWR | kFlags); });
  if (descriptor < 0 && (errno == EACCES || errno == EPERM || errno == EROFS)) {
    descriptor = Resume([&] { return ::openat(parent, name.c_str(), O_RDONLY | kFlags); });
  }
  if (descriptor < 0) {
    const int error = errno;
    *status = Status::System(error, "open");
    if (error == ENOENT) return OpenOutcome::kAbsent;
    // ELOOP: a symbolic link. ENXIO, EOPNOTSUPP: a socket, or a device without driver.
    if (error == ELOOP || error == ENXIO || error == EOPNOTSUPP || error == EISDIR) {
      return OpenOutcome::kNotRegular;
    }
    if (error == EACCES || error == EPERM) {
      // Denied by the file, or by the directory above it? The latter is nobody's lock.
      struct stat info;
      if (::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
        return S_ISREG(info.st_mode) ? OpenOutcome::kDenied : OpenOutcome::kNotRegular;
      }
    }
    return OpenOutcome::kFailed;
  }
  Handle opened(descriptor);
  struct stat info;
  if (Resume([&] { return ::fstat(descriptor, &info); }) != 0) {
    *status = HandleFailure(errno, "fstat");
    return status->code == StatusCode::kVanished ? OpenOutcome::kAbsent : OpenOutcome::kFailed;
  }
  if (!S_ISREG(info.st_mode)) return OpenOutcome::kNotRegular;
  *file = std::move(opened);
  return OpenOutcome::kOpened;
}

Status CreateNamed(const Handle& directory, const std::string& name, unsigned mode,
                   PrivateFile* file) {
  const int descriptor = Resume([&] {
    return ::openat(Descriptor(directory), name.c_str(),
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, static_cast<mode_t>(mode));
  });
  if (descriptor < 0) {
    // The name is created, so only the directory can be missing.
    return errno == ENOENT ? Status::Vanished(errno, "open") : Status::System(errno, "open");
  }
  file->handle = Handle(descriptor);
  file->name = name;
  Status status = SetMode(file->handle, mode);
  // Swept already: whoever publishes it finds out.
  if (status.code == StatusCode::kVanished) return Status::Ok();
  if (!status.ok()) {
    Status ignored;  // The first failure is the one to tell.
    static_cast<void>(RemoveName(directory, name, file->handle, &ignored));
  }
  return status;
}

PublishOutcome FromPublishError(int error, const char* operation, Status* status) {
  *status = Status::System(error, operation);
  if (error == EEXIST) return PublishOutcome::kExists;
  if (error == ENOENT) return PublishOutcome::kVanished;
  return MeansUnsupported(error) ? PublishOutcome::kUnsupported : PublishOutcome::kFailed;
}

PublishOutcome PublishNamed(const Handle& directory, const PrivateFile& file,
                            const std::string& name, Status* status) {
  const int parent = Descriptor(directory);
  if (RenameNoReplace(parent, file.name.c_str(), name.c_str()) == 0) {
    return PublishOutcome::kPublished;
  }
  const PublishOutcome renamed = FromPublishError(errno, "rename", status);
  if (renamed != PublishOutcome::kUnsupported) return renamed;
  // Two steps: between them a death leaves both names, of which the sweep takes the private one.
  if (Resume([&] { return ::linkat(parent, file.name.c_str(), parent, name.c_str(), 0); }) != 0) {
    return FromPublishError(errno, "link", status);
  }
  Status ignored;  // The lock is ours; a left-over name is swept by a later use.
  static_cast<void>(RemoveName(directory, file.name, file.handle, &ignored));
  return PublishOutcome::kPublished;
}

Status IdentityOf(const Handle& file, FileIdentity* identity) {
  struct stat info;
  if (Resume([&] { return ::fstat(Descriptor(file), &info); }) != 0) {
    return HandleFailure(errno, "fstat");
  }
  *identity = IdentityFrom(info);
  return Status::Ok();
}

Status IdentityOfDirectory(const Handle& directory, FileIdentity* identity) {
  return IdentityOf(directory, identity);
}

NameOutcome IdentityOfName(const Handle& directory, const std::string& name, FileIdentity* identity,
                           Status* status) {
  struct stat info;
  const int result = Resume(
      [&] { return ::fstatat(Descriptor(directory), name.c_str(), &info, AT_SYMLINK_NOFOLLOW); });
  if (result == 0) {
    *identity = IdentityFrom(info);
    return NameOutcome::kFound;
  }
  *status = Status::System(errno, "lstat");
  return status->system_error == ENOENT ? NameOutcome::kAbsent : NameOutcome::kFailed;
}

RemoveOutcome RemoveName(const Handle& directory, const std::string& name, const Handle&,
                         Status* status) {
  if (Resume([&] { return ::unlinkat(Descriptor(directory), name.c_str(), 0); }) == 0) {
    return RemoveOutcome::kRemoved;
  }
  *status = Status::System(errno, "unlink");
  return status->system_error == ENOENT ? RemoveOutcome::kAbsent : RemoveOutcome::kFailed;
}

RemoveOutcome RemovePath(const std::string& path, Status* status) {
  if (Resume([&] { return ::unlink(path.c_str()); }) == 0) return RemoveOutcome::kRemoved;
  *status = Status::System(errno, "unlink");
  return status->system_error == ENOENT ? RemoveOutcome::kAbsent : RemoveOutcome::kFailed;
}

Status RenameName(const Handle& directory, const std::string& from, const std::string& to) {
  const int parent = Descriptor(directory);
  if (Resume([&] { return ::renameat(parent, from.c_str(), parent, to.c_str()); }) == 0) {
    return Status::Ok();
  }
  return errno == ENOENT ? Status::Vanished(errno, "rename") : Status::System(errno, "rename");
}

Status ReadPrefix(const Handle& file, std::size_t limit, std::string* bytes) {
  bytes->assign(limit, '\0');
  std::size_t done = 0;
  while (done < limit) {
    const ssize_t count = Resume([&] {
      return ::pread(Descriptor(file), &(*bytes)[done], limit - done, static_cast<off_t>(done));
    });
    if (count < 0) {
      bytes->clear();
      return HandleFailure(errno, "read");
    }
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes->resize(done);
  return Status::Ok();
}

Status WriteAll(const PrivateFile& file, const std::string& bytes) {
  const int descriptor = Descriptor(file.handle);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = Resume([&] {
      return ::pwrite(descriptor, bytes.data() + done, bytes.size() - done,
                      static_cast<off_t>(done));
    });
    if (count < 0) return Status::System(errno, "write");
    // No file system should, but a loop that cannot advance must not spin.
    if (count == 0) return Status::System(EIO, "write");
    done += static_cast<std::size_t>(count);
  }
  return Status::Ok();
}

Status TouchNow(const Handle& file) {
  const struct timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  if (Resume([&] { return ::futimens(Descriptor(file), times); }) == 0) return Status::Ok();
  return HandleFailure(errno, "futimens");
}

Status ListNames(const Handle& directory, const std::string& prefix,
                 std::vector<std::string>* names) {
  // A fresh open: a duplicated descriptor would share its read position with every other reader.
  const int descriptor = Resume(
      [&] { return ::openat(Descriptor(directory), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor < 0) return Status::System(errno, "open");
  const DirectoryStream stream(::fdopendir(descriptor));
  if (stream == nullptr) {
    const int error = errno;
    static_cast<void>(::close(descriptor));
    return Status::System(error, "opendir");
  }
  for (;;) {
    errno = 0;
    const struct dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) {
      return errno == 0 ? Status::Ok() : Status::System(errno, "scandir");
    }
    if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) == 0) {
      names->emplace_back(entry->d_name);
    }
  }
}

}  // namespace bucketlock
