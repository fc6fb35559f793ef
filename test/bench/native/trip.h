/* A trip through libuv's thread pool: a promise of what a job there answers. */
#ifndef TRIP_H
#define TRIP_H

#include <node_api.h>
#include <stdlib.h>

/* Answers what failed, or NULL. */
typedef const char* (*trip_job)(void);

struct trip {
  napi_async_work work;
  napi_deferred deferred;
  trip_job job;
  const char* failed;
};

static void execute_trip(napi_env env, void* data) {
  struct trip* trip = data;
  (void)env;
  trip->failed = trip->job();
}

static void complete_trip(napi_env env, napi_status status, void* data) {
  struct trip* trip = data;
  napi_value result;
  (void)status;
  if (trip->failed == NULL) {
    napi_get_undefined(env, &result);
    napi_resolve_deferred(env, trip->deferred, result);
  } else {
    napi_value message;
    napi_create_string_utf8(env, trip->failed, NAPI_AUTO_LENGTH, &message);
    napi_create_error(env, NULL, message, &result);
    napi_reject_deferred(env, trip->deferred, result);
  }
  napi_delete_async_work(env, trip->work);
  free(trip);
}

/* A function whose data is the job. */
static napi_value start_trip(napi_env env, napi_callback_info info) {
  struct trip* trip = malloc(sizeof(*trip));
  napi_value promise;
  napi_value name;
  void* data;
  napi_get_cb_info(env, info, NULL, NULL, NULL, &data);
  trip->job = (trip_job)data;
  napi_create_promise(env, &trip->deferred, &promise);
  napi_create_string_utf8(env, "trip", NAPI_AUTO_LENGTH, &name);
  napi_create_async_work(env, NULL, name, execute_trip, complete_trip, trip, &trip->work);
  napi_queue_async_work(env, trip->work);
  return promise;
}

static void export_trip(napi_env env, napi_value exports, const char* name, trip_job job) {
  napi_value function;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, start_trip, (void*)job, &function);
  napi_set_named_property(env, exports, name, function);
}

#endif
