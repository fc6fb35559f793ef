/* A process that takes part in the contention for a bucket with the two kernel locks of a bucket
 * lock and nothing else: the limit that the benchmark compares with. Understands the lines that
 * participant/main.mjs understands. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int directory;

static void check(int failed, const char* what) {
  if (!failed) return;
  perror(what);
  exit(1);
}

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Waits at the head of the line until the holder lets go; a dead holder's lockfile is removed. */
static void await_holder(void) {
  struct stat opened;
  struct stat named;
  const int file = openat(directory, ".lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  check(flock(file, LOCK_EX) != 0, "flock");
  check(fstat(file, &opened) != 0, "fstat");
  if (fstatat(directory, ".lock", &named, AT_SYMLINK_NOFOLLOW) == 0 &&
      named.st_ino == opened.st_ino) {
    check(unlinkat(directory, ".lock", 0) != 0, "unlinkat");
  }
  close(file);
}

/* Answers the descriptor of the lockfile. */
static int acquire(void) {
  char record[208];
  memset(record, 'x', sizeof(record));
  check(flock(directory, LOCK_EX) != 0, "flock");
  for (;;) {
    await_holder();
    const int file = openat(directory, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    check(file < 0, "open");
    check(flock(file, LOCK_EX | LOCK_NB) != 0, "flock");
    check(write(file, record, sizeof(record)) != (ssize_t)sizeof(record), "write");
    if (linkat(file, "", directory, ".lock", AT_EMPTY_PATH) == 0) {
      check(flock(directory, LOCK_UN) != 0, "flock");
      return file;
    }
    check(errno != EEXIST, "linkat");
    close(file);
  }
}

static void release(int file) {
  check(unlinkat(directory, ".lock", 0) != 0, "unlinkat");
  check(flock(file, LOCK_UN) != 0, "flock");
  close(file);
}

/* Takes turns until `end`; then writes when each was asked for, held and let go to `path`. */
static void contend(long long end, const char* path) {
  size_t used = 0;
  size_t size = 3 * 4096;
  double* moments = malloc(size * sizeof(double));
  while (now() < end) {
    if (used == size) moments = realloc(moments, (size *= 2) * sizeof(double));
    check(moments == NULL, "malloc");
    moments[used] = (double)now();
    const int file = acquire();
    moments[used + 1] = moments[used + 2] = (double)now();
    release(file);
    used += 3;
  }
  FILE* stream = fopen(path, "w");
  check(stream == NULL, path);
  check(fwrite(moments, sizeof(double), used, stream) != used, path);
  check(fclose(stream) != 0, path);
  free(moments);
}

int main(int argc, char** argv) {
  char line[4096];
  int file = -1;
  if (argc != 2) return 64;
  /* One that is blocked does not see its input end. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  directory = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(directory < 0, argv[1]);
  printf("ready\n");
  while (fgets(line, sizeof(line), stdin) != NULL) {
    long long end;
    char path[4096];
    if (strcmp(line, "acquire\n") == 0) {
      const long long requested = now();
      printf("waiting\n");
      file = acquire();
      const long long held = now();
      printf("held %lld %lld\n", requested, held);
    } else if (strcmp(line, "release\n") == 0) {
      const long long released = now();
      release(file);
      printf("released %lld\n", released);
    } else if (sscanf(line, "contend %lld %4095s", &end, path) == 2) {
      contend(end, path);
      printf("contended 0\n");
    } else {
      return 64;
    }
  }
  return 0;
}
