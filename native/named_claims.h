// The claims on named locks of one thread environment. All calls are made on its thread.

#ifndef BUCKETLOCK_NAMED_CLAIMS_H_
#define BUCKETLOCK_NAMED_CLAIMS_H_

#include <napi.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "named_lock.h"

namespace bucketlock {

class NamedClaims {
 public:
  // `hold_loop(true)` keeps the event loop alive until `hold_loop(false)`; calls are counted.
  NamedClaims(std::shared_ptr<NamedParty> party, std::function<void(bool)> hold_loop);

  // 0: busy, and `look` says why.
  ClaimId TryClaim(const std::u16string& name, std::optional<std::string> label, NamedLook* look);
  NamedLook Look(const std::u16string& name) const;

  // An asynchronous claim keeps the event loop alive until it is taken or dropped.
  ClaimId Claim(const std::u16string& name, std::optional<std::string> label, ClaimMode mode);
  // Resolves as soon as Take() is worth a try. One at a time.
  Napi::Value Granted(Napi::Env env, ClaimId id);
  bool Take(ClaimId id);
  // Blocks until there is something to take, `slice` at most, and takes it.
  bool WaitSlice(ClaimId id, std::chrono::milliseconds slice);
  std::optional<NamedHolder> Holder(ClaimId id) const;
  // Releases, or leaves the line. False: there is no such claim any more.
  bool Drop(Napi::Env env, ClaimId id);

  // Resolves what Granted() has promised. To be called after every call of the above that may hand
  // on a lock, which are all but the looks; and when the party is told.
  void Deliver(Napi::Env env);

  // Drops every claim, those that wait first: none is to be granted what another one holds.
  void DropAll();

 private:
  struct Entry {
    std::unique_ptr<NamedClaim> claim;
    std::optional<Napi::Promise::Deferred> promised;
    // It was granted while nothing was promised.
    bool granted = false;
    bool holds_loop = false;
  };

  ClaimId Add(std::unique_ptr<NamedClaim> claim, bool holds_loop);
  void LetLoopGo(Entry* entry);

  const std::shared_ptr<NamedParty> party_;
  const std::function<void(bool)> hold_loop_;
  std::unordered_map<ClaimId, Entry> entries_;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_NAMED_CLAIMS_H_
