#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace matchmaker {

/** A JSON value. What is read of another kind than it has is empty, so any answer of a server can be looked at. */
class Json {
 public:
  enum class Kind { Null, Boolean, Number, String, Array, Object };
  struct Member;

  Json() = default;
  explicit Json(bool value) : kind_(Kind::Boolean), boolean_(value) {}
  explicit Json(double value) : kind_(Kind::Number), number_(value) {}
  explicit Json(std::int64_t value) : Json(static_cast<double>(value)) {}
  explicit Json(int value) : Json(static_cast<double>(value)) {}
  explicit Json(std::string value) : kind_(Kind::String), text_(std::move(value)) {}
  explicit Json(const char* value) : Json(std::string(value)) {}
  static Json array() { return Json(Kind::Array); }
  static Json object() { return Json(Kind::Object); }
  /** null. */
  static const Json& none();

  /** The value of a text; nothing if it is no JSON, is deeper than 64 values, or has more than 262,144.
   * Of two members of a name, the last one counts. */
  static std::optional<Json> parse(std::string_view text);
  /** The value as a text. */
  std::string text() const;

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool boolean() const { return boolean_; }
  double number() const { return number_; }
  const std::string& string() const { return text_; }
  const std::vector<Json>& items() const { return items_; }
  const std::vector<Member>& members() const { return members_; }

  /** A member of an object, null if there is none. */
  const Json& operator[](std::string_view name) const;
  /** Sets a member of an object. */
  Json& set(std::string name, Json value);
  Json& set(std::string name, std::string value) { return set(std::move(name), Json(std::move(value))); }
  /** Sets a member that is not there; of two of a name, the last one counts. */
  void append(std::string name, Json value);
  /** Adds a value to an array. */
  void add(Json value) { items_.push_back(std::move(value)); }

 private:
  explicit Json(Kind kind) : kind_(kind) {}

  Kind kind_ = Kind::Null;
  bool boolean_ = false;
  double number_ = 0;
  std::string text_;
  std::vector<Json> items_;
  std::vector<Member> members_;
};

struct Json::Member {
  std::string name;
  Json value;
};

// Values of other types. What a JSON value has not is left as it is.

inline void read(const Json& from, Json& to) { to = from; }
inline void read(const Json& from, std::string& to) {
  if (from.is(Json::Kind::String)) to = from.string();
}
inline void read(const Json& from, double& to) {
  if (from.is(Json::Kind::Number)) to = from.number();
}
inline void read(const Json& from, std::int64_t& to) {
  if (from.is(Json::Kind::Number) && from.number() > -9e15 && from.number() < 9e15) {
    to = static_cast<std::int64_t>(from.number());
  }
}
inline void read(const Json& from, bool& to) {
  if (from.is(Json::Kind::Boolean)) to = from.boolean();
}
template <class T> void read(const Json& from, std::optional<T>& to);
template <class T> void read(const Json& from, std::vector<T>& to);
template <class T> void read(const Json& from, std::map<std::string, T>& to);

struct Reader {
  const Json& from;
  template <class T> void operator()(const char* name, T& value) const { read(from[name], value); }
};

/** An object with members: its `visit` names them. */
template <class T> auto read(const Json& from, T& to) -> decltype(to.visit(Reader{from})) { to.visit(Reader{from}); }

template <class T> void read(const Json& from, std::optional<T>& to) {
  if (!from.is(Json::Kind::Null)) read(from, to.emplace());
}
template <class T> void read(const Json& from, std::vector<T>& to) {
  for (const Json& item : from.items()) read(item, to.emplace_back());
}
template <class T> void read(const Json& from, std::map<std::string, T>& to) {
  for (const Json::Member& m : from.members()) read(m.value, to[m.name]);
}

inline Json write(const Json& from) { return from; }
inline Json write(const std::string& from) { return Json(from); }
inline Json write(double from) { return Json(from); }
inline Json write(std::int64_t from) { return Json(from); }
inline Json write(bool from) { return Json(from); }
template <class T> Json write(const std::vector<T>& from);
template <class T> Json write(const std::map<std::string, T>& from);

template <class T> auto write(T from) -> decltype(from.visit(Reader{Json::none()}), Json());

struct Writer {
  Json& to;
  template <class T> void operator()(const char* name, const T& value) const { to.set(name, write(value)); }
  template <class T> void operator()(const char* name, const std::optional<T>& value) const {
    if (value) (*this)(name, *value);
  }
};

template <class T> auto write(T from) -> decltype(from.visit(Reader{Json::none()}), Json()) {
  Json to = Json::object();
  from.visit(Writer{to});
  return to;
}
template <class T> Json write(const std::vector<T>& from) {
  Json to = Json::array();
  for (const T& item : from) to.add(write(item));
  return to;
}
template <class T> Json write(const std::map<std::string, T>& from) {
  Json to = Json::object();
  for (const auto& [name, value] : from) to.append(name, write(value));
  return to;
}

}  // namespace matchmaker
