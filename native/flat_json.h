// A strict reader and writer for the one JSON object in a lockfile's record.
//
// It is our own because the record is judged in native code, where no JSON library is at hand that
// is worth its size: the object is flat, and everything else than strings, whole numbers and
// booleans is skipped.

#ifndef BUCKETLOCK_FLAT_JSON_H_
#define BUCKETLOCK_FLAT_JSON_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace bucketlock {

struct JsonValue {
  enum class Type {
    kString,
    // A whole number between -(2^63 - 1) and 2^63 - 1.
    kInteger,
    kBoolean,
    // Valid JSON of another kind; its content is not kept.
    kOther,
  };
  Type type = Type::kOther;
  std::string text;
  std::int64_t integer = 0;
  bool boolean = false;
};

// True if `text` is one JSON object and nothing else, without a repeated key and at most 16 levels
// deep. Strings come out as UTF-8; bytes that are not are passed through unjudged.
bool ParseFlatJson(std::string_view text, std::map<std::string, JsonValue>* members);

// `text` as a JSON string with its quotes. Control characters are escaped, so no line break is
// left.
std::string QuoteJson(std::string_view text);

}  // namespace bucketlock

#endif  // BUCKETLOCK_FLAT_JSON_H_
