// The record inside a lockfile: who holds the lock.
//
//   4242                                        the PID: `head -1 .lock` serves any script
//   {"v":1,"token":"…","pid":4242,…}            everything else, one JSON object
//
// or, in the PID-only format, the first line alone; a blank before its line break says `guarded`.
// A record is complete if its last line ends in a line break. docs/lockfile.md is the reference.

#ifndef BUCKETLOCK_OWNER_RECORD_H_
#define BUCKETLOCK_OWNER_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/process.h"

namespace bucketlock {

enum class RecordFormat { kFull, kPidOnly };

struct OwnerRecord {
  ProcessIdentity process;
  // 128 random bits in hexadecimal; empty in the PID-only format.
  std::string token;
  // The file system as the holder saw it.
  std::string file_system;
  // The holder keeps a kernel lock on the file that others can rely on.
  bool guarded = false;
  std::optional<std::string> label;
  std::int64_t since_ms = 0;
};

enum class RecordKind {
  kFull,
  kPidOnly,
  // Incomplete, or not a record at all.
  kMalformed,
  // Well-formed, of a version that we do not know: it cannot be judged.
  kUnknownVersion,
};

struct ParsedRecord {
  RecordKind kind = RecordKind::kMalformed;
  // Filled for kFull and kPidOnly; of kUnknownVersion only the PID.
  OwnerRecord owner;
};

// No record is longer. A longer file is read no further, and malformed.
constexpr std::size_t kMaxRecordBytes = 16384;

std::string WriteRecord(const OwnerRecord& owner, RecordFormat format);

// Strict: a PID comes out only if it stands there, in decimal digits, between 1 and `max_pid`.
ParsedRecord ParseRecord(std::string_view bytes, std::uint32_t max_pid);

}  // namespace bucketlock

#endif  // BUCKETLOCK_OWNER_RECORD_H_
