#include "named_calls.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "call.h"
#include "environment.h"
#include "named_claims.h"
#include "named_lock.h"
#include "platform/process.h"

namespace bucketlock {
namespace {

NamedClaims& ClaimsOf(const Napi::CallbackInfo& info) {
  return Environment::Of(info.Env()).named_claims();
}

// As it is, whatever is in it: UTF-8 would make one name of two with lone surrogates.
std::u16string NameAt(const Napi::CallbackInfo& info, std::size_t index) {
  return info[index].IsString() ? info[index].As<Napi::String>().Utf16Value() : std::u16string();
}

std::optional<std::string> LabelAt(const Napi::CallbackInfo& info, std::size_t index) {
  if (!info[index].IsString()) return std::nullopt;
  return info[index].As<Napi::String>().Utf8Value();
}

ClaimId ClaimAt(const Napi::CallbackInfo& info, std::size_t index) {
  return static_cast<ClaimId>(NumberAt(info, index));
}

Napi::Value FromClaim(Napi::Env env, ClaimId claim) {
  return Napi::Number::New(env, static_cast<double>(claim));
}

Napi::Value FromHolder(Napi::Env env, const std::optional<NamedHolder>& holder) {
  if (!holder.has_value()) return env.Undefined();
  Napi::Object object = Napi::Object::New(env);
  object.Set("claim", FromClaim(env, holder->claim));
  object.Set("sinceMs", Napi::Number::New(env, static_cast<double>(holder->since_ms)));
  if (holder->label.has_value()) object.Set("label", *holder->label);
  return object;
}

Napi::Value Attempt(const Napi::CallbackInfo& info) {
  NamedLook look;
  const ClaimId claim = ClaimsOf(info).TryClaim(NameAt(info, 0), LabelAt(info, 1), &look);
  if (claim != 0) return FromClaim(info.Env(), claim);
  Napi::Object busy = Napi::Object::New(info.Env());
  busy.Set("holder", FromHolder(info.Env(), look.holder));
  busy.Set("own", Napi::Boolean::New(info.Env(), look.own));
  return busy;
}

Napi::Value Wait(const Napi::CallbackInfo& info) {
  NamedClaims& claims = ClaimsOf(info);
  const ClaimId claim = claims.Claim(NameAt(info, 0), LabelAt(info, 1), ClaimMode::kAsync);
  claims.Deliver(info.Env());
  return FromClaim(info.Env(), claim);
}

Napi::Value WaitSync(const Napi::CallbackInfo& info) {
  NamedClaims& claims = ClaimsOf(info);
  const ClaimId claim = claims.Claim(NameAt(info, 0), LabelAt(info, 1), ClaimMode::kSync);
  claims.Deliver(info.Env());
  return FromClaim(info.Env(), claim);
}

Napi::Value Granted(const Napi::CallbackInfo& info) {
  return ClaimsOf(info).Granted(info.Env(), ClaimAt(info, 0));
}

Napi::Value Take(const Napi::CallbackInfo& info) {
  NamedClaims& claims = ClaimsOf(info);
  const bool taken = claims.Take(ClaimAt(info, 0));
  claims.Deliver(info.Env());
  return Napi::Boolean::New(info.Env(), taken);
}

Napi::Value Slice(const Napi::CallbackInfo& info) {
  NamedClaims& claims = ClaimsOf(info);
  const bool taken = claims.WaitSlice(ClaimAt(info, 0), MillisecondsAt(info, 1));
  claims.Deliver(info.Env());
  return Napi::Boolean::New(info.Env(), taken);
}

Napi::Value Holder(const Napi::CallbackInfo& info) {
  return FromHolder(info.Env(), ClaimsOf(info).Holder(ClaimAt(info, 0)));
}

Napi::Value Release(const Napi::CallbackInfo& info) {
  NamedClaims& claims = ClaimsOf(info);
  const bool dropped = claims.Drop(info.Env(), ClaimAt(info, 0));
  claims.Deliver(info.Env());
  return Napi::Boolean::New(info.Env(), dropped);
}

Napi::Value Inspect(const Napi::CallbackInfo& info) {
  return FromHolder(info.Env(), ClaimsOf(info).Look(NameAt(info, 0)).holder);
}

// Half a token: 64 random bits in hexadecimal, the same in all threads. Claims are counted in the
// whole process, so that the number of one makes a whole.
std::string MakeTokenPrefix() {
  std::uint64_t bits = 0;
  // Without randomness the PID still tells the processes of a machine apart.
  if (!FillRandom(&bits, sizeof(bits)).ok()) bits = CurrentPid();
  char hex[17];
  std::snprintf(hex, sizeof(hex), "%016" PRIx64, bits);
  return hex;
}

const std::string& TokenPrefix() {
  static const std::string* const prefix = new std::string(MakeTokenPrefix());
  return *prefix;
}

}  // namespace

void AddNamedCalls(Napi::Object* exports) {
  AddCall(exports, "namedAttempt", Attempt);
  AddCall(exports, "namedWait", Wait);
  AddCall(exports, "namedWaitSync", WaitSync);
  AddCall(exports, "namedGranted", Granted);
  AddCall(exports, "namedTake", Take);
  AddCall(exports, "namedWaitSlice", Slice);
  AddCall(exports, "namedHolder", Holder);
  AddCall(exports, "namedRelease", Release);
  AddCall(exports, "namedInspect", Inspect);
  exports->Set("namedTokenPrefix", TokenPrefix());
}

}  // namespace bucketlock
