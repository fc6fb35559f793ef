// What the wait queue knows of a lock: how to try for it, and how to stand in line for it among the
// processes of this machine.

#ifndef BUCKETLOCK_CONTENDER_H_
#define BUCKETLOCK_CONTENDER_H_

#include <cstdint>
#include <memory>

namespace bucketlock {

// This process's place in the line for one lock. The requests of the process use it one after the
// other.
class Place {
 public:
  virtual ~Place() = default;

  // Blocks until an attempt may succeed; may return early. False: nothing here tells, so attempts
  // have to be repeated instead.
  virtual bool Block() = 0;

  // Gives the place up. By the thread that calls Block().
  virtual void Leave() = 0;

  // From any thread: nobody needs the place now. What can be given up at once is, and a Block()
  // under way is ended where the system can end it.
  virtual void Abandon() = 0;

  // By the thread that calls Block(), at the head: nobody stood behind us a moment ago, as far as
  // that can be seen cheaply.
  virtual bool IsLast() const = 0;

  // From any thread: changes whenever somebody acquires or releases, as far as that can be seen
  // cheaply.
  virtual std::uint64_t SignsOfLife() = 0;
};

// What the requests of one line learn for those behind them.
struct LineMemory {
  // What the lock belongs to was there; if it is missing, it has disappeared.
  bool was_there = false;
};

// One request for one lock. The queue calls it from one thread at a time.
class Contender {
 public:
  enum class Outcome {
    // Ours. The contender owns the lock until it is taken from it; its destructor releases.
    kGranted,
    // Held: the place's Block() tells when to try again.
    kBusy,
    // Held, and only another attempt will tell for how long.
    kBusyUntold,
    // For a reason that waiting does not cure.
    kFailed,
  };

  virtual ~Contender() = default;

  // Null where there is no line of processes.
  virtual std::shared_ptr<Place> TakePlace() = 0;

  // Never waits for a holder. The contender keeps what it found. `place`: that of the caller, who
  // will block in it next if the lock is busy; null for an attempt out of turn.
  virtual Outcome Attempt(Place* place, LineMemory* memory) = 0;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_CONTENDER_H_
