/* The system calls of one uncontended acquire and release, and nothing else: the floor that the
 * benchmark compares with. Prints the nanoseconds of each of `rounds` batches, which are measured
 * while `others` other lockfiles are held. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static void check(int failed, const char* what) {
  if (!failed) return;
  perror(what);
  exit(1);
}

/* Holds other lockfiles, each in a directory of its own. */
static void hold_others(const char* directory, long others) {
  struct rlimit descriptors;
  check(getrlimit(RLIMIT_NOFILE, &descriptors) != 0, "getrlimit");
  descriptors.rlim_cur = descriptors.rlim_max;
  check(setrlimit(RLIMIT_NOFILE, &descriptors) != 0, "setrlimit");
  for (long i = 0; i < others; ++i) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/other-%ld", directory, i);
    check(mkdir(path, 0700) != 0, path);
    const int parent = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    check(parent < 0, path);
    const int file = openat(parent, ".lock", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    check(file < 0, path);
    check(flock(file, LOCK_EX | LOCK_NB) != 0, path);
    close(parent);
  }
}

static void lock_and_unlock(const char* directory) {
  /* As long as a real record. */
  char record[208];
  memset(record, 'x', sizeof(record));
  unsigned char token[16];
  struct stat opened;
  struct stat named;
  struct statfs volume;
  const int parent = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  check(parent < 0, "open");
  check(openat(parent, ".lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC) >= 0, "somebody holds it");
  check(getrandom(token, sizeof(token), 0) != (ssize_t)sizeof(token), "getrandom");
  const int file = openat(parent, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  check(file < 0, "open");
  check(fstat(file, &opened) != 0, "fstat");
  check(flock(file, LOCK_EX | LOCK_NB) != 0, "flock");
  check(fstatfs(file, &volume) != 0, "fstatfs");
  check(write(file, record, sizeof(record)) != (ssize_t)sizeof(record), "write");
  check(linkat(file, "", parent, ".lock", AT_EMPTY_PATH) != 0, "linkat");
  check(fstat(file, &opened) != 0, "fstat");
  check(fstatat(parent, ".lock", &named, AT_SYMLINK_NOFOLLOW) != 0, "fstatat");
  check(named.st_ino != opened.st_ino, "another file");
  check(unlinkat(parent, ".lock", 0) != 0, "unlinkat");
  check(flock(file, LOCK_UN) != 0, "flock");
  close(file);
  close(parent);
}

int main(int argc, char** argv) {
  if (argc != 5) return 64;
  const long rounds = strtol(argv[2], NULL, 10);
  const long count = strtol(argv[3], NULL, 10);
  hold_others(argv[1], strtol(argv[4], NULL, 10));
  for (long round = 0; round < rounds; ++round) {
    struct timespec start;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < count; ++i) lock_and_unlock(argv[1]);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.0f\n", ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) /
                         (double)count);
    fflush(stdout);
  }
  return 0;
}
