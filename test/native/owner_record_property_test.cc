// Arbitrary bytes, and damaged records: the parser survives all of them, and no PID comes out that
// does not stand in the first line.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "owner_record.h"

namespace bucketlock {
namespace {

constexpr std::uint32_t kMaxPids[] = {2147483647u, 4294967295u};

// What matters to the parser, so that damage hits where it hurts.
constexpr std::string_view kFragments[] = {
    "\n",
    "\r\n",
    " ",
    "\t",
    "0",
    "-",
    "+",
    "4242",
    "2147483647",
    "2147483648",
    "4294967296",
    "1e9",
    "\"",
    "\\",
    "\\u0000",
    "\\ud83d",
    "\\udc00",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"pid\":",
    "\"v\":",
    "\"v\":2",
    "\"token\":",
    "true",
    "false",
    "null",
    "\xd9\xa1",
    "\xef\xbc\x91",
    "\xff",
    "\x7f",
    "\"guarded\":false",
    "9223372036854775808",
    "0.5",
    "\xef\xbb\xbf",
    "[[[[[[[[[[[[[[[[[[",
    "{\"a\":{\"b\":",
};

class Source {
 public:
  explicit Source(std::uint32_t seed) : engine_(seed) {}

  // In [0, limit): the same on every system, which the standard's distributions are not.
  std::size_t Below(std::size_t limit) { return engine_() % limit; }

  std::string Bytes(std::size_t length) {
    std::string bytes(length, '\0');
    for (char& byte : bytes) byte = static_cast<char>(engine_() & 0xff);
    return bytes;
  }

  std::string Fragment() {
    if (Below(16) == 0) return std::string(1, '\0');
    return std::string(kFragments[Below(sizeof(kFragments) / sizeof(kFragments[0]))]);
  }

  std::string Record() {
    OwnerRecord owner;
    owner.process.pid = static_cast<std::uint32_t>(engine_());
    if (Below(2) == 0) owner.process.pid &= 0x7fff;
    owner.process.start = std::to_string(engine_()) + ":" + std::to_string(engine_());
    owner.process.boot = "boot";
    owner.process.host = Below(4) == 0 ? Bytes(Below(8)) : "host";
    for (int i = 0; i < 32; ++i) owner.token.push_back("0123456789abcdef"[Below(16)]);
    owner.file_system = "ext";
    owner.guarded = Below(2) == 0;
    if (Below(2) == 0) owner.label = Bytes(Below(24));
    owner.since_ms = static_cast<std::int64_t>(engine_());
    return WriteRecord(owner, Below(3) == 0 ? RecordFormat::kPidOnly : RecordFormat::kFull);
  }

  void Damage(std::string* bytes) {
    const std::size_t at = Below(bytes->size() + 1);
    const std::size_t length = Below(bytes->size() - at + 1);
    switch (Below(8)) {
      case 0:
        if (at < bytes->size()) (*bytes)[at] = static_cast<char>(engine_() & 0xff);
        break;
      case 1:
        if (at < bytes->size()) (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << Below(8)));
        break;
      case 2:
        bytes->insert(at, Fragment());
        break;
      case 3:
        bytes->replace(at, Below(4) < length ? 1 : length, Fragment());
        break;
      case 4:
        bytes->erase(at, 1 + Below(4));
        break;
      case 5:
        bytes->resize(at);
        break;
      case 6:
        bytes->insert(Below(bytes->size() + 1), bytes->substr(at, length));
        break;
      default:
        // Into the first line, where the PID stands.
        bytes->insert(Below(bytes->find('\n') == std::string::npos ? bytes->size() + 1
                                                                   : bytes->find('\n') + 1),
                      Fragment());
        break;
    }
  }

