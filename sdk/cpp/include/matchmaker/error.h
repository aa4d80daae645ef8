#pragma once

#include <optional>
#include <string>

namespace matchmaker {

/** What went wrong, for a game to act on. The set is closed. */
enum class Code {
  None,
  /** No answer came, and the tries are used up. */
  Offline,
  /** There are too many requests or too few servers, and the tries are used up. `retryAfter` may say more. */
  Busy,
  /** There is no token, or the service refused a new one. */
  Token,
  /** As the service says in `detail`; `problem` tells conflicts apart. */
  Forbidden,
  NotFound,
  Conflict,
  /** The game asks for what cannot be. */
  Invalid,
  /** What came is not the service's answer, or the service failed. */
  Unexpected,
  /** The search ended without a match; `reason` is the service's. */
  Ended,
  /** The match has an error instead of a connection, which is in `detail`. */
  Failed,
  /** The game cancelled the search. */
  Cancelled,
  /** The search took longer than the game allows. */
  Timeout,
};

/** A code as a word: offline, busy, not_found, … */
const char* name(Code code);

/** Why something failed. `message` is for developers, `playerMessage` what the player may be told. */
struct Error {
  Code code = Code::None;
  std::string message;
  /** The HTTP status, 0 when there was no answer. */
  int status = 0;
  /** The service's text for developers. */
  std::string detail;
  /** The service's own code of the problem, which is finer than `code`; empty if it has none. */
  std::string problem;
  /** Why a search ended, or the player left a party, in the service's words. */
  std::string reason;
  /** In how many milliseconds to try again, if that is known. */
  std::optional<double> retryAfter;
  /** It finds the request in the service's logs. */
  std::string correlationId;
  /** A try may have been carried out, and no answer said so. */
  bool unanswered = false;

  explicit operator bool() const { return code != Code::None; }
  std::string playerMessage() const;
  /** The service has no such thing, or no longer; a 404 of something in between does not say that. */
  bool missing() const { return status == 404 && !problem.empty() && problem != "notFound"; }

  static Error of(Code code, std::string message) {
    Error e;
    e.code = code;
    e.message = std::move(message);
    return e;
  }
};

/** A value, or an error. */
template <class T> struct Result {
  T value{};
  Error error;
  explicit operator bool() const { return !error; }
};

}  // namespace matchmaker
