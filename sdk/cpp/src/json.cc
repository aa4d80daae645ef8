#include "matchmaker/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <locale>
#include <set>
#include <sstream>

namespace matchmaker {
namespace {

// A value takes about a hundred bytes, however short its text is.
constexpr int maxDepth = 64;
constexpr std::size_t maxValues = 1 << 18;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Json> all() {
    Json value;
    if (!this->value(value, 0)) return std::nullopt;
    space();
    if (at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) at_++;
  }

  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }

  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  bool value(Json& to, int depth) {
    space();
    if (at_ >= text_.size() || depth > maxDepth || ++values_ > maxValues) return false;
    std::string text;
    switch (text_[at_]) {
      case '{':
        return object(to, depth);
      case '[':
        to = Json::array();
        return list(']', [&] {
          Json item;
          if (!value(item, depth + 1)) return false;
          to.add(std::move(item));
          return true;
        });
      case '"':
        at_++;
        if (!string(text)) return false;
        to = Json(std::move(text));
        return true;
      case 't':
        to = Json(true);
        return word("true");
      case 'f':
        to = Json(false);
        return word("false");
      case 'n':
        to = Json();
        return word("null");
      default:
        return number(to);
    }
  }

  bool object(Json& to, int depth) {
    std::vector<Json::Member> all;
    const bool closed = list('}', [&] {
      all.emplace_back();
      return take('"') && string(all.back().name) && take(':') && value(all.back().value, depth + 1);
    });
    std::set<std::string_view> later;
    std::vector<bool> counts(all.size());
    for (std::size_t i = all.size(); i-- > 0;) counts[i] = later.insert(all[i].name).second;
    to = Json::object();
    for (std::size_t i = 0; i < all.size(); i++) {
      if (counts[i]) to.append(std::move(all[i].name), std::move(all[i].value));
    }
    return closed;
  }

  template <class F> bool list(char end, F item) {
    at_++;
    if (take(end)) return true;
    do {
      if (!item()) return false;
    } while (take(','));
    return take(end);
  }

  bool number(Json& to) {
    std::size_t end = at_;
    while (end < text_.size() && std::string_view("+-.eE0123456789").find(text_[end]) != std::string_view::npos) end++;
    // The game's locale may have a decimal comma.
    std::istringstream digits(std::string(text_.substr(at_, end - at_)));
    digits.imbue(std::locale::classic());
    double value = 0;
    if (!(digits >> value) || digits.peek() != std::istringstream::traits_type::eof()) return false;
    at_ = end;
    to = Json(value);
    return true;
  }

  bool hex(unsigned& code) {
    code = 0;
    for (int i = 0; i < 4; i++) {
      if (at_ >= text_.size()) return false;
      const char c = text_[at_++];
      const bool digit = c >= '0' && c <= '9';
      if (!digit && !((c | 32) >= 'a' && (c | 32) <= 'f')) return false;
      code = code * 16 + static_cast<unsigned>(digit ? c - '0' : (c | 32) - 'a' + 10);
    }
    return true;
  }

  static void utf8(unsigned code, std::string& to) {
    const auto put = [&to](unsigned byte) { to += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 | code >> 6);
      put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      put(0xE0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3F));
      put(0x80 | (code & 0x3F));
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
      put(0x80 | (code >> 6 & 0x3F));
      put(0x80 | (code & 0x3F));
    }
  }

  /** Behind the first quote. */
  bool string(std::string& to) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        to += c;
        continue;
      }
      if (at_ >= text_.size()) return false;
      const char escaped = text_[at_++];
      const std::size_t known = std::string_view("\"\\/bfnrt").find(escaped);
      if (known != std::string_view::npos) {
        to += "\"\\/\b\f\n\r\t"[known];
        continue;
      }
      unsigned code = 0;
      unsigned low = 0;
      if (escaped != 'u' || !hex(code)) return false;
      if (code >= 0xD800 && code < 0xDC00 && word("\\u")) {
        if (!hex(low) || low < 0xDC00 || low > 0xDFFF) return false;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      }
      utf8(code >= 0xD800 && code < 0xE000 ? 0xFFFD : code, to);
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
};

void quote(const std::string& text, std::string& to) {
  to += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      to += code;
    } else {
      to += c;
    }
  }
  to += '"';
}

void put(const Json& value, std::string& to) {
  const char* between = "";
  std::ostringstream digits;
  switch (value.kind()) {
    case Json::Kind::Null:
      to += "null";
      break;
    case Json::Kind::Boolean:
      to += value.boolean() ? "true" : "false";
      break;
    case Json::Kind::Number:
      digits.imbue(std::locale::classic());
      digits.precision(17);
      digits << value.number();
      to += std::isfinite(value.number()) ? digits.str() : "null";
      break;
    case Json::Kind::String:
      quote(value.string(), to);
      break;
    case Json::Kind::Array:
      to += '[';
      for (const Json& item : value.items()) {
        to += between;
        put(item, to);
        between = ",";
      }
      to += ']';
      break;
    case Json::Kind::Object:
      to += '{';
      for (const Json::Member& m : value.members()) {
        to += between;
        quote(m.name, to);
        to += ':';
        put(m.value, to);
        between = ",";
      }
      to += '}';
      break;
  }
}

}  // namespace

std::optional<Json> Json::parse(std::string_view text) { return Parser(text).all(); }

std::string Json::text() const {
  std::string to;
  put(*this, to);
  return to;
}

const Json& Json::operator[](std::string_view name) const {
  for (const Member& m : members_) {
    if (m.name == name) return m.value;
  }
  return none();
}

const Json& Json::none() {
  static const Json null;
  return null;
}

Json& Json::set(std::string name, Json value) {
  for (Member& m : members_) {
    if (m.name != name) continue;
    m.value = std::move(value);
    return *this;
  }
  append(std::move(name), std::move(value));
  return *this;
}

void Json::append(std::string name, Json value) { members_.push_back({std::move(name), std::move(value)}); }

}  // namespace matchmaker
