#include "connection.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>

namespace matchmaker {
namespace {

/** How often a request is sent again. */
constexpr int maxTries = 5;
/** When so much more time passed than the steady clock shows, the device slept. */
constexpr double slept = 60'000;

Code codeOf(int status) {
  switch (status) {
    case 401:
      return Code::Token;
    case 403:
      return Code::Forbidden;
    case 404:
      return Code::NotFound;
    case 409:
    case 412:
      return Code::Conflict;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code::Busy;
    default:
      return status >= 400 && status < 500 ? Code::Invalid : Code::Unexpected;
  }
}

/** The Unix time in ms of a date like "Wed, 02 Jan 2030 07:00:08 GMT". */
std::optional<double> date(const std::string& text) {
  char month[4] = "";
  int day = 0, year = 0, hour = 0, minute = 0, second = 0;
  if (std::sscanf(text.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d", &day, month, &year, &hour, &minute, &second) != 6) return {};
  const std::string months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::size_t m = months.find(month);
  if (m == std::string::npos || m % 3 != 0 || year < 1970 || year > 9999) return {};
  // Days since 1970, with years that begin in March.
  const int shifted = static_cast<int>(m / 3 + 10) % 12;
  const int y = year - (shifted >= 10 ? 1 : 0);
  const double days = 365.0 * y + y / 4 - y / 100 + y / 400 + (shifted * 306 + 5) / 10 + (day - 1) - 719468.0;
  return ((days * 24 + hour) * 60 + minute) * 60'000 + second * 1000.0;
}

/** Retry-After in milliseconds: seconds, or a date that counts from the answer's own. */
std::optional<double> retryAfter(const std::string& value, const std::string& answered, double now) {
  double ms = 0;
  if (!value.empty() && value.size() < 10 && value.find_first_not_of("0123456789") == std::string::npos) {
    ms = std::atof(value.c_str()) * 1000;
  } else if (const auto at = date(value)) {
    ms = *at - date(answered).value_or(now);
  }
  if (ms > 0) return ms;
  return {};
}

/** The header with a player's id. */
constexpr std::string_view actsFor = "X-On-Behalf-Of";

/** A header as it is sent. A player's id is as in RFC 8187 if it is not ASCII, or looks like that. */
Pairs::value_type sent(std::string_view name, const std::string& value) {
  if (name != actsFor) return {std::string(name), value};
  std::string form = value.substr(0, 6);
  for (char& c : form) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return {std::string(name), form != "UTF-8'" && printable(value) ? value : "UTF-8''" + escaped(value)};
}

/** Sends a request until it is answered. */
class Sending final : public Job {
 public:
  Sending(Connection& c, AnyRequest request, Connection::SendOptions o, Connection::Answered done)
      : c_(c), request_(std::move(request)), o_(std::move(o)), done_(std::move(done)) {
    begin();
  }

  bool step() override {
    while (o_.life == nullptr || *o_.life) {
      if (waits_) {
        if (!enough() && c_.steady() < until_ && epoch_ == c_.epoch) return false;
        waits_ = false;
        if (enough()) return fail(error_);
        begin();
      }
      exchange_->step();
      if (!exchange_->over()) return false;
      if (exchange_->state == Exchange::State::Interrupted) {
        lost_ = true;
        begin();
        continue;
      }
      if (o_.unchanged && exchange_->status == 304) return succeed({});
      error_ = exchange_->failure();
      if (!error_) return answer();
      if (error_.missing() && lost_ && request_.method == "DELETE") return succeed({});  // the try before deleted it
      lost_ = lost_ || error_.code == Code::Offline || error_.status >= 500;
      error_.unanswered = lost_;
      if (error_.status == 401 && !refused_ && !exchange_->renews()) {
        refused_ = true;
        begin();  // with another token
        continue;
      }
      const double wait = error_.retryAfter.value_or(c_.backoff(tries_ + 1));
      const bool passes = error_.code == Code::Busy || error_.code == Code::Offline;
      const bool again = error_.status == 429 || (request_.repeatable && passes);
      if (!again || ++tries_ > maxTries || wait > maxWait) return fail(error_);
      waits_ = true;
      until_ = c_.steady() + wait;
      epoch_ = c_.epoch;
    }
    return true;
  }

 private:
  void begin() { exchange_ = std::make_unique<Exchange>(c_, request_, false, stall, stall); }
  bool enough() const { return o_.tries && !*o_.tries; }

  bool answer() {
    std::optional<Json> body;
    if (exchange_->json()) body = Json::parse(exchange_->body);
    const bool none = exchange_->body.empty();
    const bool object = body && body->is(Json::Kind::Object);
    if ((none && o_.empty) || object) return succeed(body ? *body : Json());
    Error e = Error::of(Code::Unexpected, request_.method + " /" + request_.path + ": the answer is not the service's");
    e.unanswered = lost_;
    return fail(e);
  }

  bool succeed(Json body) {
    done_({std::move(body), {}});
    return true;
  }
  bool fail(const Error& e) {
    done_({{}, e});
    return true;
  }

  Connection& c_;
  AnyRequest request_;
  Connection::SendOptions o_;
  Connection::Answered done_;
  std::unique_ptr<Exchange> exchange_;
  Error error_;
  int tries_ = 0;
  bool lost_ = false;
  bool refused_ = false;
  bool waits_ = false;
  double until_ = 0;
  int epoch_ = 0;
};

/** Waits for a token. */
class WhoIs final : public Job {
 public:
  WhoIs(Connection& c, Done done) : c_(c), done_(std::move(done)) { c.tokens.want(); }

  bool step() override {
    const Tokens::State state = c_.tokens.state();
    if (state == Tokens::State::Pending) return false;
    if (state == Tokens::State::Good && c_.player.empty()) read(claimsOf(c_.tokens.token())["sub"], c_.player);
    done_(state == Tokens::State::Good ? Error() : c_.tokens.error());
    return true;
  }

 private:
  Connection& c_;
  Done done_;
};

const char base64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

double milliseconds(std::chrono::nanoseconds since) { return static_cast<double>(since.count()) / 1e6; }

}  // namespace

std::string escaped(const std::string& text) {
  static const char hex[] = "0123456789ABCDEF";
  std::string to;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || ((byte | 32) >= 'a' && (byte | 32) <= 'z') ||
                       (byte != 0 && std::string_view("-._~").find(c) != std::string_view::npos);
    if (plain) {
      to += c;
    } else {
      to += '%';
      to += hex[byte >> 4];
      to += hex[byte & 15];
    }
  }
  return to;
}

std::string segment(const std::string& value) { return value == "." || value == ".." ? "" : escaped(value); }

std::string base64(std::string_view bytes) {
  std::string to;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; k++) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; k++) to += i + k > bytes.size() ? '=' : base64Digits[group >> (18 - 6 * k) & 63];
  }
  return to;
}

