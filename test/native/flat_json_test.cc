#include "flat_json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace bucketlock {
namespace {

using Members = std::map<std::string, JsonValue>;
using Type = JsonValue::Type;

bool Parses(std::string_view text) {
  Members members;
  return ParseFlatJson(text, &members);
}

// What `text` is as the value of the one member of an object. A text that is no JSON value fails
// the test.
JsonValue ValueOf(const std::string& text) {
  Members members;
  EXPECT_TRUE(ParseFlatJson("{\"k\":" + text + "}", &members)) << text;
  EXPECT_EQ(members.size(), 1u) << text;
  return members["k"];
}

bool IsValue(const std::string& text) { return Parses("{\"k\":" + text + "}"); }

std::string StringOf(const std::string& text) {
  const JsonValue value = ValueOf(text);
  EXPECT_EQ(value.type, Type::kString) << text;
  return value.text;
}

std::string Nested(int levels) {
  std::string text;
  for (int level = 0; level < levels; ++level) text += level % 2 == 0 ? "[" : "{\"n\":";
  text += "1";
  for (int level = levels; level-- > 0;) text += level % 2 == 0 ? "]" : "}";
  return text;
}

TEST(FlatJson, ReadsEveryTypeOfMember) {
  Members members;
  ASSERT_TRUE(ParseFlatJson(
      R"({"s":"text","i":-42,"t":true,"f":false,"n":null,"x":1.5,"a":[1,"]"],"o":{"s":"}"}})",
      &members));
  EXPECT_EQ(members.size(), 8u);
  EXPECT_EQ(members["s"].type, Type::kString);
  EXPECT_EQ(members["s"].text, "text");
  EXPECT_EQ(members["i"].type, Type::kInteger);
  EXPECT_EQ(members["i"].integer, -42);
  EXPECT_EQ(members["t"].type, Type::kBoolean);
  EXPECT_TRUE(members["t"].boolean);
  EXPECT_EQ(members["f"].type, Type::kBoolean);
  EXPECT_FALSE(members["f"].boolean);
  for (const char* const other : {"n", "x", "a", "o"}) {
    EXPECT_EQ(members[other].type, Type::kOther) << other;
  }
}

TEST(FlatJson, MembersOfNestedObjectsDoNotComeOut) {
  Members members;
  ASSERT_TRUE(ParseFlatJson(R"({"outer":{"pid":1},"list":[{"pid":2}]})", &members));
  EXPECT_EQ(members.count("pid"), 0u);
  EXPECT_EQ(members["outer"].type, Type::kOther);
}

TEST(FlatJson, ForgetsWhatTheMapHeldBefore) {
  Members members;
  members["stale"] = JsonValue();
  ASSERT_TRUE(ParseFlatJson("{}", &members));
  EXPECT_TRUE(members.empty());
}

TEST(FlatJson, BlanksAndTabsMayStandBetweenTokens) {
  EXPECT_TRUE(Parses("{ \t}"));
  EXPECT_TRUE(Parses("{ \"a\" :\t1 , \"b\" : [ 1 , 2 ] , \"c\" : { \"d\" : 1 } }"));
}

TEST(FlatJson, ALineBreakStandsNowhere) {
  for (const char* const text : {"{\n}", "{\r}", "{\"a\":\n1}", "{\"a\":1\r\n}", "{\"a\":[\n]}"}) {
    EXPECT_FALSE(Parses(text)) << text;
  }
}

TEST(FlatJson, NothingStandsAroundTheObject) {
  for (const char* const text :
       {"", " {}", "{} ", "{}{}", "{}x", "[]", "\"a\"", "1", "null", "\xef\xbb\xbf{}"}) {
    EXPECT_FALSE(Parses(text)) << text;
  }
  EXPECT_FALSE(Parses(std::string_view("{}\0", 3)));
  EXPECT_FALSE(Parses(std::string_view("\0{}", 3)));
  EXPECT_FALSE(Parses(std::string_view("{\0}", 3)));
}

TEST(FlatJson, RefusesBrokenObjects) {
  for (const char* const text :
       {"{", "}", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,\"a\":1}", "{\"a\":1 \"b\":2}",
        "{\"a\":1;\"b\":2}", "{a:1}", "{'a':1}", "{1:1}", "{\"a\"=1}", "{\"a\"::1}",
        "{\"a\":1,,\"b\":2}", "{\"a\":1]"}) {
    EXPECT_FALSE(Parses(text)) << text;
  }
}

TEST(FlatJson, RefusesBrokenNestedValues) {
  for (const char* const text :
       {"[", "[1", "[1,", "[1,]", "[,]", "[1 2]", "[1}", "{", "{\"a\"", "{\"a\":", "{\"a\":1",
        "{\"a\":1,}", "{1}", "{\"a\":1]", "[tru]"}) {
    EXPECT_FALSE(IsValue(text)) << text;
  }
}

TEST(FlatJson, RefusesARepeatedKey) {
  EXPECT_FALSE(Parses(R"({"pid":1,"pid":2})"));
  EXPECT_FALSE(Parses(R"({"pid":1,"pid":1})"));
  EXPECT_FALSE(Parses(R"({"pid":1,"\u0070id":2})")) << "the same key, spelled with an escape";
  EXPECT_TRUE(Parses(R"({"pid":1,"PID":2})"));
}

