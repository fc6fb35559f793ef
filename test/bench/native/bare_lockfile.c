/* The system calls of one uncontended acquire and release, and nothing else: the floor that the
 * benchmark compares with. Prints the nanoseconds of each of `rounds` batches, which are measured
 * while `others` other lockfiles are held. */
#define _GNU_SOURCE
#include "lockfile_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static void check(int failed, const char* what) {
  if (!failed) return;
  perror(what);
  exit(1);
}

static void check_calls(const char* failed) { check(failed != NULL, failed); }

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
    struct lockfile held;
    check_calls(acquire_lockfile(path, &held));
  }
}

static void lock_and_unlock(const char* directory) {
  struct lockfile held;
  check_calls(acquire_lockfile(directory, &held));
  check_calls(release_lockfile(&held));
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
