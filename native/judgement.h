// The judgement table: from what is seen of a lockfile to "held" or "dead".
//
// A pure function, so that every row can be tested. The rule above all rows: proof of death, or it
// is held.

#ifndef BUCKETLOCK_JUDGEMENT_H_
#define BUCKETLOCK_JUDGEMENT_H_

#include <string_view>

#include "owner_record.h"
#include "platform/process.h"

namespace bucketlock {

enum class Verdict { kHeld, kDead };

enum class Evidence {
  kGuard,
  kGuardFree,
  kProcessAlive,
  kProcessGone,
  kUnstamped,
  kForeign,
  kUnknown,
};

struct LockfileFacts {
  // False: it could not be opened or read, and nothing below is known.
  bool readable = false;
  // Somebody else has the kernel lock on it.
  bool guard_held = false;
  RecordKind kind = RecordKind::kMalformed;
  bool guarded = false;
  // The file system as the holder recorded it, and as we see it.
  std::string_view recorded_file_system;
  std::string_view seen_file_system;
  // The user vouches for the kernel locks of this file system.
  bool trusted = false;
  ProcessState process = ProcessState::kUnknown;
  // A malformed record: two seconds old, or watched unchanged for that long.
  bool aged = false;
};

struct Judgement {
  Verdict verdict = Verdict::kHeld;
  Evidence evidence = Evidence::kUnknown;
};

Judgement Judge(const LockfileFacts& facts);

// True for local file systems whose kernel locks exclude every process that can reach the file.
bool IsAllowListed(std::string_view file_system);

// True if a holder on this file system may promise `guarded` in that format. A PID-only record has
// no room for the file system's name, so it cannot promise anything on an overlay.
bool CanPromiseGuard(std::string_view file_system, RecordFormat format);

}  // namespace bucketlock

#endif  // BUCKETLOCK_JUDGEMENT_H_
