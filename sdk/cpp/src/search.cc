#include <algorithm>

#include "connection.h"

namespace matchmaker {
namespace {

using State = Update::State;

class SearchJob final : public Search, public Job, public Followed, public std::enable_shared_from_this<SearchJob> {
 public:
  SearchJob(std::shared_ptr<Connection> c, double timeout) : c_(std::move(c)), until_(c_->steady() + timeout) {}

  void begin(const Begin& f) {
    const auto self = shared_from_this();
    f(life_, tries_, [self](const Result<std::string>& r) { self->created(r); });
  }

  // What the game calls.

  const Update& update() const override { return update_; }

  void onUpdate(std::function<void(const Update&)> f) override {
    on_ = std::move(f);
    unheard_ = true;
    again();
  }

  void cancel(std::function<void(const Cancelled&)> done) override {
    if (done) cancels_.push_back(std::move(done));
    *tries_ = false;
    if (cancelling_) return;
    cancelling_ = true;
    deleting_ = false;
    again();
  }

  void accept(Done done) override { answer(true, std::move(done)); }
  void decline(Done done) override { answer(false, std::move(done)); }

  void estimate(std::function<void(const Result<std::optional<api::Estimate>>&)> done) override {
    read(true, {}, c_->always, [done](const Result<api::Ticket>& r) { done({r.value.estimate, r.error}); });
  }

  void seat(std::function<void(const Result<std::string>&)> done) override {
    const auto self = shared_from_this();
    read(false, {}, c_->always, [self, done](const Result<api::Ticket>& r) {
      const auto& assignment = r.value.assignment;
      done({assignment ? self->matchOf(*assignment).seat : "", r.error});
    });
  }

  void abandon() override { *life_ = false; }

  // What is under way.

  bool step() override {
    if (unheard_) say();
    if (!*life_ && !known_) {
      created({"", Error::of(Code::Cancelled, "the following was ended")});
      createError_.unanswered = true;
    }
    if (!update_.ended() && *life_ && !late_ && c_->steady() > until_) {
      late_ = true;
      cancel(nullptr);
    }
    if (cancelling_ && known_ && !deleting_) remove();
    const bool over = (update_.ended() || !*life_) && !cancelling_ && !unheard_;
    if (over) running_ = false;
    return over;
  }

  AnyRequest events(const std::optional<std::string>& last) override {
    api::FollowTicketOptions o;
    o.lastEventId = last;
    return api::followTicket(id_, o);
  }

  void poll(const std::string& prefer, std::function<void(const Error&, bool)> done) override {
    look(true, prefer, life_, std::move(done));
  }

  void lost(const Error& error) override { fail(error); }

  /** Takes an event of the stream, or how the ticket is, and returns whether the search has ended. */
  bool take(const std::string& event, const Json& told) override {
    if (update_.ended()) return true;
    api::Ticket t;
    matchmaker::read(told, t);
    if (t.assignment) {
      assigned(*t.assignment);
    } else if (event == "ended") {
      std::string reason = "gone";
      matchmaker::read(told["reason"], reason);
      Error e = Error::of(Code::Ended, "the ticket ended: " + reason);
      e.reason = reason;
      if (cancelling_) {
        endCancelled();
      } else {
        fail(e);
      }
    } else if (t.acceptance) {
      offered(*t.acceptance);
    } else if (event == "matched") {
      tell(event, next(State::Preparing));
    } else if (event == "waiting" || event.empty()) {
      waits(t);
    }  // else it is an event of a later version
    return update_.ended();
  }

  void again() {
    if (running_) return;
    running_ = true;
    c_->add(shared_from_this());
  }

 private:
  using TicketRead = std::function<void(const Result<api::Ticket>&)>;

  void created(const Result<std::string>& r) {
    known_ = true;
    id_ = r.value;
    createError_ = r.error;
    if (update_.ended() || !*life_) return;
    if (!r.error) {
      c_->add(follow(*c_, shared_from_this(), life_));
    } else if (cancelling_ && !r.error.unanswered) {
      endCancelled();
    } else {
      fail(r.error);
    }
  }

  void remove() {
    deleting_ = true;
    if (createError_ && createError_.unanswered) return cancelled(createError_);  // there may be a ticket
    if (createError_ || update_.ended()) return cancelled({});
    api::DeleteTicketOptions o;
    o.unlessAssigned = true;
    const auto self = shared_from_this();
    Connection::SendOptions s;
    s.life = c_->always;
    c_->send(api::deleteTicket(id_, o), s, [self](const Result<Json>& r) {
      if (!r.error || self->update_.ended()) return self->cancelled({});
      if (!r.error.missing() && r.error.status != 409) return self->cancelled(r.error);
      self->look(false, {}, self->c_->always, [self, e = r.error](const Error& of, bool ended) {
        self->cancelled(of ? of : ended ? Error() : e);
      });
    });
  }

  /** Tells what became of a cancel. */
  void cancelled(const Error& e) {
    if (!e) {
      endCancelled();
    } else if (late_) {
      fail(e);
    }
    Cancelled c;
    c.error = e;
    if (!e && update_.state == State::Matched) c.late = update_.match;
    c.cancelled = !e && !c.late;
    cancelling_ = false;
    std::vector<std::function<void(const Cancelled&)>> all;
    all.swap(cancels_);
    for (const auto& done : all) done(c);
  }

