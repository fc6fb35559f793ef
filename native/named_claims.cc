#include "named_claims.h"

#include <iterator>
#include <utility>

namespace bucketlock {

NamedClaims::NamedClaims(std::shared_ptr<NamedParty> party, std::function<void(bool)> hold_loop)
    : party_(std::move(party)), hold_loop_(std::move(hold_loop)) {}

ClaimId NamedClaims::TryClaim(const std::u16string& name, std::optional<std::string> label,
                              NamedLook* look) {
  std::unique_ptr<NamedClaim> claim =
      NamedLocks::OfProcess().TryClaim(name, std::move(label), party_, look);
  return claim == nullptr ? 0 : Add(std::move(claim), /*holds_loop=*/false);
}

NamedLook NamedClaims::Look(const std::u16string& name) const {
  return NamedLocks::OfProcess().Look(name, *party_);
}

ClaimId NamedClaims::Claim(const std::u16string& name, std::optional<std::string> label,
                           ClaimMode mode) {
  return Add(NamedLocks::OfProcess().Claim(name, std::move(label), party_, mode),
             /*holds_loop=*/mode == ClaimMode::kAsync);
}

Napi::Value NamedClaims::Granted(Napi::Env env, ClaimId id) {
  const Napi::Promise::Deferred promised = Napi::Promise::Deferred::New(env);
  const auto found = entries_.find(id);
  if (found == entries_.end() || std::exchange(found->second.granted, false)) {
    promised.Resolve(env.Undefined());
  } else {
    found->second.promised = promised;
  }
  return promised.Promise();
}

bool NamedClaims::Take(ClaimId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || !found->second.claim->Take()) return false;
  LetLoopGo(&found->second);
  return true;
}

bool NamedClaims::WaitSlice(ClaimId id, std::chrono::milliseconds slice) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  NamedClaim* const claim = found->second.claim.get();
  return claim->WaitFor(slice) && claim->Take();
}

std::optional<NamedHolder> NamedClaims::Holder(ClaimId id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? std::nullopt : found->second.claim->Holder();
}

bool NamedClaims::Drop(Napi::Env env, ClaimId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  LetLoopGo(&found->second);
  // A promise that is never settled would be kept for ever.
  if (found->second.promised.has_value()) found->second.promised->Resolve(env.Undefined());
  entries_.erase(found);
  return true;
}

void NamedClaims::Deliver(Napi::Env env) {
  for (const ClaimId id : party_->FetchGranted()) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) continue;
    Entry& entry = found->second;
    if (entry.promised.has_value()) {
      entry.promised->Resolve(env.Undefined());
      entry.promised.reset();
    } else {
      entry.granted = true;
    }
  }
}

void NamedClaims::DropAll() {
  for (auto at = entries_.begin(); at != entries_.end();) {
    LetLoopGo(&at->second);
    at = at->second.claim->Take() ? std::next(at) : entries_.erase(at);
  }
  entries_.clear();
}

ClaimId NamedClaims::Add(std::unique_ptr<NamedClaim> claim, bool holds_loop) {
  const ClaimId id = claim->id();
  Entry& entry = entries_[id];
  entry.claim = std::move(claim);
  entry.holds_loop = holds_loop;
  if (holds_loop) hold_loop_(true);
  return id;
}

void NamedClaims::LetLoopGo(Entry* entry) {
  if (std::exchange(entry->holds_loop, false)) hold_loop_(false);
}

}  // namespace bucketlock