TEST(FlatJson, EveryBeginningOfAnObjectIsRefused) {
  const std::string whole =
      R"({"s":"a\u00e4\ud83d\ude00\n","i":-12,"x":1.5e+3,"t":true,"n":null,"l":[{"a":[]}]})";
  ASSERT_TRUE(Parses(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(Parses(std::string_view(whole).substr(0, length))) << length;
  }
}

TEST(FlatJson, SixteenLevelsAreReadAndSeventeenAreNot) {
  // The object itself is the first level.
  EXPECT_TRUE(IsValue(Nested(15)));
  EXPECT_FALSE(IsValue(Nested(16)));
  EXPECT_FALSE(IsValue(Nested(100000)));
  EXPECT_FALSE(Parses("{\"k\":" + std::string(100000, '[')));
}

TEST(FlatJson, WholeNumbersOf64BitsAreIntegers) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{2147483647},
        std::int64_t{4294967296}, kMax, kMax - 1, -kMax}) {
    const JsonValue value = ValueOf(std::to_string(number));
    EXPECT_EQ(value.type, Type::kInteger) << number;
    EXPECT_EQ(value.integer, number);
  }
  EXPECT_EQ(ValueOf("-0").integer, 0);
}

TEST(FlatJson, NumbersThatAreNoSuchIntegersAreOther) {
  for (const char* const text :
       {"9223372036854775808", "-9223372036854775809", "18446744073709551617",
        "99999999999999999999999999999999", "1.0", "-1.5", "0.1", "1e0", "1E5", "1e+5", "1e-5"}) {
    EXPECT_EQ(ValueOf(text).type, Type::kOther) << text;
  }
}

TEST(FlatJson, RefusesWhatIsNoNumberInJson) {
  for (const char* const text :
       {"01",       "-01",  "00",       "+1",           "-",    "--1",   "1.",
        ".5",       "1.e5", "1e",       "1e+",          "0x10", "1_000", "1 0",
        "Infinity", "NaN",  "\xd9\xa1", "\xef\xbc\x91", "1-",   "-a"}) {
    EXPECT_FALSE(IsValue(text)) << text;
  }
}

TEST(FlatJson, RefusesWhatIsNoWordInJson) {
  for (const char* const text : {"True", "tru", "truee", "fals", "nul", "undefined", "t", ""}) {
    EXPECT_FALSE(IsValue(text)) << text;
  }
}

TEST(FlatJson, ReadsEveryEscape) {
  EXPECT_EQ(StringOf(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(StringOf(R"("\u0041\u00e4\u20AC\uFfFd")"), "A\xc3\xa4\xe2\x82\xac\xef\xbf\xbd");
  EXPECT_EQ(StringOf(R"("\ud83d\ude00")"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(StringOf(R"("\ud800\udc00\udbff\udfff")"), "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
  EXPECT_EQ(StringOf(R"("a\u0000b")"), std::string("a\0b", 3));
}

TEST(FlatJson, RefusesBrokenEscapes) {
  for (const char* const text :
       {R"("\x")", R"("\")", R"("\u")", R"("\u12")", R"("\u123")", R"("\u123g")", R"("\U0041")",
        R"("\a")", R"("\'")", R"("\0")", R"("\u-123")", R"("\u 123")"}) {
    EXPECT_FALSE(IsValue(text)) << text;
  }
}

TEST(FlatJson, RefusesHalfASurrogatePair) {
  for (const char* const text : {R"("\ud83d")", R"("\ude00")", R"("\ud83dx")", R"("\ud83d\n")",
                                 R"("\ud83d\u0041")", R"("\ud83d\ud83d")", R"("\ude00\ud83d")"}) {
    EXPECT_FALSE(IsValue(text)) << text;
  }
}

TEST(FlatJson, RefusesRawControlCharactersInStrings) {
  for (int byte = 0; byte < 0x20; ++byte) {
    EXPECT_FALSE(IsValue("\"a" + std::string(1, static_cast<char>(byte)) + "b\"")) << byte;
  }
}

TEST(FlatJson, PassesOtherBytesThroughUnjudged) {
  for (int byte = 0x20; byte < 0x100; ++byte) {
    if (byte == '"' || byte == '\\') continue;
    const std::string text(3, static_cast<char>(byte));
    EXPECT_EQ(StringOf('"' + text + '"'), text) << byte;
  }
}

TEST(QuoteJson, WhatItQuotesIsReadBackAsItWas) {
  std::string every;
  for (int byte = 0; byte < 0x100; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    EXPECT_EQ(StringOf(QuoteJson(one)), one) << byte;
    every += one;
  }
  EXPECT_EQ(StringOf(QuoteJson(every)), every);
  EXPECT_EQ(StringOf(QuoteJson("")), "");
}

TEST(QuoteJson, LeavesNoControlCharacterStanding) {
  std::string every;
  for (int byte = 0; byte < 0x100; ++byte) every.push_back(static_cast<char>(byte));
  for (const char c : QuoteJson(every)) {
    EXPECT_GE(static_cast<unsigned char>(c), 0x20);
    EXPECT_NE(c, 0x7f);
  }
}

TEST(QuoteJson, SpellsPlainTextPlainly) {
  EXPECT_EQ(QuoteJson("nightly backup"), "\"nightly backup\"");
  EXPECT_EQ(QuoteJson("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
  EXPECT_EQ(QuoteJson("\xc3\xa4"), "\"\xc3\xa4\"");
}

}  // namespace
}  // namespace bucketlock
