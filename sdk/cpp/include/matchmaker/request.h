#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "matchmaker/json.h"

namespace matchmaker {

/** Names and values. */
using Pairs = std::vector<std::pair<std::string, std::string>>;

/** What is asked of the service. */
struct AnyRequest {
  std::string method;
  /** Below {url}/{project}/matchmaking/api/. */
  std::string path;
  /** To send it twice has the same effect as to send it once. */
  bool repeatable = false;
  Pairs query;
  Pairs headers;
  std::string body;
};

/** A request that is answered with a T. */
template <class T> struct Request : AnyRequest {
  using Answer = T;
  explicit Request(AnyRequest r) : AnyRequest(std::move(r)) {}
  /** The request with its answer read otherwise. */
  template <class U> Request<U> as() const { return Request<U>(*this); }
};

/** A text in an address. */
std::string escaped(const std::string& text);

/** A value as one element of a path. One that would name another resource makes the request invalid. */
std::string segment(const std::string& value);

inline void put(Pairs& to, const char* name, const std::string& value) { to.emplace_back(name, value); }
inline void put(Pairs& to, const char* name, bool value) { to.emplace_back(name, value ? "true" : "false"); }
template <class T> void put(Pairs& to, const char* name, const std::optional<T>& value) {
  if (value) put(to, name, *value);
}

}  // namespace matchmaker
