#include "lockfile_calls.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "call.h"
#include "job.h"
#include "marshal.h"
#include "platform/file.h"
#include "platform/process.h"

namespace bucketlock {
namespace {

class RemovePathJob : public Job {
 public:
  explicit RemovePathJob(std::string path) : path_(std::move(path)) {}

  void Run() override { outcome_ = RemovePath(path_, &status_); }
  Napi::Value Finish(Napi::Env env) override { return FromRemove(env, outcome_, status_, path_); }

 private:
  const std::string path_;
  RemoveOutcome outcome_ = RemoveOutcome::kFailed;
  Status status_;
};

Napi::Value RemovePathAsync(const Napi::CallbackInfo& info) {
  return Job::Start(info.Env(), std::make_unique<RemovePathJob>(StringAt(info, 0)));
}

Napi::Value RemovePathSync(const Napi::CallbackInfo& info) {
  RemovePathJob job(StringAt(info, 0));
  job.Run();
  return job.Finish(info.Env());
}

// A few system calls that cannot wait for anybody, so there is no asynchronous twin.
Napi::Value Probe(const Napi::CallbackInfo& info) {
  ProcessIdentity process;
  process.pid = static_cast<std::uint32_t>(NumberAt(info, 0));
  return Napi::String::New(info.Env(), ProcessWord(ProbeProcess(process)));
}

}  // namespace

void AddLockfileCalls(Napi::Object* exports) {
  AddCall(exports, "removePath", RemovePathAsync);
  AddCall(exports, "removePathSync", RemovePathSync);
  AddCall(exports, "probeProcess", Probe);
}

}  // namespace bucketlock
