#include "matchmaker/server.h"

#include <algorithm>

#include "connection.h"
#include "ed25519.h"

namespace matchmaker {
namespace {

/** The longest pause after failures, and for how long a ticket is remembered that the service tells of no more. */
constexpr double maxPause = 10'000;
constexpr double memory = 600'000;

class FillJob final : public Filler, public Job, public std::enable_shared_from_this<FillJob> {
 public:
  FillJob(std::shared_ptr<Connection> c, FillOptions o)
      : c_(std::move(c)), o_(std::move(o)), id_(o_.backfill), pause_(o_.every) {}

  void changed() override { changed_ = true; }

  void end(Done done) override {
    if (!ends_) ends_ = done ? done : [](const Error&) {};
  }

  bool step() override {
    if (busy_) return false;
    if (over_) return true;
    if (ends_) return last();
    const bool now = changed_ && c_->steady() >= soonest_;
    if (!now && c_->steady() < due_) return false;
    changed_ = false;
    if (id_.empty()) {
      create();
    } else {
      approve();
    }
    return false;
  }

 private:
  /** Deletes the backfill ticket: tickets that are still proposed go elsewhere. */
  bool last() {
    over_ = true;
    if (id_.empty()) {
      ends_({});
      return true;
    }
    const auto self = shared_from_this();
    send(api::deleteBackfill(id_), [self](const Result<Json>& r) { self->ends_(r.error); });
    return false;
  }

  void create() {
    const auto self = shared_from_this();
    send(api::createBackfill(o_.state()), [self](const Result<Json>& r) {
      self->settle(r.error);
      read(r.value["Id"], self->id_);
    });
  }

  void approve() {
    const auto self = shared_from_this();
    send(api::approveBackfill(id_), [self](const Result<Json>& r) {
      if (r.error.missing()) {
        // The service gave the game up while it could not be reached.
        self->id_.clear();
        if (!self->ends_) self->create();
        return;
      }
      self->settle(r.error);
      if (!r.error) self->approved(r.value);
    });
  }

  /** Lets in the players that joined, and says what has changed. */
  void approved(const Json& answer) {
    api::BackfillTicket t;
    read(answer, t);
    const double now = c_->steady();
    std::vector<api::Ticket> fresh;
    if (t.assignedTickets) {
      for (const api::Ticket& joined : *t.assignedTickets) {
        if (joined_.count(joined.id) == 0) fresh.push_back(joined);
        joined_[joined.id] = now;
      }
    }
    for (auto j = joined_.begin(); j != joined_.end();) j = now - j->second > memory ? joined_.erase(j) : std::next(j);
    if (!fresh.empty() && o_.join) o_.join(fresh);
    if (ends_) return;
    const api::BackfillRequest state = o_.state();
    Json body = answer;
    if (state.Connection && !state.Connection->empty()) body.set("Connection", *state.Connection);
    merge(body, "attributes", state.attributes);
    merge(body, "properties", state.properties);
    if (state.players) body.set("players", write(*state.players));
    if (body.text() == answer.text()) return;
    const auto self = shared_from_this();
    api::BackfillTicketUpdate update;
    read(body, update);
    send(api::putBackfill(id_, update), [self](const Result<Json>& r) { self->settle(r.error); });
  }

  template <class T> static void merge(Json& body, const char* name, const std::optional<std::map<std::string, T>>& of) {
    if (!of) return;
    Json values = body[name].is(Json::Kind::Object) ? body[name] : Json::object();
    for (const auto& [key, value] : *of) values.set(key, write(value));
    body.set(name, values);
  }

  void settle(const Error& e) {
    pause_ = e ? std::min(2 * pause_, maxPause) : o_.every;
    soonest_ = c_->steady() + o_.every / 10;
    due_ = c_->steady() + pause_;
    if (e && o_.failed) o_.failed(e);
  }

  void send(AnyRequest request, Connection::Answered done) {
    busy_ = true;
    Connection::SendOptions s;
    s.life = c_->always;
    const auto self = shared_from_this();
    c_->send(std::move(request), s, [self, done](const Result<Json>& r) {
      self->busy_ = false;
      done(r);
    });
  }

  std::shared_ptr<Connection> c_;
  FillOptions o_;
  std::string id_;
  double pause_;
  double due_ = 0;
  double soonest_ = 0;
  bool changed_ = false;
  bool busy_ = false;
  bool over_ = false;
  Done ends_;
  /** The tickets that `join` was called with, and when the service told of them last. */
  std::map<std::string, double> joined_;
};

/** How long keys are used before they are read again, and at all; the least time between two reads; and their bounds. */
constexpr double keysAge = 300'000;
constexpr double keysEnd = 86'400'000;
constexpr double keysPause = 10'000;
constexpr double keysTime = 10'000;
constexpr std::size_t maxKeys = 128;
constexpr std::size_t maxKeySet = 256 << 10;
constexpr std::size_t maxPass = 16 << 10;

class SeatsJob final : public Seats, public Job, HttpListener, public std::enable_shared_from_this<SeatsJob> {
 public:
  SeatsJob(std::shared_ptr<Connection> c, SeatOptions o) : c_(std::move(c)), o_(std::move(o)) {}
  ~SeatsJob() override { stop(); }

  void check(const std::string& pass, std::function<void(const Result<Seat>&)> done) override {
    waiting_.push_back({pass, std::move(done)});
    if (running_) return;
    running_ = true;
    c_->add(shared_from_this());
  }