std::optional<std::string> fromBase64(std::string_view text) {
  std::string to;
  unsigned group = 0;
  int bits = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (char c : text) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
    const std::size_t digit = std::string_view(base64Digits).find(c);
    if (digit == std::string_view::npos) return {};
    group = (group << 6 | static_cast<unsigned>(digit)) & 0xFFFFFF;
    if ((bits += 6) < 8) continue;
    bits -= 8;
    to += static_cast<char>(group >> bits & 0xFF);
  }
  return to;
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

Json claimsOf(const std::string& token) {
  const std::size_t first = token.find('.');
  const std::size_t second = token.find('.', first + 1);
  if (first == std::string::npos || second == std::string::npos) return {};
  const auto text = fromBase64(std::string_view(token).substr(first + 1, second - first - 1));
  return (text ? Json::parse(*text) : std::nullopt).value_or(Json());
}

// Tokens.

void Tokens::want() {
  if (asking_) settle();
  if (asking_) return;
  failed_ = false;
  if (!token_.empty() && !refused_ && clock_.wall() < due_) return;
  why_ = token_.empty() ? Why::First : refused_ ? Why::Refused : Why::Expiring;
  const auto asking = std::make_shared<Asking>();
  asking_ = asking;
  patience_ = clock_.steady() + 30'000;
  source_(why_, [asking](Token t) {
    if (asking->answered) return;
    asking->answered = true;
    asking->token = std::move(t);
  });
}

Tokens::State Tokens::state() {
  if (asking_) settle();
  if (asking_) return State::Pending;
  return failed_ ? State::Failed : State::Good;
}

void Tokens::settle() {
  const bool late = clock_.steady() > patience_;
  if (!asking_->answered && !late) return;
  std::string token = asking_->token.token;
  std::string why = late && !asking_->answered ? "its source takes too long" : asking_->token.error;
  asking_.reset();
  token.erase(token.find_last_not_of(" \r\n\t") + 1);
  token.erase(0, token.find_first_not_of(" \r\n\t"));
  if (!printable(token)) {
    token.clear();
    why = "no header can have it";
  }
  if (!token.empty()) {
    keep(token);
    return;
  }
  const double now = clock_.wall();
  if (why_ == Why::Expiring && now < ends_) {
    due_ = now + (ends_ - now) / 3;  // the last one is good still; not again at each request
    return;
  }
  failed_ = true;
  error_ = Error::of(Code::Token, "no token: " + (why.empty() ? "it is empty" : why));
}

