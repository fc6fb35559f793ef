#include "job.h"

namespace bucketlock {

Napi::Value Job::Start(Napi::Env env, std::unique_ptr<Job> job) {
  napi_value promise = nullptr;
  if (::napi_create_promise(env, &job->deferred_, &promise) != napi_ok) return env.Undefined();
  const Napi::String name = Napi::String::New(env, "bucketlock");
  if (::napi_create_async_work(env, /*async_resource=*/nullptr, name, &Job::Execute, &Job::Complete,
                               job.get(), &job->work_) != napi_ok ||
      ::napi_queue_async_work(env, job->work_) != napi_ok) {
    const Napi::Error error = Napi::Error::New(env, "the thread pool takes no work");
    static_cast<void>(::napi_reject_deferred(env, job->deferred_, error.Value()));
    return Napi::Value(env, promise);
  }
  static_cast<void>(job.release());  // Complete owns it now.
  return Napi::Value(env, promise);
}

void Job::Execute(napi_env, void* job) { static_cast<Job*>(job)->Run(); }

void Job::Complete(napi_env env, napi_status status, void* raw_job) {
  const std::unique_ptr<Job> job(static_cast<Job*>(raw_job));
  static_cast<void>(::napi_delete_async_work(env, job->work_));
  if (status != napi_ok) return;
  const Napi::Value result = job->Finish(env);
  // Fails only where JavaScript can no longer run, and then nobody waits for it.
  static_cast<void>(::napi_resolve_deferred(env, job->deferred_, result));
}

}  // namespace bucketlock
