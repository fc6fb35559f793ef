// Work for libuv's pool: short, and never waiting for somebody else.

#ifndef BUCKETLOCK_JOB_H_
#define BUCKETLOCK_JOB_H_

#include <napi.h>

#include <memory>

namespace bucketlock {

class Job {
 public:
  virtual ~Job() = default;

  // On a thread of the pool.
  virtual void Run() = 0;
  // Back on the environment's thread; the answer resolves the promise. Not called where the
  // environment has ended meanwhile: the destructor must then undo what Run() has won.
  virtual Napi::Value Finish(Napi::Env env) = 0;

  // Answers a promise.
  static Napi::Value Start(Napi::Env env, std::unique_ptr<Job> job);

 private:
  static void Execute(napi_env env, void* job);
  static void Complete(napi_env env, napi_status status, void* job);

  napi_async_work work_ = nullptr;
  napi_deferred deferred_ = nullptr;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_JOB_H_
