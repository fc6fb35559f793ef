/* One trip through libuv's thread pool that does nothing there: what any asynchronous call costs. */
#include "trip.h"

static const char* nothing(void) { return NULL; }

NAPI_MODULE_INIT() {
  export_trip(env, exports, "trip", nothing);
  return exports;
}
