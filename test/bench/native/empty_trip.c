/* One trip through libuv's thread pool that does nothing there: what any asynchronous call costs. */
#include <node_api.h>
#include <stdlib.h>

struct trip {
  napi_async_work work;
  napi_deferred deferred;
};

static void execute(napi_env env, void* data) {
  (void)env;
  (void)data;
}

static void complete(napi_env env, napi_status status, void* data) {
  struct trip* trip = data;
  napi_value undefined;
  (void)status;
  napi_get_undefined(env, &undefined);
  napi_resolve_deferred(env, trip->deferred, undefined);
  napi_delete_async_work(env, trip->work);
  free(trip);
}

static napi_value start(napi_env env, napi_callback_info info) {
  struct trip* trip = malloc(sizeof(*trip));
  napi_value promise;
  napi_value name;
  (void)info;
  napi_create_promise(env, &trip->deferred, &promise);
  napi_create_string_utf8(env, "trip", NAPI_AUTO_LENGTH, &name);
  napi_create_async_work(env, NULL, name, execute, complete, trip, &trip->work);
  napi_queue_async_work(env, trip->work);
  return promise;
}

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "trip", NAPI_AUTO_LENGTH, start, NULL, &function);
  napi_set_named_property(env, exports, "trip", function);
  return exports;
}
