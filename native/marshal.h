// Native results as the plain objects that lib/native.ts describes.

#ifndef BUCKETLOCK_MARSHAL_H_
#define BUCKETLOCK_MARSHAL_H_

#include <napi.h>

#include <string>

#include "held_lockfile.h"
#include "lock_report.h"
#include "lockfile.h"
#include "lockfile_inspection.h"
#include "platform/file.h"
#include "platform/process.h"

namespace bucketlock {

// `hold` names the held lock of an acquired result.
Napi::Object FromAttempt(Napi::Env env, const AttemptResult& result, double hold);
Napi::Object FromFailure(Napi::Env env, const Status& status, const std::string& path,
                         const std::string& file_system);
Napi::Object FromRelease(Napi::Env env, const HoldResult& result, const std::string& path);
Napi::Object FromVerify(Napi::Env env, const HoldResult& result, const std::string& path);
Napi::Object FromRemove(Napi::Env env, RemoveOutcome outcome, const Status& status,
                        const std::string& path);
const char* ProcessWord(ProcessState state);
Napi::Object FromLook(Napi::Env env, const Look& look);
Napi::Object FromBreak(Napi::Env env, const BreakResult& result);

}  // namespace bucketlock

#endif  // BUCKETLOCK_MARSHAL_H_
