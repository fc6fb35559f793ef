// Files of a lock directory, as the protocol in lockfile.cc needs them.
//
// Every name is relative to an open directory, so that a directory renamed meanwhile does not
// matter. Nothing here follows a symbolic link at the last component, waits for a peer, or leaves a
// descriptor that a child could inherit. Interrupted calls are resumed.

#ifndef BUCKETLOCK_PLATFORM_FILE_H_
#define BUCKETLOCK_PLATFORM_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/handle.h"
#include "status.h"

namespace bucketlock {

// What makes a file this file. It may be given to another file once nobody names or holds it open,
// so it proves something only while a handle on the file is open.
struct FileIdentity {
  std::uint64_t volume = 0;
  std::array<std::uint8_t, 16> file = {};

  bool operator==(const FileIdentity& other) const {
    return volume == other.volume && file == other.file;
  }
  bool operator!=(const FileIdentity& other) const { return !(*this == other); }
};

struct FileTimes {
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
};

enum class DirectoryOutcome { kOpened, kMissing, kNotDirectory, kFailed };

enum class DirectoryUse {
  // Names in it.
  kNames,
  // The queue lock too, where the directory may be read; see queue_lock.h.
  kQueue,
};

DirectoryOutcome OpenDirectory(const std::string& path, DirectoryUse use, Handle* directory,
                               Status* status);

// Makes the directory itself, not its parents. Something of that name that is there already is
// success, with `made` false.
Status MakeDirectory(const std::string& path, bool* made);

enum class OpenOutcome {
  kOpened,
  kAbsent,
  // Something else than a regular file has the name.
  kNotRegular,
  // There is a file, and we may not read it.
  kDenied,
  kFailed,
};

// Opens an existing regular file for reading.
OpenOutcome OpenExisting(const Handle& directory, const std::string& name, Handle* file,
                         Status* status);

// A file nobody knows of yet. `name` is empty where it has none.
struct PrivateFile {
  // The one that outlives this. On Windows it has no right that would keep readers out.
  Handle handle;
  std::string name;
  // Where the right to write and to rename is a handle's, and would keep readers out: the one that
  // has it, until the file is published. Elsewhere invalid.
  Handle maker;
};

// Creates an empty file without a name, with exactly `mode`. kUnsupported where the file system
// cannot; then CreateNamed does.
Status CreateUnnamed(const Handle& directory, unsigned mode, PrivateFile* file);

// The same under `name`, which must be free. kVanished: the directory is gone.
Status CreateNamed(const Handle& directory, const std::string& name, unsigned mode,
                   PrivateFile* file);

enum class PublishOutcome {
  kPublished,
  // The name is taken; nothing was replaced.
  kExists,
  // The private file, or the directory itself, is gone.
  kVanished,
  // This way of publishing does not exist here: try a named private file.
  kUnsupported,
  kFailed,
};

// Gives the file its public name without replacing anything. On kPublished its private name is
// gone; on any other outcome the private file is as it was.
PublishOutcome Publish(const Handle& directory, const PrivateFile& file, const std::string& name,
                       Status* status);

// Of a file in a directory, to be compared with others in it.
Status IdentityOf(const Handle& file, FileIdentity* identity);

// Of a directory, to be told apart from every other on the machine.
Status IdentityOfDirectory(const Handle& directory, FileIdentity* identity);

enum class NameOutcome { kFound, kAbsent, kFailed };

// The identity of what `name` stands for now.
NameOutcome IdentityOfName(const Handle& directory, const std::string& name, FileIdentity* identity,
                           Status* status);

enum class RemoveOutcome {
  kRemoved,
  kAbsent,
  // Somebody's open handle forbids it for now.
  kBusy,
  kFailed,
};

// Removes `name`, which the caller knows to stand for the open file. Where removing means opening
// the name anew, another file than that one is left alone, and the answer is kAbsent.
RemoveOutcome RemoveName(const Handle& directory, const std::string& name, const Handle& file,
                         Status* status);

// Removes whatever file has that path, once; for callers who know no directory and hold nothing.
RemoveOutcome RemovePath(const std::string& path, Status* status);

// Renames to a name that nobody else uses. kVanished: `from` is not there.
Status RenameName(const Handle& directory, const std::string& from, const std::string& to);

// Reads from the start, `limit` bytes at most.
Status ReadPrefix(const Handle& file, std::size_t limit, std::string* bytes);
// Writes what a new file is to hold, from its start on. What it held before must not be longer.
Status WriteAll(const PrivateFile& file, const std::string& bytes);

Status TimesOf(const Handle& file, FileTimes* times);
// Sets the modification time to now.
Status TouchNow(const Handle& file);

// The file system's name, as the allow-list in judgement.cc spells it ("ext", "overlay", "nfs").
// An unknown one gets a name that is on no list.
Status FileSystemOf(const Handle& file, std::string* name);

// All entries that begin with `prefix`.
Status ListNames(const Handle& directory, const std::string& prefix,
                 std::vector<std::string>* names);

}  // namespace bucketlock

#endif  // BUCKETLOCK_PLATFORM_FILE_H_
