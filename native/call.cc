#include "call.h"

#include <cstdint>

namespace bucketlock {

void AddCall(Napi::Object* exports, const char* name,
             Napi::Value (*call)(const Napi::CallbackInfo&)) {
  exports->Set(name, Napi::Function::New(exports->Env(), call, name));
}

void AddCall(Napi::Object* exports, const char* name, void (*call)(const Napi::CallbackInfo&)) {
  exports->Set(name, Napi::Function::New(exports->Env(), call, name));
}

double NumberAt(const Napi::CallbackInfo& info, std::size_t index) {
  return info[index].IsNumber() ? info[index].As<Napi::Number>().DoubleValue() : 0;
}

std::string StringAt(const Napi::CallbackInfo& info, std::size_t index) {
  return info[index].IsString() ? info[index].As<Napi::String>().Utf8Value() : std::string();
}

bool BooleanAt(const Napi::CallbackInfo& info, std::size_t index) {
  return info[index].IsBoolean() && info[index].As<Napi::Boolean>().Value();
}

std::chrono::milliseconds MillisecondsAt(const Napi::CallbackInfo& info, std::size_t index) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(NumberAt(info, index)));
}

}  // namespace bucketlock
