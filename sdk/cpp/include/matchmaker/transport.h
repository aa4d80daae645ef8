#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "matchmaker/request.h"

namespace matchmaker {

/** A request as it goes over the network. */
struct HttpRequest {
  std::string method;
  std::string url;
  Pairs headers;
  std::string body;
};

/** What becomes of a request. */
class HttpListener {
 public:
  /** The names of headers are in lower case. */
  virtual void onHead(int status, Pairs headers) = 0;
  virtual void onData(std::string_view bytes) = 0;
  /** Nothing comes any more. `failure` says why the answer is not whole; it is empty if it is. */
  virtual void onEnd(const std::string& failure) = 0;

 protected:
  ~HttpListener() = default;
};

/**
 * Sends requests. It follows no redirects, keeps no cookies, and waits as long as it is not told to cancel. An engine's
 * own HTTP goes below it.
 */
class Transport {
 public:
  virtual ~Transport() = default;
  /** Sends a request. Its listener is called within `pump`, on that thread. */
  virtual std::uint64_t start(const HttpRequest& request, HttpListener& listener) = 0;
  /** Ends a request: its listener is not called any more, not even within the `pump` that goes on. */
  virtual void cancel(std::uint64_t id) = 0;
  /** Does what there is to do, and waits for more for so many milliseconds at most. */
  virtual void pump(int wait) = 0;
};

/** Requests by libcurl (the library `matchmaker-curl`), on the thread that pumps; null if it cannot be used. */
std::unique_ptr<Transport> curlTransport();

}  // namespace matchmaker
