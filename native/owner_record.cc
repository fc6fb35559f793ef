#include "owner_record.h"

#include <map>

#include "flat_json.h"

namespace bucketlock {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kTokenDigits = 32;

using Members = std::map<std::string, JsonValue>;

// Digits only: no sign, no blank, no other base. 0 where it is no PID.
std::uint32_t ParsePid(std::string_view digits, std::uint32_t max_pid) {
  std::uint64_t pid = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return 0;
    pid = pid * 10 + static_cast<std::uint64_t>(c - '0');
    if (pid > max_pid) return 0;
  }
  return static_cast<std::uint32_t>(pid);
}

bool IsToken(const std::string& text) {
  return text.size() == kTokenDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

const JsonValue* Find(const Members& members, const char* key, JsonValue::Type type) {
  const auto found = members.find(key);
  return found == members.end() || found->second.type != type ? nullptr : &found->second;
}

bool TakeString(const Members& members, const char* key, std::string* out) {
  const JsonValue* const value = Find(members, key, JsonValue::Type::kString);
  if (value == nullptr) return false;
  *out = value->text;
  return true;
}

ParsedRecord ParseObject(std::string_view line, std::uint32_t pid) {
  ParsedRecord parsed;
  Members members;
  if (!ParseFlatJson(line, &members)) return parsed;
  parsed.owner.process.pid = pid;
  const auto version = members.find("v");
  if (version == members.end()) return parsed;
  if (version->second.type != JsonValue::Type::kInteger || version->second.integer != kVersion) {
    parsed.kind = RecordKind::kUnknownVersion;
    return parsed;
  }
  OwnerRecord& owner = parsed.owner;
  const JsonValue* const repeated = Find(members, "pid", JsonValue::Type::kInteger);
  const JsonValue* const guarded = Find(members, "guarded", JsonValue::Type::kBoolean);
  const JsonValue* const since = Find(members, "since", JsonValue::Type::kInteger);
  if (repeated == nullptr || repeated->integer != static_cast<std::int64_t>(pid) ||
      guarded == nullptr || since == nullptr || !TakeString(members, "token", &owner.token) ||
      !IsToken(owner.token) || !TakeString(members, "start", &owner.process.start) ||
      !TakeString(members, "boot", &owner.process.boot) ||
      !TakeString(members, "host", &owner.process.host) ||
      !TakeString(members, "fs", &owner.file_system)) {
    return parsed;
  }
  std::string label;
  if (TakeString(members, "label", &label)) {
    owner.label = std::move(label);
  } else if (members.count("label") != 0) {
    return parsed;
  }
  owner.guarded = guarded->boolean;
  owner.since_ms = since->integer;
  parsed.kind = RecordKind::kFull;
  return parsed;
}

}  // namespace

std::string WriteRecord(const OwnerRecord& owner, RecordFormat format) {
  const std::string pid = std::to_string(owner.process.pid);
  if (format == RecordFormat::kPidOnly) return pid + (owner.guarded ? " \n" : "\n");
  std::string out = pid + "\n{\"v\":" + std::to_string(kVersion);
  out += ",\"token\":" + QuoteJson(owner.token);
  out += ",\"pid\":" + pid;
  out += ",\"start\":" + QuoteJson(owner.process.start);
  out += ",\"boot\":" + QuoteJson(owner.process.boot);
  out += ",\"host\":" + QuoteJson(owner.process.host);
  out += ",\"fs\":" + QuoteJson(owner.file_system);
  out += std::string(",\"guarded\":") + (owner.guarded ? "true" : "false");
  if (owner.label.has_value()) out += ",\"label\":" + QuoteJson(*owner.label);
  out += ",\"since\":" + std::to_string(owner.since_ms) + "}\n";
  return out;
}

ParsedRecord ParseRecord(std::string_view bytes, std::uint32_t max_pid) {
  ParsedRecord malformed;
  if (bytes.empty() || bytes.size() > kMaxRecordBytes || bytes.back() != '\n') return malformed;
  const std::size_t first_end = bytes.find('\n');
  std::string_view first = bytes.substr(0, first_end);
  const std::string_view rest = bytes.substr(first_end + 1);
  if (!rest.empty()) {
    const std::uint32_t pid = ParsePid(first, max_pid);
    const std::string_view second = rest.substr(0, rest.size() - 1);
    if (pid == 0 || second.find('\n') != std::string_view::npos) return malformed;
    return ParseObject(second, pid);
  }
  ParsedRecord parsed;
  // The blank is ours. A carriage return is another system's line end, and says nothing.
  if (!first.empty() && first.back() == ' ') {
    parsed.owner.guarded = true;
    first.remove_suffix(1);
  } else if (!first.empty() && first.back() == '\r') {
    first.remove_suffix(1);
  }
  parsed.owner.process.pid = ParsePid(first, max_pid);
  if (parsed.owner.process.pid == 0) return malformed;
  parsed.kind = RecordKind::kPidOnly;
  return parsed;
}

}  // namespace bucketlock
