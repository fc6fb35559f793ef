/* The system calls of one uncontended acquire and of its release, as bucketlock makes them on Linux,
 * in the same order and with the same flags, and nothing else. system-calls.test.ts compares them. Define
 * _GNU_SOURCE. */
#ifndef LOCKFILE_CALLS_H
#define LOCKFILE_CALLS_H

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

struct lockfile {
  int parent;
  int file;
};

/* Both answer what failed, or NULL. What a failure leaves open stays open: whoever calls gives up. */
static const char* acquire_lockfile(const char* directory, struct lockfile* held) {
  /* As long as a real record. */
  char record[208];
  memset(record, 'x', sizeof(record));
  unsigned char token[16];
  struct stat opened;
  struct statfs volume;
  struct flock waiting = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
  const int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) return "open of the directory";
  /* Does somebody stand in line? */
  if (fstatfs(parent, &volume) != 0) return "fstatfs of the directory";
  if (fcntl(parent, F_OFD_GETLK, &waiting) != 0) return "fcntl";
  if (waiting.l_type != F_UNLCK) return "nobody may wait";
  const int flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
  if (openat(parent, ".lock", flags) >= 0) return "nobody may hold it";
  if (getrandom(token, sizeof(token), 0) != (ssize_t)sizeof(token)) return "getrandom";
  const int file = openat(parent, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (file < 0) return "open of the lockfile";
  if (fstat(file, &opened) != 0) return "fstat";
  if (flock(file, LOCK_EX | LOCK_NB) != 0) return "flock";
  if (fstatfs(file, &volume) != 0) return "fstatfs of the lockfile";
  getpid();
  if (pwrite(file, record, sizeof(record), 0) != (ssize_t)sizeof(record)) return "pwrite";
  if (linkat(file, "", parent, ".lock", AT_EMPTY_PATH) != 0) return "linkat";
  getpid();
  held->parent = parent;
  held->file = file;
  return NULL;
}

static const char* release_lockfile(const struct lockfile* held) {
  struct stat opened;
  struct stat named;
  getpid();
  if (fstat(held->file, &opened) != 0) return "fstat";
  if (fstatat(held->parent, ".lock", &named, AT_SYMLINK_NOFOLLOW) != 0) return "fstatat";
  if (named.st_ino != opened.st_ino) return "it must be the same file";
  if (unlinkat(held->parent, ".lock", 0) != 0) return "unlinkat";
  getpid();
  if (flock(held->file, LOCK_UN) != 0) return "flock";
  close(held->file);
  close(held->parent);
  return NULL;
}

#endif
