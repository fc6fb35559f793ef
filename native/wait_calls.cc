#include "wait_calls.h"

#include "call.h"
#include "environment.h"

namespace bucketlock {
namespace {

RequestId RequestAt(const Napi::CallbackInfo& info, std::size_t index) {
  return static_cast<RequestId>(NumberAt(info, index));
}

Napi::Value WaitSlice(const Napi::CallbackInfo& info) {
  return Environment::Of(info.Env())
      .WaitSlice(info.Env(), RequestAt(info, 0), MillisecondsAt(info, 1));
}

Napi::Value CancelWait(const Napi::CallbackInfo& info) {
  return Environment::Of(info.Env()).CancelWait(info.Env(), RequestAt(info, 0));
}

void ReleaseAll(const Napi::CallbackInfo& info) {
  Environment::Of(info.Env()).ReleaseAll(MillisecondsAt(info, 0));
}

}  // namespace

void AddWaitCalls(Napi::Object* exports) {
  AddCall(exports, "waitSlice", WaitSlice);
  AddCall(exports, "cancelWait", CancelWait);
  AddCall(exports, "releaseAll", ReleaseAll);
}

}  // namespace bucketlock
