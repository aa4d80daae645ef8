#pragma once

#include <memory>
#include <vector>

#include "matchmaker/matchmaker.h"

namespace matchmaker {

/**
 * For how long nothing may come of an answer, and how long all of it may take; which Retry-After is waited for at most, and
 * how big an answer may be.
 */
constexpr double stall = 60'000;
constexpr double whole = 300'000;
constexpr double maxWait = 60'000;
constexpr std::size_t maxAnswer = 8 << 20;

/** Whether what is under way is wanted still. */
using Life = std::shared_ptr<bool>;

class Measurement;

/** Something that is under way. */
class Job {
 public:
  virtual ~Job() = default;
  /** Does what can be done now, and returns whether all is done. */
  virtual bool step() = 0;
};

/** What is kept of a search: its ticket, or before that the Idempotency-Key of its create. */
struct Saved {
  std::string ticket;
  std::string key;
};

/** Keeps a token, and replaces it before it ends, when two thirds of its life have passed since it came. */
class Tokens {
 public:
  enum class State { Pending, Good, Failed };

  Tokens(TokenSource source, const Clock& clock) : source_(std::move(source)), clock_(clock) {}

  /** Begins to get a token if there is none that is good as far as is known. `state` tells what came of it. */
  void want();
  State state();
  const std::string& token() const { return token_; }
  const Error& error() const { return error_; }
  /** The service refused a token, or says that it has ended or soon does. */
  void refuse(const std::string& token) { refused_ = refused_ || token == token_; }
  void expire() { due_ = 0; }

 private:
  /** What a reply needs, which may come when all is gone. */
  struct Asking {
    bool answered = false;
    Token token;
  };
  void settle();
  void keep(const std::string& token);

  TokenSource source_;
  const Clock& clock_;
  std::string token_;
  double due_ = 0;
  double ends_ = 0;
  bool refused_ = false;
  std::shared_ptr<Asking> asking_;
  Why why_ = Why::First;
  double patience_ = 0;
  bool failed_ = false;
  Error error_;
};

/** Sends requests, again where that is safe. */
class Connection {
 public:
  struct SendOptions {
    Life life;
    /** 304 is success. */
    bool unchanged = false;
    /** An answer without a body is success. */
    bool empty = true;
    /** After it, the request is not sent again, but the try under way is answered. */
    Life tries;
  };
  using Answered = std::function<void(const Result<Json>&)>;

  explicit Connection(Options o);
  ~Connection() { close(); }

  double wall() const { return options.clock.wall(); }
  double steady() const { return options.clock.steady(); }
  double random() const { return options.random(); }
  /** Before repetition number n. */
  double backoff(int n) const;
  void pump(int wait);
  void close() {
    jobs_.clear();
    measured.clear();
  }
  void add(std::shared_ptr<Job> job) { jobs_.push_back(std::move(job)); }

  /** Sends a request until it is answered. Nothing comes when it is not wanted any more. */
  void send(AnyRequest request, SendOptions o, Answered done);
  /** Sends it until it is answered with an object. */
  template <class T> void ask(Request<T> request, SendOptions o, std::function<void(const Result<T>&)> done) {
    o.empty = false;
    send(std::move(request), std::move(o), [done](const Result<Json>& r) {
      Result<T> to;
      to.error = r.error;
      read(r.value, to.value);
      done(to);
    });
  }
  /** Learns who the player is, from the token. */
  void whoIs(Done done);

  /** Whatever is awaited is asked for anew, at once. */
  void wake() { epoch++; }

  Saved load() const;
  void save(const Saved& saved) const;
  /** Saves what follows from what was kept, unless another search has saved something since. */
  void replace(const Saved& kept, const Saved& saved) const;

  Options options;
  std::string base;
  /** What is wrong with the options. */
  Error error;
  Tokens tokens;
  std::string player;
  bool suspended = false;
  /** Changes when the app goes to the background, comes back, or the device slept. */
  int epoch = 0;
  const Life always = std::make_shared<bool>(true);
  /** By network, the oldest first. */
  std::vector<std::shared_ptr<Measurement>> measured;

