#include "judgement.h"

namespace bucketlock {
namespace {

constexpr std::string_view kOverlay = "overlay";

// Local types only, each with one table of locks for a file. A stacked one (ecryptfs, FUSE) shows
// files of another file system under a second table; network ones ask a server, or nobody.
constexpr std::string_view kAllowList[] = {
    "ext", "xfs",    "btrfs", "f2fs",     "zfs",  "bcachefs", "tmpfs", "ramfs", kOverlay,
    "jfs", "nilfs2", "fat",   "reiserfs", "apfs", "hfs",      "ntfs",  "refs",  "exfat",
};

// Overlay shows files of another local type under locks of its own, so there it matches itself
// alone.
bool SameLockTable(const LockfileFacts& facts) {
  if (!IsAllowListed(facts.seen_file_system)) return false;
  const bool seen_overlay = facts.seen_file_system == kOverlay;
  if (facts.kind == RecordKind::kPidOnly) return !seen_overlay;
  return IsAllowListed(facts.recorded_file_system) &&
         seen_overlay == (facts.recorded_file_system == kOverlay);
}

bool GuardDecides(const LockfileFacts& facts) {
  if (facts.kind != RecordKind::kFull && facts.kind != RecordKind::kPidOnly) return false;
  // Whoever writes a full record holds a guard, promised or not: trust makes it count.
  if (facts.trusted && facts.kind == RecordKind::kFull) return true;
  return facts.guarded && (facts.trusted || SameLockTable(facts));
}

bool Foreign(const LockfileFacts& facts) {
  if (facts.trusted) return false;
  if (!IsAllowListed(facts.seen_file_system)) return true;
  return facts.kind == RecordKind::kFull && !SameLockTable(facts);
}

}  // namespace

Judgement Judge(const LockfileFacts& facts) {
  if (!facts.readable) return {Verdict::kHeld, Evidence::kUnknown};
  if (facts.guard_held) return {Verdict::kHeld, Evidence::kGuard};
  if (GuardDecides(facts)) return {Verdict::kDead, Evidence::kGuardFree};
  if (Foreign(facts)) return {Verdict::kHeld, Evidence::kForeign};
  switch (facts.kind) {
    case RecordKind::kPidOnly:
      if (facts.process == ProcessState::kGone) return {Verdict::kDead, Evidence::kProcessGone};
      if (facts.process == ProcessState::kAlive) return {Verdict::kHeld, Evidence::kProcessAlive};
      return {Verdict::kHeld, Evidence::kUnknown};
    case RecordKind::kMalformed:
      return {facts.aged ? Verdict::kDead : Verdict::kHeld, Evidence::kUnstamped};
    case RecordKind::kFull:
    case RecordKind::kUnknownVersion:
      break;
  }
  return {Verdict::kHeld, Evidence::kUnknown};
}

bool IsAllowListed(std::string_view file_system) {
  for (const std::string_view allowed : kAllowList) {
    if (allowed == file_system) return true;
  }
  return false;
}

bool CanPromiseGuard(std::string_view file_system, RecordFormat format) {
  if (!IsAllowListed(file_system)) return false;
  return format == RecordFormat::kFull || file_system != kOverlay;
}

}  // namespace bucketlock
