#include "named_lock.h"

#include <cstddef>
#include <utility>

#include "clock.h"

namespace bucketlock {

// Environments of one thread block together: a package may be loaded in it more than once.
struct NamedThread {
  std::size_t parties = 0;
  std::size_t sync_claims = 0;
  // A synchronous claim of the thread's was granted.
  std::condition_variable changed;
  // Asynchronous claims that are granted and not taken.
  std::list<NamedClaim*> untaken;
  // Lines with a claim of ours in them that have become free while all in them are passed over.
  std::unordered_set<NamedLine*> stalled;
};

struct NamedLine {
  // The key that the line is found by.
  const std::u16string* name = nullptr;
  NamedClaim* holder = nullptr;
  // In order of arrival: by thread the asynchronous ones, under null the synchronous ones of all
  // threads. None of the lists is empty.
  std::unordered_map<NamedThread*, std::list<NamedClaim*>> waiting;
};

class NamedLocks::Wakes {
 public:
  explicit Wakes(const NamedParty* caller) : caller_(caller) {}
  ~Wakes() {
    for (const std::shared_ptr<NamedParty>& party : parties_) party->Granted();
  }

  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;

  void Add(const std::shared_ptr<NamedParty>& party) {
    if (party.get() != caller_) parties_.push_back(party);
  }

 private:
  const NamedParty* const caller_;
  std::vector<std::shared_ptr<NamedParty>> parties_;
};

NamedParty::NamedParty() : thread_id_(std::this_thread::get_id()) {
  NamedLocks::OfProcess().Join(this);
}

NamedParty::~NamedParty() { NamedLocks::OfProcess().Part(this); }

std::vector<ClaimId> NamedParty::FetchGranted() {
  const std::lock_guard<std::mutex> lock(NamedLocks::OfProcess().mutex_);
  return std::exchange(granted_, {});
}

NamedClaim::NamedClaim(ClaimId id, std::optional<std::string> label,
                       std::shared_ptr<NamedParty> party, ClaimMode mode)
    : id_(id), label_(std::move(label)), party_(std::move(party)), mode_(mode) {}

NamedClaim::~NamedClaim() {
  NamedLocks& locks = NamedLocks::OfProcess();
  // Before the guard, so that it tells the others after the guard has let go.
  NamedLocks::Wakes wakes(party_.get());
  const std::lock_guard<std::mutex> lock(locks.mutex_);
  locks.Drop(this, &wakes);
}

bool NamedClaim::Take() {
  NamedLocks& locks = NamedLocks::OfProcess();
  NamedLocks::Wakes wakes(party_.get());
  const std::lock_guard<std::mutex> lock(locks.mutex_);
  if (state_ == State::kGranted) {
    state_ = State::kTaken;
    if (mode_ == ClaimMode::kAsync) {
      party_->thread_->untaken.erase(place_);
    } else {
      locks.EndSync(party_->thread_, &wakes);
    }
  }
  return state_ == State::kTaken;
}

bool NamedClaim::WaitFor(std::chrono::milliseconds duration) {
  std::unique_lock<std::mutex> lock(NamedLocks::OfProcess().mutex_);
  return party_->thread_->changed.wait_for(lock, duration,
                                           [this] { return state_ != State::kWaiting; });
}

std::optional<NamedHolder> NamedClaim::Holder() const {
  const std::lock_guard<std::mutex> lock(NamedLocks::OfProcess().mutex_);
  return NamedLocks::LookAt(*line_, *party_).holder;
}

NamedLocks& NamedLocks::OfProcess() {
  static NamedLocks* const locks = new NamedLocks;
  return *locks;
}

std::unique_ptr<NamedClaim> NamedLocks::TryClaim(const std::u16string& name,
                                                 std::optional<std::string> label,
                                                 const std::shared_ptr<NamedParty>& party,
                                                 NamedLook* look) {
  const std::lock_guard<std::mutex> lock(mutex_);
  NamedLine* const line = LineOf(name);
  if (line->holder != nullptr) {
    *look = LookAt(*line, *party);
    return nullptr;
  }
  std::unique_ptr<NamedClaim> claim(
      new NamedClaim(++last_claim_, std::move(label), party, ClaimMode::kAsync));
  Grant(line, claim.get());
  claim->state_ = NamedClaim::State::kTaken;
  return claim;
}

std::unique_ptr<NamedClaim> NamedLocks::Claim(const std::u16string& name,
                                              std::optional<std::string> label,
                                              const std::shared_ptr<NamedParty>& party,
                                              ClaimMode mode) {
  Wakes wakes(party.get());
  const std::lock_guard<std::mutex> lock(mutex_);
  if (mode == ClaimMode::kSync) BeginSync(party->thread_, &wakes);
  std::unique_ptr<NamedClaim> claim(new NamedClaim(++last_claim_, std::move(label), party, mode));
  NamedLine* const line = LineOf(name);
  Wait(line, claim.get());
  if (line->holder == nullptr) GrantNext(line, &wakes);
  return claim;
}

NamedLook NamedLocks::Look(const std::u16string& name, const NamedParty& party) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = lines_.find(name);
  return found == lines_.end() ? NamedLook() : LookAt(*found->second, party);
}

