// The addon's face: lib/native.ts describes it, and a file for each kind of lock has its calls.
// Arguments come checked, results leave as plain objects; nothing in them decides anything.

#include <napi.h>

#include "bucket_calls.h"
#include "environment.h"
#include "lockfile_calls.h"
#include "named_calls.h"
#include "wait_calls.h"

namespace bucketlock {
namespace {

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Environment(env));
  if (!Environment::Of(env).usable()) {
    Napi::Error::New(env, "Node.js made no thread-safe function").ThrowAsJavaScriptException();
    return exports;
  }
  AddBucketCalls(&exports);
  AddLockfileCalls(&exports);
  AddNamedCalls(&exports);
  AddWaitCalls(&exports);
  // The last: in a thread that is being terminated what comes before may be missing.
  exports.Set("isWhole", Napi::Boolean::New(env, true));
  return exports;
}

}  // namespace
}  // namespace bucketlock

static Napi::Object InitAddon(Napi::Env env, Napi::Object exports) {
  return bucketlock::Init(env, exports);
}

NODE_API_MODULE(bucketlock, InitAddon)
