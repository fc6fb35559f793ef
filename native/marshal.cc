#include "marshal.h"

#include "platform/system_error.h"

namespace bucketlock {
namespace {

const char* Word(LockState state) {
  switch (state) {
    case LockState::kFree:
      return "free";
    case LockState::kHeld:
      return "held";
    case LockState::kStale:
      break;
  }
  return "stale";
}

const char* Word(Evidence evidence) {
  switch (evidence) {
    case Evidence::kGuard:
      return "guard";
    case Evidence::kGuardFree:
      return "guard-free";
    case Evidence::kProcessAlive:
      return "process-alive";
    case Evidence::kProcessGone:
      return "process-gone";
    case Evidence::kUnstamped:
      return "unstamped";
    case Evidence::kForeign:
      return "foreign";
    case Evidence::kUnknown:
      break;
  }
  return "unknown";
}

const char* Word(ProcessState state) {
  switch (state) {
    case ProcessState::kAlive:
      return "alive";
    case ProcessState::kGone:
      return "gone";
    case ProcessState::kReused:
      return "reused";
    case ProcessState::kUnknown:
      break;
  }
  return "unknown";
}

const char* Word(InvalidReason reason) {
  switch (reason) {
    case InvalidReason::kDirectoryMissing:
      return "bucket_dir_missing";
    case InvalidReason::kNotDirectory:
      return "bucket_dir_not_directory";
    case InvalidReason::kDirectoryDisappeared:
      return "bucket_dir_disappeared";
    case InvalidReason::kLockfileNotRegular:
      break;
  }
  return "lockfile_not_regular";
}

const char* Word(LostReason reason) {
  switch (reason) {
    case LostReason::kRemoved:
      return "removed";
    case LostReason::kReplaced:
      return "replaced";
    case LostReason::kOtherProcess:
      break;
  }
  return "other-process";
}

Napi::Object Outcome(Napi::Env env, const char* outcome) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("outcome", outcome);
  return object;
}

Napi::Object FromInvalid(Napi::Env env, InvalidReason reason) {
  Napi::Object object = Outcome(env, "invalid");
  object.Set("reason", Word(reason));
  return object;
}

Napi::Object FromReport(Napi::Env env, const LockReport& report) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("state", Word(report.state));
  if (report.state == LockState::kFree) return object;
  object.Set("evidence", Word(report.evidence));
  if (report.pid.has_value()) {
    object.Set("pid", Napi::Number::New(env, *report.pid));
    object.Set("process", Word(report.process));
    object.Set("thisProcess", Napi::Boolean::New(env, report.this_process));
  }
  if (report.since_ms.has_value()) {
    object.Set("sinceMs", Napi::Number::New(env, static_cast<double>(*report.since_ms)));
  }
  if (report.label.has_value()) object.Set("label", *report.label);
  if (!report.host.empty()) object.Set("host", report.host);
  if (!report.token.empty()) object.Set("token", report.token);
  if (!report.file_system.empty()) object.Set("fileSystem", report.file_system);
  return object;
}

Napi::Object FromHold(Napi::Env env, const HoldResult& result, const char* ours,
                      const std::string& path) {
  switch (result.outcome) {
    case HoldOutcome::kOurs:
      return Outcome(env, ours);
    case HoldOutcome::kLost: {
      Napi::Object object = Outcome(env, "lost");
      object.Set("reason", Word(result.lost));
      return object;
    }
    case HoldOutcome::kBlocked: {
      Napi::Object object = FromFailure(env, result.status, path, std::string());
      object.Set("outcome", "blocked");
      return object;
    }
    case HoldOutcome::kFailed:
      break;
  }
  return FromFailure(env, result.status, path, std::string());
}

Napi::Object FromOutcome(Napi::Env env, const AttemptResult& result, double hold) {
  switch (result.kind) {
    case ResultKind::kAcquired: {
      Napi::Object object = Outcome(env, "acquired");
      object.Set("hold", Napi::Number::New(env, hold));
      object.Set("token", result.token);
      return object;
    }
    case ResultKind::kBusy: {
      Napi::Object object = Outcome(env, "busy");
      object.Set("report", FromReport(env, result.report));
      return object;
    }
    case ResultKind::kInvalid:
      return FromInvalid(env, result.invalid);
    case ResultKind::kUnsupported:
    case ResultKind::kFailed:
      break;
  }
  return FromFailure(env, result.status, result.path, result.file_system);
}

}  // namespace

Napi::Object FromAttempt(Napi::Env env, const AttemptResult& result, double hold) {
  Napi::Object object = FromOutcome(env, result, hold);
  if (result.reclaimed.has_value()) object.Set("reclaimed", FromReport(env, *result.reclaimed));
  return object;
}

Napi::Object FromFailure(Napi::Env env, const Status& status, const std::string& path,
                         const std::string& file_system) {
  const bool unsupported = status.code == StatusCode::kUnsupported;
  Napi::Object object = Outcome(env, unsupported ? "unsupported" : "failed");
  if (!unsupported || status.system_error != 0) {
    object.Set("errno", Napi::Number::New(env, NodeErrorNumber(status.system_error)));
    object.Set("syscall", status.operation);
  }
  object.Set("path", path);
  if (unsupported) object.Set("fileSystem", file_system);
  return object;
}

Napi::Object FromRelease(Napi::Env env, const HoldResult& result, const std::string& path) {
  return FromHold(env, result, "released", path);
}

Napi::Object FromVerify(Napi::Env env, const HoldResult& result, const std::string& path) {
  return FromHold(env, result, "ours", path);
}

Napi::Object FromRemove(Napi::Env env, RemoveOutcome outcome, const Status& status,
                        const std::string& path) {
  switch (outcome) {
    case RemoveOutcome::kRemoved:
      return Outcome(env, "removed");
    case RemoveOutcome::kAbsent:
      return Outcome(env, "absent");
    case RemoveOutcome::kBusy:
      return Outcome(env, "busy");
    case RemoveOutcome::kFailed:
      break;
  }
  return FromFailure(env, status, path, std::string());
}

const char* ProcessWord(ProcessState state) { return Word(state); }

Napi::Object FromLook(Napi::Env env, const Look& look) {
  switch (look.outcome) {
    case LookOutcome::kSeen: {
      Napi::Object object = Outcome(env, "report");
      object.Set("report", FromReport(env, look.report));
      return object;
    }
    case LookOutcome::kInvalid:
      return FromInvalid(env, look.invalid);
    case LookOutcome::kUnsupported:
    case LookOutcome::kFailed:
      break;
  }
  return FromFailure(env, look.status, look.path, look.file_system);
}

Napi::Object FromBreak(Napi::Env env, const BreakResult& result) {
  if (result.look.outcome != LookOutcome::kSeen) return FromLook(env, result.look);
  return Outcome(env, result.gone ? "gone" : "kept");
}

}  // namespace bucketlock