  bool step() override {
    const double now = c_->steady();
    if (reading_ && now > limit_) finish("nothing came for too long");
    for (std::size_t n = waiting_.size(); n > 0 && !reading_; n--) {
      const Waiting w = waiting_.front();
      waiting_.erase(waiting_.begin());
      Seat seat;
      const std::string key = keyOf(w.pass, seat);
      const bool old = keys_.empty() || now - read_ > keysAge || (!key.empty() && keys_.count(key) == 0);
      if (seat.refused.empty() && old && (tried_ == 0 || now - tried_ > keysPause)) {
        waiting_.insert(waiting_.begin(), w);
        start();
        break;
      }
      if (now - read_ > keysEnd) keys_.clear();
      if (keys_.empty() && seat.refused.empty()) {
        w.done({{}, Error::of(Code::Offline, "the keys of seat passes cannot be read: " + failure_)});
        continue;
      }
      if (seat.refused.empty()) verify(w.pass, key, seat);
      if (!seat.refused.empty()) seat.player = seat.ticket = "";
      w.done({seat, {}});
    }
    running_ = reading_ || !waiting_.empty();
    return !running_;
  }

 private:
  struct Waiting {
    std::string pass;
    std::function<void(const Result<Seat>&)> done;
  };

  void start() {
    HttpRequest r;
    r.method = "GET";
    const std::string& url = c_->options.url;
    r.url = url.substr(0, url.find_last_not_of('/') + 1) + "/.well-known/seat-keys.json";
    body_.clear();
    status_ = 0;
    reading_ = true;
    tried_ = c_->steady();
    limit_ = tried_ + keysTime;
    id_ = c_->options.transport->start(r, *this);
  }

  void stop() {
    if (reading_) c_->options.transport->cancel(id_);
    reading_ = false;
  }

  void finish(const std::string& failure) {
    stop();
    failure_ = failure;
    if (!failure.empty()) return;
    const Json set = Json::parse(body_).value_or(Json());
    std::map<std::string, std::string> keys;
    for (const Json& k : set["keys"].items()) {
      const auto raw = fromBase64(k["x"].string());
      const bool good = k["kty"].string() == "OKP" && k["crv"].string() == "Ed25519" && raw && raw->size() == 32;
      if (good && keys.size() < maxKeys) keys[k["kid"].string()] = *raw;
    }
    keys.erase("");
    if (status_ != 200 || keys.empty()) {
      failure_ = "status " + std::to_string(status_) + ", and no key";
      return;
    }
    keys_ = keys;
    read_ = c_->steady();
  }

  void onHead(int status, Pairs) override { status_ = status; }
  void onData(std::string_view bytes) override {
    body_.append(bytes);
    if (body_.size() > maxKeySet) finish("the answer is too large");
  }
  void onEnd(const std::string& failure) override {
    reading_ = false;
    finish(failure);
  }

  /** The id of the key that a pass is signed with. */
  static std::string keyOf(const std::string& pass, Seat& seat) {
    const auto head = fromBase64(pass.substr(0, pass.find('.')));
    const Json header = (head ? Json::parse(*head) : std::nullopt).value_or(Json());
    const bool known = header["alg"].string() == "EdDSA" && header["crit"].is(Json::Kind::Null);
    if (pass.size() > maxPass || !known || header["kid"].string().empty()) seat.refused = "it is no seat pass";
    return header["kid"].string();
  }

  void verify(const std::string& pass, const std::string& key, Seat& seat) const {
    const auto of = keys_.find(key);
    const std::size_t dot = pass.rfind('.');
    const auto signature = fromBase64(std::string_view(pass).substr(dot + 1));
    if (of == keys_.end()) {
      seat.refused = "it is signed with an unknown key";
    } else if (!signature || !verifyEd25519(of->second, pass.substr(0, dot), *signature)) {
      seat.refused = "its signature is wrong";
    } else {
      const Json c = claimsOf(pass);
      const double now = c_->wall() / 1000;
      const double leeway = o_.leeway / 1000;
      seat.player = c["sub"].string();
      seat.ticket = c["ticket"].string();
      const Json& audience = c["aud"].is(Json::Kind::Array) && c["aud"].items().size() == 1 ? c["aud"].items()[0] : c["aud"];
      const std::string& backfill = c["backfill"].string();
      const std::string& match = c["match"].string();
      if (c["iss"].string() != "matchmaker-seats") seat.refused = "it has another issuer";
      if (audience.string() != "seat") seat.refused = "it is for another audience";
      if (!(now < c["exp"].number() + leeway)) seat.refused = "it has expired";
      if (c["iat"].number() > now + leeway) seat.refused = "it was issued in the future";
      if (seat.player.empty() || seat.ticket.empty()) seat.refused = "it names no player, or no ticket";
      if (c["project"].string() != c_->options.project) seat.refused = "it is for another project";
      if (!backfill.empty() && backfill != o_.backfill) seat.refused = "it is for another backfill ticket";
      if (backfill.empty() && (match.empty() || match != o_.match)) seat.refused = "it is for another match";
      const bool elsewhere = !o_.connection.empty() && c["connection"].string() != o_.connection;
      if (elsewhere) seat.refused = "it is for another server";
    }
  }

  std::shared_ptr<Connection> c_;
  SeatOptions o_;
  std::vector<Waiting> waiting_;
  std::map<std::string, std::string> keys_;
  double read_ = 0;
  double tried_ = 0;
  double limit_ = 0;
  std::string failure_;
  std::string body_;
  int status_ = 0;
  std::uint64_t id_ = 0;
  bool running_ = false;
  bool reading_ = false;
};

}  // namespace

std::shared_ptr<Filler> fill(Matchmaker& matchmaker, FillOptions o) {
  const auto& c = matchmaker.connection();
  const auto job = std::make_shared<FillJob>(c, std::move(o));
  c->add(job);
  return job;
}

std::shared_ptr<Seats> seats(Matchmaker& matchmaker, SeatOptions o) {
  return std::make_shared<SeatsJob>(matchmaker.connection(), std::move(o));
}

}  // namespace matchmaker