 private:
  std::mt19937 engine_;
};

std::string Hex(std::string_view bytes) {
  std::ostringstream out;
  out << std::hex << std::setfill('0');
  for (const char byte : bytes) out << std::setw(2) << (static_cast<unsigned>(byte) & 0xff);
  return out.str();
}

// An own reading of the rules, slow and plain.
std::string FirstLine(std::string_view bytes) {
  return std::string(bytes.substr(0, bytes.find('\n')));
}

void ExpectHonest(std::string_view bytes, std::uint32_t max_pid, const ParsedRecord& parsed) {
  const OwnerRecord& owner = parsed.owner;
  if (parsed.kind == RecordKind::kMalformed) return;
  ASSERT_FALSE(bytes.empty());
  ASSERT_LE(bytes.size(), kMaxRecordBytes);
  ASSERT_EQ(bytes.back(), '\n');
  std::string digits = FirstLine(bytes);
  if (parsed.kind == RecordKind::kPidOnly) {
    ASSERT_EQ(bytes.size(), digits.size() + 1) << "one line alone";
    ASSERT_EQ(owner.guarded, digits.back() == ' ');
    if (digits.back() == ' ' || digits.back() == '\r') digits.pop_back();
  } else {
    const std::string_view rest = bytes.substr(digits.size() + 1);
    ASSERT_EQ(rest.find('\n'), rest.size() - 1) << "two lines";
    ASSERT_EQ(rest.front(), '{');
    ASSERT_EQ(rest[rest.size() - 2], '}');
  }
  ASSERT_EQ(digits.find_first_not_of("0123456789"), std::string::npos);
  const std::size_t first = digits.find_first_not_of('0');
  ASSERT_NE(first, std::string::npos);
  ASSERT_EQ(digits.substr(first), std::to_string(owner.process.pid));
  ASSERT_GE(owner.process.pid, 1u);
  ASSERT_LE(owner.process.pid, max_pid);
  if (parsed.kind != RecordKind::kFull) return;
  ASSERT_EQ(owner.token.size(), 32u);
  ASSERT_EQ(owner.token.find_first_not_of("0123456789abcdef"), std::string::npos);
}

// A second reading of what was read: it is written and read back the same.
void ExpectStable(std::uint32_t max_pid, const ParsedRecord& parsed) {
  if (parsed.kind != RecordKind::kFull && parsed.kind != RecordKind::kPidOnly) return;
  const bool full = parsed.kind == RecordKind::kFull;
  const std::string again =
      WriteRecord(parsed.owner, full ? RecordFormat::kFull : RecordFormat::kPidOnly);
  if (again.size() > kMaxRecordBytes) return;
  const ParsedRecord second = ParseRecord(again, max_pid);
  ASSERT_EQ(second.kind, parsed.kind);
  ASSERT_EQ(second.owner.process.pid, parsed.owner.process.pid);
  ASSERT_EQ(second.owner.token, parsed.owner.token);
  ASSERT_EQ(second.owner.guarded, parsed.owner.guarded);
  ASSERT_EQ(second.owner.label, parsed.owner.label);
  ASSERT_EQ(second.owner.process.host, parsed.owner.process.host);
  ASSERT_EQ(second.owner.since_ms, parsed.owner.since_ms);
}

class ParserProperty : public testing::Test {
 protected:
  void Check(const std::string& bytes) {
    // Of the exact size on the heap, without a terminator: reading one byte too far is caught.
    const std::vector<char> heap(bytes.begin(), bytes.end());
    const std::string_view exact(heap.data(), heap.size());
    const std::uint32_t max_pid = kMaxPids[inputs_ % 2];
    const ParsedRecord parsed = ParseRecord(exact, max_pid);
    ++inputs_;
    ++kinds_[parsed.kind];
    ExpectHonest(exact, max_pid, parsed);
    ExpectStable(max_pid, parsed);
    if (HasFatalFailure()) FAIL() << "input: " << Hex(exact);
  }

  std::size_t inputs_ = 0;
  std::map<RecordKind, int> kinds_;
};

TEST_F(ParserProperty, ArbitraryBytesYieldNoPidThatIsNotWrittenThere) {
  Source source(20240607);
  while (inputs_ < 60000 && !HasFatalFailure()) Check(source.Bytes(source.Below(64)));
  for (int i = 0; i < 200 && !HasFatalFailure(); ++i) {
    Check(source.Bytes(kMaxRecordBytes - 2 + source.Below(4)) + "\n");
  }
}

TEST_F(ParserProperty, FragmentsOfRecordsYieldNoPidThatIsNotWrittenThere) {
  Source source(1);
  while (inputs_ < 60000 && !HasFatalFailure()) {
    std::string bytes;
    const std::size_t pieces = source.Below(12);
    for (std::size_t piece = 0; piece < pieces; ++piece) bytes += source.Fragment();
    if (source.Below(2) == 0) bytes += '\n';
    Check(bytes);
  }
  EXPECT_GT(kinds_[RecordKind::kPidOnly], 100);
}

TEST_F(ParserProperty, DamagedRecordsYieldNoPidThatIsNotWrittenThere) {
  Source source(4242);
  while (inputs_ < 120000 && !HasFatalFailure()) {
    std::string bytes = source.Record();
    const std::size_t wounds = source.Below(4);
    for (std::size_t wound = 0; wound < wounds; ++wound) source.Damage(&bytes);
    Check(bytes);
  }
  // The damage leaves enough of each kind for the claim to mean something.
  EXPECT_GT(kinds_[RecordKind::kFull], 5000);
  EXPECT_GT(kinds_[RecordKind::kPidOnly], 5000);
  EXPECT_GT(kinds_[RecordKind::kMalformed], 5000);
  EXPECT_GT(kinds_[RecordKind::kUnknownVersion], 10);
}

}  // namespace
}  // namespace bucketlock
