// What the faces of the addon share: how a call is added to it, and how its arguments are read.

#ifndef BUCKETLOCK_CALL_H_
#define BUCKETLOCK_CALL_H_

#include <napi.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace bucketlock {

void AddCall(Napi::Object* exports, const char* name,
             Napi::Value (*call)(const Napi::CallbackInfo&));
void AddCall(Napi::Object* exports, const char* name, void (*call)(const Napi::CallbackInfo&));

// The arguments come checked: one of another type is a mistake of our own, and is read as nothing.
double NumberAt(const Napi::CallbackInfo& info, std::size_t index);
std::string StringAt(const Napi::CallbackInfo& info, std::size_t index);
bool BooleanAt(const Napi::CallbackInfo& info, std::size_t index);
std::chrono::milliseconds MillisecondsAt(const Napi::CallbackInfo& info, std::size_t index);

}  // namespace bucketlock

#endif  // BUCKETLOCK_CALL_H_