  void answer(bool accept, Done done) {
    if (!done) done = [](const Error&) {};
    api::MatchAnswer body;
    body.match = update_.offer;
    body.accept = accept;
    Connection::SendOptions s;
    s.life = c_->always;
    if (update_.state != State::Offered) body.match.clear();  // the service says that no match asks
    c_->send(api::answerMatch(id_, body), s, [done](const Result<Json>& r) {
      // The try before, whose answer was lost, may have been the last answer of all: the updates tell.
      const bool over = r.error.unanswered && (r.error.missing() || r.error.status == 409);
      done(over ? Error() : r.error);
    });
  }

  void read(bool estimate, const std::string& prefer, const Life& life, TicketRead done) {
    api::GetTicketOptions o;
    o.id = id_;
    if (estimate) o.estimate = true;
    if (!prefer.empty()) o.prefer = prefer;
    Connection::SendOptions s;
    s.life = life;
    s.empty = false;
    const auto self = shared_from_this();
    c_->send(api::getTicket(o), s, [self, done](const Result<Json>& r) {
      self->told_ = r.value;
      Result<api::Ticket> to;
      to.error = r.error;
      matchmaker::read(r.value, to.value);
      done(to);
    });
  }

  /** Asks how the ticket is, and whether the search has ended. */
  void look(bool estimate, const std::string& prefer, const Life& life, std::function<void(const Error&, bool)> done) {
    const auto self = shared_from_this();
    read(estimate, prefer, life, [self, done](const Result<api::Ticket>& r) {
      if (r.error && !r.error.missing()) return done(r.error, false);
      done({}, r.error ? self->take("ended", Json::object()) : self->take("", Json(self->told_)));
    });
  }

  Update next(State state) const {
    Update u;
    u.state = state;
    u.ticket = id_;
    return u;
  }

  void waits(const api::Ticket& t) {
    Update u = next(State::Searching);
    u.unservedQueues = t.unservedQueues.value_or(std::vector<std::string>());
    u.estimate = t.estimate;
    if (!u.estimate && update_.state == State::Searching) u.estimate = update_.estimate;
    std::string what = u.estimate ? "waiting, estimated" : "waiting";
    for (const std::string& q : u.unservedQueues) what += " " + q;
    tell(what, u);
  }

  void offered(const api::Acceptance& a) {
    if (update_.state == State::Offered && update_.offer == a.match && update_.accepted > a.accepted) return;  // old
    Update u = next(State::Offered);
    u.offer = a.match;
    u.deadline = c_->wall() + static_cast<double>(a.remaining);
    u.players = a.players;
    u.accepted = a.accepted;
    const auto& open = a.unanswered;
    u.answered = !c_->player.empty() && std::find(open.begin(), open.end(), c_->player) == open.end();
    tell("offered " + a.match + " " + std::to_string(a.accepted), u);
  }

  void assigned(const api::Assignment& a) {
    if (!a.error.empty()) {
      Error e = Error::of(Code::Failed, "the match failed: " + a.error);
      e.detail = a.error;
      return fail(e);
    }
    Update u = next(State::Matched);
    u.match = matchOf(a);
    end(u);
  }

  Match matchOf(const api::Assignment& a) const {
    Match m;
    m.ticket = id_;
    m.connection = a.connection;
    if (a.seats) m.seats = *a.seats;
    const auto own = m.seats.find(c_->player);
    if (own != m.seats.end()) {
      m.seat = own->second;
    } else if (!m.seats.empty()) {
      m.seat = m.seats.begin()->second;
    }
    if (a.properties) m.properties = *a.properties;
    if (a.matchproperties) m.matchProperties = *a.matchproperties;
    return m;
  }

  /** Tells an update that is not told yet. */
  void tell(const std::string& what, const Update& u) {
    if (what == said_) return;
    said_ = what;
    change(u);
  }

  void change(const Update& u) {
    update_ = u;
    say();
  }

  void say() {
    unheard_ = false;
    const auto f = on_;
    if (update_.ended()) on_ = nullptr;  // it may have the search
    if (f) f(update_);
  }

  void endCancelled() {
    if (late_) return fail(Error::of(Code::Timeout, "the search took too long"));
    if (update_.ended()) return;
    end(next(State::Cancelled));
    c_->replace({id_, ""}, {});
  }

  void fail(const Error& e) {
    if (update_.ended()) return;
    Update u = next(State::Failed);
    u.error = e;
    end(u);
    if (e.code == Code::Ended || e.code == Code::Failed || e.code == Code::Timeout) c_->replace({id_, ""}, {});
  }

  void end(const Update& u) {
    if (update_.ended()) return;
    *life_ = false;
    *tries_ = false;
    change(u);
  }

  std::shared_ptr<Connection> c_;
  double until_;
  const Life life_ = std::make_shared<bool>(true);
  const Life tries_ = std::make_shared<bool>(true);
  Update update_;
  std::function<void(const Update&)> on_;
  /** The game was not told the update. */
  bool unheard_ = false;
  bool running_ = false;
  std::string said_;
  Json told_;
  std::string id_;
  Error createError_;
  /** There is a ticket, or there is none. */
  bool known_ = false;
  bool cancelling_ = false;
  bool deleting_ = false;
  bool late_ = false;
  std::vector<std::function<void(const Cancelled&)>> cancels_;
};

}  // namespace

std::shared_ptr<Search> newSearch(const std::shared_ptr<Connection>& c, Begin begin, double timeout) {
  const auto search = std::make_shared<SearchJob>(c, timeout);
  search->again();
  search->begin(begin);
  return search;
}

}  // namespace matchmaker