void Tokens::keep(const std::string& token) {
  const Json claims = claimsOf(token);
  const double now = clock_.wall();
  token_ = token;
  refused_ = false;
  due_ = ends_ = INFINITY;
  if (!claims["exp"].is(Json::Kind::Number)) return;
  // Its own times say how long it lives: clocks of different hosts are not compared.
  const Json& since = claims["iat"];
  const double from = since.is(Json::Kind::Number) ? since.number() : now / 1000;
  const double life = (claims["exp"].number() - from) * 1000;
  if (!(life > 0)) return;
  due_ = now + life * 2 / 3;
  ends_ = now + life;
}

// Exchange.

void Exchange::step() {
  if (over()) return;
  if (state == State::Waiting) {
    if (c_.suspended) return;
    epoch_ = c_.epoch;
    limit_ = c_.steady() + first_;
    end_ = stream_ ? INFINITY : c_.steady() + whole;
    if (!renews()) c_.tokens.want();
    state = State::Token;
  }
  if (request_.repeatable && epoch_ != c_.epoch) return end(State::Interrupted);
  if (c_.steady() > limit_) return end(State::Late);
  if (state != State::Token) return;
  if (renews()) return begin();
  switch (c_.tokens.state()) {
    case Tokens::State::Pending:
      return;
    case Tokens::State::Failed:
      return end(State::NoToken);
    case Tokens::State::Good:
      begin();
  }
}

void Exchange::begin() {
  HttpRequest r;
  r.method = request_.method;
  r.url = c_.base + request_.path;
  const char* separator = "?";
  for (const auto& [name, value] : request_.query) {
    r.url += separator + name + "=" + escaped(value);
    separator = "&";
  }
  token_ = c_.tokens.token();
  r.headers.emplace_back("Accept", stream_ ? "text/event-stream, application/problem+json"
                                           : "application/json, application/problem+json");
  r.headers.emplace_back("Authorization", "Bearer " + token_);
  const bool namesPlayer = std::any_of(request_.headers.begin(), request_.headers.end(),
                                       [](const auto& h) { return h.first == actsFor; });
  if (!namesPlayer && !c_.options.player.empty()) r.headers.push_back(sent(actsFor, c_.options.player));
  for (const auto& [name, value] : request_.headers) r.headers.push_back(sent(name, value));
  if (!request_.body.empty()) r.headers.emplace_back("Content-Type", "application/json");
  r.body = request_.body;
  state = State::Flying;
  flying_ = true;
  id_ = c_.options.transport->start(r, *this);
}

void Exchange::end(State how) {
  state = how;
  if (flying_) c_.options.transport->cancel(id_);
  flying_ = false;
}

void Exchange::onHead(int code, Pairs headers) {
  status = code;
  headers_ = std::move(headers);
  if (!streams()) end_ = std::min(end_, c_.steady() + whole);  // an error's answer may not go on for ever
  if (status == 401) c_.tokens.refuse(token_);
}

void Exchange::onData(std::string_view bytes) {
  heard = true;
  limit_ = std::min(c_.steady() + next_, end_);
  body.append(bytes);
  if (body.size() > maxAnswer) end(State::TooLarge);
}

void Exchange::onEnd(const std::string& failure) {
  flying_ = false;
  why_ = failure;
  state = failure.empty() && status != 0 ? State::Answered : State::Offline;
}

std::string Exchange::header(const char* name) const {
  for (const auto& [known, value] : headers_) {
    if (known == name) return value;
  }
  return "";
}

bool Exchange::json() const {
  const std::string type = header("content-type");
  const std::string kind = type.substr(0, type.find(';'));
  const bool plus = kind.size() > 5 && kind.compare(kind.size() - 5, 5, "+json") == 0;
  return kind.rfind("application/", 0) == 0 && (plus || kind == "application/json");
}

