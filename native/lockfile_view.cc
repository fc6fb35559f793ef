#include "lockfile_view.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "held_lockfile.h"
#include "owner_record.h"
#include "platform/process.h"

namespace bucketlock {
namespace {

// FNV-1a, 64 bits: tells contents apart, protects from nobody.
std::uint64_t DigestOf(std::string_view bytes) {
  std::uint64_t digest = 0xcbf29ce484222325u;
  for (const char c : bytes) {
    digest ^= static_cast<unsigned char>(c);
    digest *= 0x100000001b3u;
  }
  return digest;
}

std::string Hex(std::uint64_t value) {
  char text[17];
  static_cast<void>(
      std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value)));
  return text;
}

// Names a record that carries no token: its bytes, its file, and when that was last changed.
std::string DerivedToken(std::string_view bytes, const FileIdentity& identity,
                         const FileTimes& times) {
  const std::string_view file(reinterpret_cast<const char*>(identity.file.data()),
                              identity.file.size());
  return "raw-" + Hex(DigestOf(bytes)) + Hex(DigestOf(file) ^ identity.volume) +
         Hex(static_cast<std::uint64_t>(times.changed_ns));
}

bool IsThisProcess(const ProcessIdentity& recorded, RecordKind kind) {
  const ProcessIdentity self = CurrentProcess();
  if (recorded.pid != self.pid) return false;
  return kind == RecordKind::kPidOnly ||
         (recorded.start == self.start && recorded.boot == self.boot);
}

std::int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void TellOwner(const ParsedRecord& parsed, const FileTimes& times, LockReport* report) {
  const OwnerRecord& owner = parsed.owner;
  report->pid = owner.process.pid;
  report->this_process = IsThisProcess(owner.process, parsed.kind);
  if (parsed.kind == RecordKind::kPidOnly) {
    constexpr std::int64_t kNanosecondsPerMs = 1000000;
    report->since_ms = times.modified_ns / kNanosecondsPerMs;
    return;
  }
  report->token = owner.token;
  report->since_ms = owner.since_ms;
  report->label = owner.label;
  report->host = owner.process.host;
}

}  // namespace

LockReport UnreadableReport() {
  LockReport report;
  report.state = LockState::kHeld;
  report.evidence = Judge(LockfileFacts()).evidence;
  return report;
}

LockfileView ViewLockfile(const Handle& file, bool guard_held, bool trusted) {
  LockfileView view;
  std::string bytes;
  FileIdentity identity;
  FileTimes times;
  std::string file_system;
  Status status = ReadPrefix(file, kMaxRecordBytes + 1, &bytes);
  if (status.ok()) status = IdentityOf(file, &identity);
  if (status.ok()) status = TimesOf(file, &times);
  if (status.ok()) status = FileSystemOf(file, &file_system);
  if (!status.ok()) {
    view.vanished = status.code == StatusCode::kVanished;
    view.report = UnreadableReport();
    return view;
  }
  const ParsedRecord parsed = ParseRecord(bytes, MaxPid());
  view.malformed = parsed.kind == RecordKind::kMalformed;
  view.report.token = DerivedToken(bytes, identity, times);
  view.report.file_system = file_system;
  if (parsed.kind == RecordKind::kFull || parsed.kind == RecordKind::kPidOnly) {
    // A full record without a start time comes from a holder that could not see itself in /proc:
    // its PID may be one of another namespace.
    const bool unseen = parsed.kind == RecordKind::kFull && parsed.owner.process.start.empty();
    view.report.process = unseen ? ProcessState::kUnknown : ProbeProcess(parsed.owner.process);
    view.owner_lives =
        parsed.kind == RecordKind::kFull && view.report.process == ProcessState::kAlive;
    TellOwner(parsed, times, &view.report);
  }
  view.owner_may_live = parsed.kind == RecordKind::kUnknownVersion ||
                        view.report.process == ProcessState::kAlive ||
                        (view.report.process == ProcessState::kUnknown && !view.malformed);

  const std::int64_t age_ns = NowNs() - times.modified_ns;
  view.dated_in_future = age_ns < 0;

  LockfileFacts facts;
  facts.readable = true;
  facts.guard_held = guard_held;
  facts.kind = parsed.kind;
  facts.guarded = parsed.owner.guarded;
  facts.recorded_file_system = parsed.owner.file_system;
  facts.seen_file_system = file_system;
  facts.trusted = trusted;
  facts.process = view.report.process;
  facts.aged = age_ns >= std::chrono::nanoseconds(kUnstampedGrace).count();
  view.judgement = Judge(facts);
  view.report.state =
      view.judgement.verdict == Verdict::kDead ? LockState::kStale : LockState::kHeld;
  view.report.evidence = view.judgement.evidence;
  return view;
}

SameOutcome SameFile(const Handle& directory, const std::string& name, const Handle& file,
                     Status* status) {
  FileIdentity opened;
  *status = IdentityOf(file, &opened);
  if (status->code == StatusCode::kVanished) return SameOutcome::kDifferent;
  if (!status->ok()) return SameOutcome::kFailed;
  FileIdentity named;
  switch (IdentityOfName(directory, name, &named, status)) {
    case NameOutcome::kFound:
      return named == opened ? SameOutcome::kSame : SameOutcome::kDifferent;
    case NameOutcome::kAbsent:
      return SameOutcome::kDifferent;
    case NameOutcome::kFailed:
      break;
  }
  return SameOutcome::kFailed;
}

std::string LockfilePath(const std::string& directory) {
  constexpr auto kSeparator = static_cast<char>(std::filesystem::path::preferred_separator);
  return directory + kSeparator + kLockfileName;
}

}  // namespace bucketlock
