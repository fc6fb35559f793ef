// Locks on names, for the threads of this process: first come, first served, whichever thread a
// claim comes from.
//
// A claim holds the lock on its name or waits for it; dropping the claim, for whatever reason,
// hands on the one and leaves the other. A lock is handed over to the next in line at once, and is
// never free while somebody waits who could take it.
//
// A thread in a synchronous wait can take nothing but what it waits for. Until that wait ends its
// asynchronous claims are passed over, and what they were granted but have not taken goes to the
// next; they keep their places.
//
// A call takes constant time, but for one step for each thread that waits for the same name. A name
// that is neither held nor waited for takes no memory.

#ifndef BUCKETLOCK_NAMED_LOCK_H_
#define BUCKETLOCK_NAMED_LOCK_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bucketlock {

// Never used twice, and ascending in order of arrival.
using ClaimId = std::uint64_t;

class NamedClaim;
class NamedLocks;
struct NamedLine;
struct NamedThread;

// A thread environment that makes claims. Made, and used, on its thread alone.
class NamedParty {
 public:
  NamedParty();
  virtual ~NamedParty();

  NamedParty(const NamedParty&) = delete;
  NamedParty& operator=(const NamedParty&) = delete;

  // There is something to fetch with FetchGranted(). Called from other threads, and not for what a
  // call of the party's own brings about. Must only pass the word on.
  virtual void Granted() = 0;

  // Its asynchronous claims that were granted since the last time. One may have been passed over
  // again, or dropped: Take() tells.
  std::vector<ClaimId> FetchGranted();

 private:
  friend class NamedClaim;
  friend class NamedLocks;

  const std::thread::id thread_id_;
  // The rest is guarded by the mutex of NamedLocks.
  NamedThread* thread_ = nullptr;
  std::vector<ClaimId> granted_;
};

enum class ClaimMode {
  kAsync,
  // The thread is about to block in WaitFor(), until the claim is taken or dropped.
  kSync,
};

struct NamedHolder {
  ClaimId claim = 0;
  // In milliseconds since 1970.
  std::int64_t since_ms = 0;
  std::optional<std::string> label;
};

// Used, and dropped, on its party's thread.
class NamedClaim {
 public:
  ~NamedClaim();

  NamedClaim(const NamedClaim&) = delete;
  NamedClaim& operator=(const NamedClaim&) = delete;

  ClaimId id() const { return id_; }

  // Whether it holds the lock. If so, it is passed over no more.
  bool Take();
  // Blocks until there is something to take, `duration` at most. For synchronous claims.
  bool WaitFor(std::chrono::milliseconds duration);
  // Who holds the lock on its name; nobody where all who wait for it are passed over.
  std::optional<NamedHolder> Holder() const;

 private:
  friend class NamedLocks;
  enum class State { kWaiting, kGranted, kTaken };

  NamedClaim(ClaimId id, std::optional<std::string> label, std::shared_ptr<NamedParty> party,
             ClaimMode mode);

  const ClaimId id_;
  const std::optional<std::string> label_;
  const std::shared_ptr<NamedParty> party_;
  const ClaimMode mode_;
  // The rest is guarded by the mutex of NamedLocks.
  State state_ = State::kWaiting;
  NamedLine* line_ = nullptr;
  // In the line while waiting; among what its thread has yet to take while granted.
  std::list<NamedClaim*>::iterator place_;
  std::int64_t since_ms_ = 0;
};

// What can be said of a name to one party.
struct NamedLook {
  std::optional<NamedHolder> holder;
  // The party's thread holds the lock, or has an asynchronous claim in the line.
  bool own = false;
};

class NamedLocks {
 public:
  // The process's own. Never destroyed: threads outlive what exit() destroys.
  static NamedLocks& OfProcess();

  // Takes the lock if it is to be had at once; else null, and `look` says why.
  std::unique_ptr<NamedClaim> TryClaim(const std::u16string& name, std::optional<std::string> label,
                                       const std::shared_ptr<NamedParty>& party, NamedLook* look);
  // Stands in line, and may be granted the lock at once.
  std::unique_ptr<NamedClaim> Claim(const std::u16string& name, std::optional<std::string> label,
                                    const std::shared_ptr<NamedParty>& party, ClaimMode mode);
  NamedLook Look(const std::u16string& name, const NamedParty& party);
  // How many names are held or waited for.
  std::size_t size();

 private:
  friend class NamedClaim;
  friend class NamedParty;
  // Parties to be told, once the mutex is free.
  class Wakes;

  NamedLocks() = default;

  void Join(NamedParty* party);
  void Part(NamedParty* party);
  NamedLine* LineOf(const std::u16string& name);
  void ForgetIfUnwanted(NamedLine* line);
  static NamedLook LookAt(const NamedLine& line, const NamedParty& party);
  void Grant(NamedLine* line, NamedClaim* claim);
  // Hands a free lock to the first in line that can take it, and forgets a line that is empty.
  void GrantNext(NamedLine* line, Wakes* wakes);
  void Wait(NamedLine* line, NamedClaim* claim);
  void Unwait(NamedClaim* claim);
  void Drop(NamedClaim* claim, Wakes* wakes);
  void BeginSync(NamedThread* thread, Wakes* wakes);
  void EndSync(NamedThread* thread, Wakes* wakes);

  std::mutex mutex_;
  ClaimId last_claim_ = 0;
  std::unordered_map<std::u16string, std::unique_ptr<NamedLine>> lines_;
  std::unordered_map<std::thread::id, std::unique_ptr<NamedThread>> threads_;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_NAMED_LOCK_H_
