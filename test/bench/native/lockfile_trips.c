/* The system calls of bare_lockfile.c in two trips through libuv's thread pool, the first to acquire
 * and the second to release: what an asynchronous acquire and release costs if it does nothing
 * else. After `open(directory)` one lock at a time. */
#define _GNU_SOURCE
#include "lockfile_calls.h"
#include "trip.h"

static char directory[4096];
static struct lockfile held;

static napi_value open_directory(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value path;
  napi_get_cb_info(env, info, &count, &path, NULL, NULL);
  napi_get_value_string_utf8(env, path, directory, sizeof(directory), NULL);
  return NULL;
}

static const char* acquire(void) { return acquire_lockfile(directory, &held); }

static const char* release(void) { return release_lockfile(&held); }

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "open", NAPI_AUTO_LENGTH, open_directory, NULL, &function);
  napi_set_named_property(env, exports, "open", function);
  export_trip(env, exports, "acquire", acquire);
  export_trip(env, exports, "release", release);
  return exports;
}
