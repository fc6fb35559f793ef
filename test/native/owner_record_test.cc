#include "owner_record.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

namespace bucketlock {
namespace {

constexpr std::uint32_t kMaxPosixPid = 2147483647;
constexpr std::uint32_t kMaxWindowsPid = 4294967295;
constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

OwnerRecord Owner() {
  OwnerRecord owner;
  owner.process.pid = 4242;
  owner.process.start = "4026531836:815";
  owner.process.boot = "6f1a2b3c-0000-4000-8000-123456789abc";
  owner.process.host = "worker-7";
  owner.token = kToken;
  owner.file_system = "ext";
  owner.guarded = true;
  owner.label = "nightly backup";
  owner.since_ms = 1700000000123;
  return owner;
}

ParsedRecord Parse(std::string_view bytes) { return ParseRecord(bytes, kMaxPosixPid); }
RecordKind KindOf(std::string_view bytes) { return Parse(bytes).kind; }
std::string Full() { return WriteRecord(Owner(), RecordFormat::kFull); }

// The full record with `from` replaced, which must stand there once.
std::string With(const std::string& from, const std::string& to) {
  std::string record = Full();
  const std::size_t at = record.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return record.replace(at, from.size(), to);
}

// With another value for one member, and with a member more.
std::string WithMember(const std::string& key, const std::string& from, const std::string& to) {
  return With('"' + key + "\":" + from, '"' + key + "\":" + to);
}
std::string WithExtra(const std::string& member) {
  return With("\"since\"", member + ",\"since\"");
}

void ExpectSame(const OwnerRecord& read, const OwnerRecord& written) {
  EXPECT_EQ(read.process.pid, written.process.pid);
  EXPECT_EQ(read.process.start, written.process.start);
  EXPECT_EQ(read.process.boot, written.process.boot);
  EXPECT_EQ(read.process.host, written.process.host);
  EXPECT_EQ(read.token, written.token);
  EXPECT_EQ(read.file_system, written.file_system);
  EXPECT_EQ(read.guarded, written.guarded);
  EXPECT_EQ(read.label, written.label);
  EXPECT_EQ(read.since_ms, written.since_ms);
}

void ExpectPidOnly(std::string_view bytes, std::uint32_t pid, bool guarded) {
  const ParsedRecord parsed = Parse(bytes);
  EXPECT_EQ(parsed.kind, RecordKind::kPidOnly) << bytes;
  EXPECT_EQ(parsed.owner.process.pid, pid) << bytes;
  EXPECT_EQ(parsed.owner.guarded, guarded) << bytes;
  EXPECT_TRUE(parsed.owner.token.empty());
  EXPECT_TRUE(parsed.owner.process.start.empty());
}

void ExpectMalformed(std::initializer_list<const char*> records) {
  for (const char* const record : records) {
    EXPECT_EQ(KindOf(record), RecordKind::kMalformed) << record;
  }
}

TEST(OwnerRecord, AFullRecordIsReadBackAsItWasWritten) {
  const ParsedRecord parsed = Parse(Full());
  ASSERT_EQ(parsed.kind, RecordKind::kFull);
  ExpectSame(parsed.owner, Owner());
}

TEST(OwnerRecord, AFullRecordOfExtremesIsReadBackAsItWasWritten) {
  OwnerRecord owner = Owner();
  owner.process = ProcessIdentity();
  owner.process.pid = kMaxPosixPid;
  owner.file_system.clear();
  owner.guarded = false;
  for (const std::int64_t since :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    owner.since_ms = since;
    owner.label = std::string();
    ExpectSame(Parse(WriteRecord(owner, RecordFormat::kFull)).owner, owner);
    owner.label.reset();
    ExpectSame(Parse(WriteRecord(owner, RecordFormat::kFull)).owner, owner);
  }
}

TEST(OwnerRecord, FreeTextOfAnyBytesStaysWhereItBelongs) {
  OwnerRecord owner = Owner();
  std::string every;
  for (int byte = 0; byte < 0x100; ++byte) every.push_back(static_cast<char>(byte));
  owner.label = every;
  owner.process.host = "\",\"pid\":1,\"x\":\"\n99\n";
  const ParsedRecord parsed = Parse(WriteRecord(owner, RecordFormat::kFull));
  ASSERT_EQ(parsed.kind, RecordKind::kFull);
  ExpectSame(parsed.owner, owner);
}

TEST(OwnerRecord, AFullRecordIsThePidAndOneLineOfJson) {
  EXPECT_EQ(Full(),
            "4242\n"
            "{\"v\":1,\"token\":\"0123456789abcdef0123456789abcdef\",\"pid\":4242,"
            "\"start\":\"4026531836:815\",\"boot\":\"6f1a2b3c-0000-4000-8000-123456789abc\","
            "\"host\":\"worker-7\",\"fs\":\"ext\",\"guarded\":true,\"label\":\"nightly backup\","
            "\"since\":1700000000123}\n");
}

TEST(OwnerRecord, APidOnlyRecordIsReadBackAsItWasWritten) {
  OwnerRecord owner = Owner();
  EXPECT_EQ(WriteRecord(owner, RecordFormat::kPidOnly), "4242 \n");
  ExpectPidOnly("4242 \n", 4242, true);
  owner.guarded = false;
  EXPECT_EQ(WriteRecord(owner, RecordFormat::kPidOnly), "4242\n");
  ExpectPidOnly("4242\n", 4242, false);
}

TEST(OwnerRecord, EveryMemberButTheLabelIsNeeded) {
  for (const char* const member :
       {"\"v\":1,", "\"token\":\"0123456789abcdef0123456789abcdef\",", "\"pid\":4242,",
        "\"start\":\"4026531836:815\",", "\"boot\":\"6f1a2b3c-0000-4000-8000-123456789abc\",",
        "\"host\":\"worker-7\",", "\"fs\":\"ext\",", "\"guarded\":true,",
        ",\"since\":1700000000123"}) {
    EXPECT_EQ(KindOf(With(member, "")), RecordKind::kMalformed) << member;
  }
  const ParsedRecord bare = Parse(With("\"label\":\"nightly backup\",", ""));
  EXPECT_EQ(bare.kind, RecordKind::kFull);
  EXPECT_FALSE(bare.owner.label.has_value());
}

TEST(OwnerRecord, AMemberOfAnotherTypeIsMalformed) {
  for (const char* const other : {"null", "true", "7", "1.5", "\"x\"", "[\"x\"]", "{\"x\":1}"}) {
    const std::string text(other);
    const std::string token = '"' + std::string(kToken) + '"';
    EXPECT_EQ(KindOf(WithMember("token", token, text)), RecordKind::kMalformed) << text;
    EXPECT_EQ(KindOf(WithMember("pid", "4242", text)), RecordKind::kMalformed) << text;
    if (text != "true") {
      EXPECT_EQ(KindOf(WithMember("guarded", "true", text)), RecordKind::kMalformed) << text;
    }
    if (text != "7") {
      EXPECT_EQ(KindOf(WithMember("since", "1700000000123", text)), RecordKind::kMalformed) << text;
    }
    if (text != "\"x\"") {
      EXPECT_EQ(KindOf(WithMember("host", "\"worker-7\"", text)), RecordKind::kMalformed) << text;
      EXPECT_EQ(KindOf(WithMember("fs", "\"ext\"", text)), RecordKind::kMalformed) << text;
      EXPECT_EQ(KindOf(WithMember("start", "\"4026531836:815\"", text)), RecordKind::kMalformed);
      EXPECT_EQ(KindOf(WithMember("label", "\"nightly backup\"", text)), RecordKind::kMalformed);
    }
  }
}

TEST(OwnerRecord, AVersionOfAnyOtherValueOrTypeIsUnknown) {
  for (const char* const other :
       {"0", "2", "-1", "1.0", "1.5", "null", "true", "\"1\"", "[1]", "{\"x\":1}"}) {
    EXPECT_EQ(KindOf(WithMember("v", "1", other)), RecordKind::kUnknownVersion) << other;
  }
}

TEST(OwnerRecord, ATokenIs32LowerCaseHexadecimalDigits) {
  for (const char* const token :
       {"", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdef0",
        "0123456789ABCDEF0123456789abcdef", "0123456789abcdeg0123456789abcdef",
        "../../../etc/passwd/0123456789ab", "0123456789abcdef 123456789abcdef"}) {
    EXPECT_EQ(KindOf(With(kToken, token)), RecordKind::kMalformed) << token;
  }
}

TEST(OwnerRecord, MembersThatWeDoNotKnowAreSkipped) {
  for (const char* const member :
       {"\"x\":1", "\"x\":\"4343\"", "\"x\":null", "\"x\":{\"pid\":4343,\"v\":2}",
        "\"x\":[[[{\"token\":\"x\"}]]]", "\"PID\":4343", "\"\":0"}) {
    const ParsedRecord parsed = Parse(WithExtra(member));
    EXPECT_EQ(parsed.kind, RecordKind::kFull) << member;
    ExpectSame(parsed.owner, Owner());
  }
}

TEST(OwnerRecord, ARepeatedMemberIsMalformed) {
  for (const char* const member :
       {"\"pid\":4242", "\"pid\":4343", "\"v\":1", "\"guarded\":true", "\"guarded\":false",
        "\"label\":\"nightly backup\"", "\"\\u0070id\":4242", "\"x\":1,\"x\":1"}) {
    EXPECT_EQ(KindOf(WithExtra(member)), RecordKind::kMalformed) << member;
  }
}

TEST(OwnerRecord, BothPidsMustAgree) {
  EXPECT_EQ(KindOf(WithMember("pid", "4242", "4243")), RecordKind::kMalformed);
  EXPECT_EQ(KindOf(WithMember("pid", "4242", "-4242")), RecordKind::kMalformed);
  EXPECT_EQ(KindOf(WithMember("pid", "4242", "4294971538")), RecordKind::kMalformed)
      << "the same number in 32 bits";
  EXPECT_EQ(KindOf(With("4242\n", "4243\n")), RecordKind::kMalformed);
}

TEST(OwnerRecord, AnUnknownVersionIsNotMalformedAndTellsItsPidAlone) {
  for (const char* const version : {"0", "2", "-1", "9223372036854775807"}) {
    const ParsedRecord parsed = Parse(WithMember("v", "1", version));
    EXPECT_EQ(parsed.kind, RecordKind::kUnknownVersion) << version;
    EXPECT_EQ(parsed.owner.process.pid, 4242u);
    EXPECT_TRUE(parsed.owner.token.empty());
    EXPECT_FALSE(parsed.owner.guarded);
  }
  EXPECT_EQ(KindOf("7\n{\"v\":2}\n"), RecordKind::kUnknownVersion) << "no other member is needed";
  ExpectMalformed({"x\n{\"v\":2}\n", "0\n{\"v\":2}\n", "7\n{\"v\":2}", "7\n{\"v\":2,\"v\":2}\n"});
}

TEST(OwnerRecord, PidsReachFromOneToTheSystemsLargest) {
  ExpectPidOnly("1\n", 1, false);
  ExpectPidOnly("2147483647\n", 2147483647, false);
  ExpectMalformed({"0\n", "00\n", "2147483648\n", "4294967295\n", "4294967296\n", "4294967297\n",
                   "18446744073709551617\n", "99999999999999999999999999999999\n"});
  EXPECT_EQ(ParseRecord("2147483648\n", kMaxWindowsPid).owner.process.pid, 2147483648u);
  EXPECT_EQ(ParseRecord("4294967295\n", kMaxWindowsPid).owner.process.pid, 4294967295u);
  for (const char* const pid : {"0\n", "4294967296\n", "4294967297\n", "18446744073709551617\n"}) {
    EXPECT_EQ(ParseRecord(pid, kMaxWindowsPid).kind, RecordKind::kMalformed) << pid;
  }
}

TEST(OwnerRecord, PidsOfFullRecordsHaveTheSameBounds) {
  for (const char* const pid : {"0", "2147483648", "4294967296", "4294971538", "-4242"}) {
    std::string record = WithMember("pid", "4242", pid);
    record.replace(0, 4, pid);
    EXPECT_EQ(KindOf(record), RecordKind::kMalformed) << pid;
  }
}

TEST(OwnerRecord, LeadingZerosAreDigitsToo) {
  ExpectPidOnly("0042\n", 42, false);
  ExpectPidOnly("00000000000000000000000042 \n", 42, true);
  std::string record = Full();
  EXPECT_EQ(KindOf(record.insert(0, "00")), RecordKind::kFull);
  EXPECT_EQ(KindOf(WithMember("pid", "4242", "004242")), RecordKind::kMalformed)
      << "JSON has no such numbers";
}

TEST(OwnerRecord, APidIsDecimalDigitsAndNothingElse) {
  ExpectMalformed({"+1\n",    "-1\n",    " 1\n",    "\t1\n", "1\t\n",        "1  \n",
                   "1 \r\n",  "1\r\r\n", "1\r \n",  "1.0\n", "1e3\n",        "0x1\n",
                   "1_0\n",   "1 0\n",   "1,0\n",   "a\n",   "1a\n",         "a1\n",
                   "\n",      " \n",     "\r\n",    "  \n",  "1\v\n",        "1\f\n",
                   "PID 1\n", "1;\n",    "\"1\"\n", "{}\n",  "{\"pid\":1}\n"});
}

TEST(OwnerRecord, DigitsOfOtherScriptsAreNoPid) {
  // Arabic-Indic, Devanagari, full width, mathematical bold, superscript; a byte order mark, a
  // no-break space, a zero-width space.
  ExpectMalformed({"\xd9\xa1\xd9\xa2\n", "\xe0\xa5\xa7\n", "\xef\xbc\x91\n", "\xf0\x9d\x9f\x8f\n",
                   "\xc2\xb9\n", "1\xc2\xb2\n",
                   "\xef\xbb\xbf"
                   "1\n",
                   "\xc2\xa0"
                   "1\n",
                   "1\xe2\x80\x8b\n", "\xff\xfe\x31\n"});
}

TEST(OwnerRecord, AnotherSystemsLineEndEndsAPidOnlyRecordAndNoFullOne) {
  ExpectPidOnly("4242\r\n", 4242, false);
  EXPECT_EQ(KindOf(With("4242\n", "4242\r\n")), RecordKind::kMalformed);
  EXPECT_EQ(KindOf(With("}\n", "}\r\n")), RecordKind::kMalformed);
  ExpectMalformed({"4242\r", "\n\r4242\n"});
}

TEST(OwnerRecord, ABlankAfterThePidOfAFullRecordIsMalformed) {
  EXPECT_EQ(KindOf(With("4242\n", "4242 \n")), RecordKind::kMalformed);
}

TEST(OwnerRecord, TheLastLineMustEnd) {
  ExpectMalformed({"", "1", "4242", "4242 "});
  std::string record = Full();
  record.pop_back();
  EXPECT_EQ(KindOf(record), RecordKind::kMalformed);
}

TEST(OwnerRecord, ThereAreNoFurtherLines) {
  ExpectMalformed({"1\n\n", "1\n2\n", "1 \n\n", "\n1\n", "1\n{}\n", "1\n\n\n"});
  EXPECT_EQ(KindOf(Full() + "\n"), RecordKind::kMalformed);
  EXPECT_EQ(KindOf(Full() + "4242\n"), RecordKind::kMalformed);
  EXPECT_EQ(KindOf(Full() + Full()), RecordKind::kMalformed);
  EXPECT_EQ(KindOf("\n" + Full()), RecordKind::kMalformed);
  EXPECT_EQ(KindOf(With("4242\n", "4242\n\n")), RecordKind::kMalformed);
}

TEST(OwnerRecord, ANulByteAnywhereIsMalformed) {
  const std::string nul(1, '\0');
  for (const std::string& record : {Full(), std::string("4242\n"), std::string("4242 \n")}) {
    for (std::size_t at = 0; at <= record.size(); ++at) {
      std::string with_nul = record;
      EXPECT_EQ(KindOf(with_nul.insert(at, nul)), RecordKind::kMalformed) << at;
    }
  }
  EXPECT_EQ(KindOf(std::string(4096, '\0')), RecordKind::kMalformed);
}

TEST(OwnerRecord, ARecordCutOffAnywhereIsMalformed) {
  const std::string record = Full();
  const std::size_t first_line = record.find('\n') + 1;
  for (std::size_t length = 0; length < record.size(); ++length) {
    const std::string_view cut = std::string_view(record).substr(0, length);
    if (length == first_line) {
      // Exactly the first line is a PID-only record. It promises nothing, so it is judged by the
      // process that did write it.
      ExpectPidOnly(cut, 4242, false);
    } else {
      EXPECT_EQ(KindOf(cut), RecordKind::kMalformed) << length;
    }
  }
}

TEST(OwnerRecord, ARecordThatLostItsBeginningIsNotFull) {
  const std::string record = Full();
  for (std::size_t at = 1; at < record.size(); ++at) {
    EXPECT_EQ(KindOf(std::string_view(record).substr(at)), RecordKind::kMalformed) << at;
  }
}

TEST(OwnerRecord, TheLongestRecordIsReadAndALongerOneIsMalformed) {
  OwnerRecord owner = Owner();
  owner.label = std::string();
  const std::size_t rest = WriteRecord(owner, RecordFormat::kFull).size();
  owner.label = std::string(kMaxRecordBytes - rest, 'x');
  const std::string longest = WriteRecord(owner, RecordFormat::kFull);
  ASSERT_EQ(longest.size(), kMaxRecordBytes);
  ExpectSame(Parse(longest).owner, owner);
  owner.label->push_back('x');
  EXPECT_EQ(KindOf(WriteRecord(owner, RecordFormat::kFull)), RecordKind::kMalformed);

  const std::string zeros(kMaxRecordBytes - 2, '0');
  ExpectPidOnly(zeros + "7\n", 7, false);
  EXPECT_EQ(KindOf(zeros + "07\n"), RecordKind::kMalformed);
  EXPECT_EQ(KindOf(std::string(1 << 20, 'x') + "\n"), RecordKind::kMalformed);
}

}  // namespace
}  // namespace bucketlock