Error Exchange::failure() const {
  const std::string what = request_.method + " /" + request_.path + ": ";  // no query, which may name players
  if (state == State::NoToken) return c_.tokens.error();
  if (state == State::TooLarge) return Error::of(Code::Unexpected, what + "the answer is too large");
  if (state == State::Late) return Error::of(Code::Offline, what + "nothing came for too long");
  if (state == State::Offline) return Error::of(Code::Offline, what + why_);
  if (status >= 200 && status <= 299 && !stream_) return {};
  Error e = Error::of(codeOf(status), what + std::to_string(status));
  e.status = status;
  if (json()) {
    // A proxy may have written it, so no body is too odd.
    const Json problem = Json::parse(body).value_or(Json());
    read(problem["detail"], e.detail);
    read(problem["code"], e.problem);
    if (!e.detail.empty()) e.message += ": " + e.detail;
  }
  e.correlationId = header("x-correlation-id");
  e.retryAfter = retryAfter(header("retry-after"), header("date"), c_.wall());
  return e;
}

// Connection.

Connection::Connection(Options o) : options(std::move(o)), tokens(options.token, options.clock), player(options.player) {
  if (!options.clock.wall) {
    options.clock.wall = [] { return milliseconds(std::chrono::system_clock::now().time_since_epoch()); };
  }
  if (!options.clock.steady) {
    options.clock.steady = [] { return milliseconds(std::chrono::steady_clock::now().time_since_epoch()); };
  }
  if (!options.random) {
    const auto engine = std::make_shared<std::mt19937_64>(std::random_device{}());
    options.random = [engine] { return static_cast<double>((*engine)() >> 11) * 0x1p-53; };
  }
  std::string url = options.url;
  while (!url.empty() && url.back() == '/') url.pop_back();
  const bool http = url.rfind("http://", 0) == 0 || url.rfind("https://", 0) == 0;
  if (!http || url.find_first_of("?#@ ") != std::string::npos) {
    error = Error::of(Code::Invalid, "url must be like https://matchmaker.example");
  } else if (segment(options.project).empty()) {
    error = Error::of(Code::Invalid, "project is missing");
  } else if (!options.token || options.transport == nullptr) {
    error = Error::of(Code::Invalid, "token and transport are required");
  }
  base = url + "/" + segment(options.project) + "/matchmaking/api/";
  ahead_ = wall() - steady();
}

double Connection::backoff(int n) const { return (std::ldexp(1, n) + n * (2 * random() - 1)) * 1000; }

void Connection::pump(int wait) {
  if (pumping_) return;  // a callback called it
  pumping_ = true;
  if (error) {
    // What was begun ends with the error.
  } else if (options.transport != nullptr) {
    options.transport->pump(wait);
  }
  const double ahead = wall() - steady();
  if (ahead - ahead_ > slept) wake();
  ahead_ = ahead;
  for (std::size_t i = 0; i < jobs_.size();) {
    const std::shared_ptr<Job> job = jobs_[i];  // it may add others, and end all
    if (!job->step()) {
      i++;
    } else if (i < jobs_.size() && jobs_[i] == job) {
      jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  pumping_ = false;
}

void Connection::send(AnyRequest request, SendOptions o, Answered done) {
  Error wrong = error;
  const bool cut = request.path.find("//") != std::string::npos || request.path.back() == '/';
  if (!wrong && cut) wrong = Error::of(Code::Invalid, "an id in the path of the request is empty");
  class Refused final : public Job {
   public:
    Refused(Error e, Answered done) : error_(std::move(e)), done_(std::move(done)) {}
    bool step() override {
      done_({{}, error_});
      return true;
    }

   private:
    Error error_;
    Answered done_;
  };
  if (wrong) return add(std::make_shared<Refused>(wrong, std::move(done)));
  add(std::make_shared<Sending>(*this, std::move(request), std::move(o), std::move(done)));
}

void Connection::whoIs(Done done) {
  if (!error) return add(std::make_shared<WhoIs>(*this, std::move(done)));
  send({"GET", "v1", false, {}, {}, {}}, {}, [done](const Result<Json>& r) { done(r.error); });
}

Saved Connection::load() const {
  Saved saved;
  if (options.storage == nullptr) return saved;
  const Json kept = Json::parse(options.storage->load()).value_or(Json());
  read(kept["ticket"], saved.ticket);
  read(kept["key"], saved.key);
  return saved;
}

void Connection::save(const Saved& saved) const {
  if (options.storage == nullptr) return;
  Json kept = Json::object();
  if (!saved.ticket.empty()) kept.set("ticket", saved.ticket);
  if (!saved.key.empty()) kept.set("key", saved.key);
  options.storage->save(kept.members().empty() ? "" : kept.text());
}

void Connection::replace(const Saved& kept, const Saved& saved) const {
  const Saved now = load();
  if (now.ticket == kept.ticket && now.key == kept.key) save(saved);
}

}  // namespace matchmaker
