#include "flat_json.h"

#include <cstddef>
#include <limits>
#include <utility>

namespace bucketlock {
namespace {

constexpr int kMaxDepth = 16;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendUtf8(std::uint32_t code, std::string* out) {
  const auto put = [out](std::uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool Object(std::map<std::string, JsonValue>* members) {
    if (!Take('{')) return false;
    SkipBlank();
    if (!Take('}')) {
      do {
        SkipBlank();
        std::string key;
        JsonValue value;
        if (!String(&key)) return false;
        SkipBlank();
        if (!Take(':') || !Value(&value, /*depth=*/1)) return false;
        if (!members->emplace(std::move(key), std::move(value)).second) return false;
        SkipBlank();
      } while (Take(','));
      if (!Take('}')) return false;
    }
    return at_ == text_.size();
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void SkipBlank() {
    while (Peek() == ' ' || Peek() == '\t') ++at_;
  }

  bool Value(JsonValue* value, int depth) {
    SkipBlank();
    const char first = Peek();
    if (first == '"') {
      value->type = JsonValue::Type::kString;
      return String(&value->text);
    }
    if (first == '-' || IsDigit(first)) return Number(value);
    if (first == '[' || first == '{') return SkipNested(depth + 1);
    if (TakeWord("null")) return true;
    value->type = JsonValue::Type::kBoolean;
    value->boolean = first == 't';
    return TakeWord(value->boolean ? "true" : "false");
  }

  bool SkipNested(int depth) {
    if (depth > kMaxDepth) return false;
    const bool object = Peek() == '{';
    const char end = object ? '}' : ']';
    ++at_;
    SkipBlank();
    if (Take(end)) return true;
    do {
      if (object) {
        std::string key;
        SkipBlank();
        if (!String(&key)) return false;
        SkipBlank();
        if (!Take(':')) return false;
      }
      JsonValue ignored;
      if (!Value(&ignored, depth)) return false;
      SkipBlank();
    } while (Take(','));
    return Take(end);
  }

  bool Number(JsonValue* value) {
    const bool negative = Take('-');
    if (!IsDigit(Peek())) return false;
    if (Peek() == '0' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1])) return false;
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    std::int64_t integer = 0;
    bool fits = true;
    for (; IsDigit(Peek()); ++at_) {
      const int digit = Peek() - '0';
      fits = fits && integer <= (kMax - digit) / 10;
      if (fits) integer = integer * 10 + digit;
    }
    bool whole = true;
    if (Take('.')) {
      whole = false;
      if (!SkipDigits()) return false;
    }
    if (Take('e') || Take('E')) {
      whole = false;
      if (!Take('+')) static_cast<void>(Take('-'));
      if (!SkipDigits()) return false;
    }
    if (fits && whole) {
      value->type = JsonValue::Type::kInteger;
      value->integer = negative ? -integer : integer;
    }
    return true;
  }

  bool SkipDigits() {
    if (!IsDigit(Peek())) return false;
    while (IsDigit(Peek())) ++at_;
    return true;
  }

  bool String(std::string* out) {
    if (!Take('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        out->push_back(c);
      } else if (!Escape(out)) {
        return false;
      }
    }
    return false;
  }

  bool Escape(std::string* out) {
    static constexpr std::pair<char, char> kSimple[] = {{'"', '"'},  {'\\', '\\'}, {'/', '/'},
                                                        {'b', '\b'}, {'f', '\f'},  {'n', '\n'},
                                                        {'r', '\r'}, {'t', '\t'}};
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    for (const auto& [letter, meaning] : kSimple) {
      if (c == letter) {
        out->push_back(meaning);
        return true;
      }
    }
    std::uint32_t code = 0;
    if (c != 'u' || !Hex4(&code)) return false;
    if (code >= 0xdc00 && code <= 0xdfff) return false;
    if (code >= 0xd800 && code <= 0xdbff) {
      std::uint32_t low = 0;
      if (!Take('\\') || !Take('u') || !Hex4(&low) || low < 0xdc00 || low > 0xdfff) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    AppendUtf8(code, out);
    return true;
  }

  bool Hex4(std::uint32_t* code) {
    for (int i = 0; i < 4; ++i) {
      const char c = Peek();
      std::uint32_t digit = 0;
      if (IsDigit(c)) {
        digit = static_cast<std::uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<std::uint32_t>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<std::uint32_t>(c - 'A' + 10);
      } else {
        return false;
      }
      *code = *code * 16 + digit;
      ++at_;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool ParseFlatJson(std::string_view text, std::map<std::string, JsonValue>* members) {
  members->clear();
  return Reader(text).Object(members);
}

std::string QuoteJson(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    } else {
      if (c == '"' || c == '\\') out.push_back('\\');
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace bucketlock