std::size_t NamedLocks::size() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lines_.size();
}

void NamedLocks::Join(NamedParty* party) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<NamedThread>& thread = threads_[party->thread_id_];
  if (thread == nullptr) thread = std::make_unique<NamedThread>();
  ++thread->parties;
  party->thread_ = thread.get();
}

void NamedLocks::Part(NamedParty* party) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--party->thread_->parties == 0) threads_.erase(party->thread_id_);
}

NamedLine* NamedLocks::LineOf(const std::u16string& name) {
  const auto found = lines_.try_emplace(name).first;
  if (found->second == nullptr) {
    found->second = std::make_unique<NamedLine>();
    found->second->name = &found->first;
  }
  return found->second.get();
}

void NamedLocks::ForgetIfUnwanted(NamedLine* line) {
  if (line->holder == nullptr && line->waiting.empty()) lines_.erase(lines_.find(*line->name));
}

NamedLook NamedLocks::LookAt(const NamedLine& line, const NamedParty& party) {
  NamedLook look;
  look.own = line.waiting.count(party.thread_) != 0;
  if (line.holder == nullptr) return look;
  look.own = look.own || line.holder->party_->thread_ == party.thread_;
  look.holder.emplace();
  look.holder->claim = line.holder->id_;
  look.holder->since_ms = line.holder->since_ms_;
  look.holder->label = line.holder->label_;
  return look;
}

void NamedLocks::Grant(NamedLine* line, NamedClaim* claim) {
  line->holder = claim;
  claim->line_ = line;
  claim->state_ = NamedClaim::State::kGranted;
  claim->since_ms_ = NowMs();
}

void NamedLocks::GrantNext(NamedLine* line, Wakes* wakes) {
  NamedClaim* next = nullptr;
  for (const auto& [thread, claims] : line->waiting) {
    if (thread != nullptr && thread->sync_claims > 0) continue;
    if (next == nullptr || claims.front()->id_ < next->id_) next = claims.front();
  }
  if (next == nullptr) {
    for (const auto& [thread, claims] : line->waiting) thread->stalled.insert(line);
    ForgetIfUnwanted(line);
    return;
  }
  Unwait(next);
  Grant(line, next);
  NamedParty* const party = next->party_.get();
  NamedThread* const thread = party->thread_;
  if (next->mode_ == ClaimMode::kSync) {
    thread->changed.notify_all();
    return;
  }
  next->place_ = thread->untaken.insert(thread->untaken.end(), next);
  party->granted_.push_back(next->id_);
  if (party->granted_.size() == 1) wakes->Add(next->party_);
}

void NamedLocks::Wait(NamedLine* line, NamedClaim* claim) {
  const bool is_sync = claim->mode_ == ClaimMode::kSync;
  std::list<NamedClaim*>& claims = line->waiting[is_sync ? nullptr : claim->party_->thread_];
  claim->line_ = line;
  claim->state_ = NamedClaim::State::kWaiting;
  // At the end, unless it comes back to its place: then it is older than all the others.
  const bool is_back = !claims.empty() && claim->id_ < claims.front()->id_;
  claim->place_ = claims.insert(is_back ? claims.begin() : claims.end(), claim);
}

void NamedLocks::Unwait(NamedClaim* claim) {
  NamedLine* const line = claim->line_;
  const bool is_sync = claim->mode_ == ClaimMode::kSync;
  const auto found = line->waiting.find(is_sync ? nullptr : claim->party_->thread_);
  found->second.erase(claim->place_);
  if (!found->second.empty()) return;
  if (found->first != nullptr) found->first->stalled.erase(line);
  line->waiting.erase(found);
}

void NamedLocks::Drop(NamedClaim* claim, Wakes* wakes) {
  NamedLine* const line = claim->line_;
  NamedThread* const thread = claim->party_->thread_;
  const bool is_sync = claim->mode_ == ClaimMode::kSync;
  if (claim->state_ == NamedClaim::State::kWaiting) {
    Unwait(claim);
    ForgetIfUnwanted(line);
  } else {
    if (claim->state_ == NamedClaim::State::kGranted && !is_sync) {
      thread->untaken.erase(claim->place_);
    }
    line->holder = nullptr;
    GrantNext(line, wakes);
  }
  if (is_sync && claim->state_ != NamedClaim::State::kTaken) EndSync(thread, wakes);
}

void NamedLocks::BeginSync(NamedThread* thread, Wakes* wakes) {
  if (++thread->sync_claims > 1) return;
  for (NamedClaim* const claim : std::exchange(thread->untaken, {})) {
    NamedLine* const line = claim->line_;
    line->holder = nullptr;
    Wait(line, claim);
    GrantNext(line, wakes);
  }
}

void NamedLocks::EndSync(NamedThread* thread, Wakes* wakes) {
  if (--thread->sync_claims > 0) return;
  for (NamedLine* const line : std::exchange(thread->stalled, {})) {
    if (line->holder == nullptr) GrantNext(line, wakes);
  }
}

}  // namespace bucketlock