 private:
  std::vector<std::shared_ptr<Job>> jobs_;
  bool pumping_ = false;
  /** By how much the wall clock is ahead of the steady one. */
  double ahead_ = 0;
};

/** One try of a request. */
class Exchange final : HttpListener {
 public:
  enum class State {
    Waiting,
    Token,
    Flying,
    // It is over:
    Answered,
    Offline,
    /** Nothing came for too long. */
    Late,
    /** It was ended, since the app went to the background or the device slept. */
    Interrupted,
    NoToken,
    TooLarge,
  };

  /** The first bytes of the body must come in `first`; each other ones in `next`. */
  Exchange(Connection& c, const AnyRequest& request, bool stream, double first, double next)
      : c_(c), request_(request), stream_(stream), first_(first), next_(next) {}
  ~Exchange() { end(state); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void step();
  bool over() const { return state >= State::Answered; }
  /** It is an open stream of events. */
  bool streams() const { return stream_ && status == 200 && header("content-type").rfind("text/event-stream", 0) == 0; }
  std::string header(const char* name) const;
  /** What went wrong; none if the answer is a success. */
  Error failure() const;
  bool json() const;
  /** It gets a game server's next token with the last one: the token's source may ask for it. */
  bool renews() const { return request_.path == "v1/servers/token" && !c_.tokens.token().empty(); }

  State state = State::Waiting;
  int status = 0;
  /** What came and was not taken. */
  std::string body;
  /** Something of the body came. */
  bool heard = false;

 private:
  void end(State how);
  void begin();
  void onHead(int code, Pairs headers) override;
  void onData(std::string_view bytes) override;
  void onEnd(const std::string& failure) override;

  Connection& c_;
  AnyRequest request_;
  bool stream_;
  double first_;
  double next_;
  double limit_ = 0;
  /** When all of the answer is due. */
  double end_ = 0;
  int epoch_ = 0;
  std::uint64_t id_ = 0;
  bool flying_ = false;
  std::string token_;
  std::string why_;
  Pairs headers_;
};

/** The claims of a JSON Web Token, without verifying it: that is the service's affair. */
Json claimsOf(const std::string& token);
std::string base64(std::string_view bytes);
/** A header can have the text, which is ASCII. */
bool printable(std::string_view text);
/** Nothing if it is not Base64, or Base64 for addresses. */
std::optional<std::string> fromBase64(std::string_view text);

/** What requests have of values. */
template <class Body> void carry(const Values& v, Body& body) {
  if (!v.attributes.empty()) body.attributes = v.attributes;
  std::map<std::string, std::string> properties;
  for (const auto& [name, bytes] : v.properties) properties[name] = base64(bytes);
  if (!v.latencies.empty()) properties["latency"] = base64(write(v.latencies).text());
  for (const auto& [name, value] : v.values) properties[name] = base64(value.text());
  if (!properties.empty()) body.properties = properties;
  if (!v.receipts.empty()) body.receipts = v.receipts;
}

/** Something that is followed until it ends. */
class Followed {
 public:
  virtual ~Followed() = default;
  /** The request for its events, behind the last one that is known. */
  virtual AnyRequest events(const std::optional<std::string>& last) = 0;
  /** Takes an event of the stream, and returns whether it was the last one. */
  virtual bool take(const std::string& event, const Json& data) = 0;
  /** Asks with a held request; `done` is told whether it has ended. */
  virtual void poll(const std::string& prefer, std::function<void(const Error&, bool ended)> done) = 0;
  /** It cannot be followed. */
  virtual void lost(const Error& error) = 0;
};

/** Tells of something until it ends, over connections that come and go. */
std::shared_ptr<Job> follow(Connection& c, std::shared_ptr<Followed> of, Life life);

/** Creates a ticket, or knows it: `done` is told which one. After `tries` it is not tried again. */
using Begin = std::function<void(Life life, Life tries, std::function<void(const Result<std::string>&)> done)>;
std::shared_ptr<Search> newSearch(const std::shared_ptr<Connection>& c, Begin begin, double timeout);
std::shared_ptr<Party> newParty(const std::shared_ptr<Connection>& c, const api::Party& party);

}  // namespace matchmaker
