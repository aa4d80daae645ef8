#include "connection.h"

namespace matchmaker {
namespace {

using State = PartyUpdate::State;

class PartyJob final : public Party, public Job, public Followed, public std::enable_shared_from_this<PartyJob> {
 public:
  PartyJob(std::shared_ptr<Connection> c, const api::Party& party) : c_(std::move(c)) { update_.party = party; }

  void begin() {
    running_ = true;
    c_->add(shared_from_this());
    c_->add(follow(*c_, shared_from_this(), life_));
    unheard_ = true;
    if (searched()) tell(State::Search);
  }

  const api::Party& state() const override { return update_.party; }
  std::shared_ptr<Search> search() const override { return search_; }
  bool leads() const override { return state().leader == c_->player; }

  void onUpdate(std::function<void(const PartyUpdate&)> f) override {
    on_ = std::move(f);
    unheard_ = true;
    if (running_) return;
    running_ = true;
    c_->add(shared_from_this());
  }

  void update(const MemberOptions& o, Done done) override {
    api::PartyMembership body;
    carry(o, body);
    body.ready = o.ready;
    change(api::updatePartyMember(state().id, c_->player, body), std::move(done));
  }

  void start(const SearchOptions& o, Done done) override {
    api::StartPartySearch body;
    api::CreateTicket carried;
    carry(o, carried);
    body.attributes = carried.attributes;
    body.properties = carried.properties;
    if (!o.queues.empty()) body.queues = o.queues;
    change(api::startPartySearch(state().id, body), std::move(done));
  }

  void stop(Done done) override { change(api::stopPartySearch(state().id), std::move(done)); }
  void renewCode(Done done) override { change(api::renewPartyCode(state().id), std::move(done)); }
  void kick(const std::string& player, Done done) override {
    change(api::leaveParty(state().id, player), std::move(done));
  }

  void promote(const std::string& player, Done done) override {
    api::SetPartyLeader body;
    body.player = player;
    change(api::setPartyLeader(state().id, body), std::move(done));
  }

  void leave(Done done) override { goAway(api::leaveParty(state().id, c_->player), "left", std::move(done)); }
  void disband(Done done) override { goAway(api::disbandParty(state().id), "disbanded", std::move(done)); }

  bool step() override {
    if (unheard_ && on_) {
      const State last = update_.state;
      if (last == State::Search) {
        update_.state = State::Party;
        say();
      }
      update_.state = last;
      say();
    }
    running_ = *life_;
    return !running_;
  }

  AnyRequest events(const std::optional<std::string>& last) override {
    api::FollowPartyOptions o;
    o.lastEventId = last;
    return api::followParty(state().id, o);
  }

  bool take(const std::string& event, const Json& data) override {
    if (event == "party") {
      see(data);
    } else if (event == "ended") {
      std::string reason = "gone";
      read(data["reason"], reason);
      end(reason);
    }
    return !*life_;
  }

  void poll(const std::string& prefer, std::function<void(const Error&, bool)> done) override {
    api::GetPartyOptions o;
    o.ifNoneMatch = "\"" + std::to_string(state().revision) + "\"";
    o.prefer = prefer;
    Connection::SendOptions s;
    s.life = life_;
    s.unchanged = true;
    const auto self = shared_from_this();
    c_->send(api::getParty(state().id, o), s, [self, done](const Result<Json>& r) {
      if (r.error && !r.error.missing()) return done(r.error, false);
      if (r.error && !self->leaving_) self->end("gone");
      if (!r.error) self->see(r.value);
      done({}, !*self->life_);
    });
  }

  void lost(const Error& error) override { end("gone", error); }

 private:
  Connection::SendOptions always() const {
    Connection::SendOptions s;
    s.life = c_->always;
    return s;
  }

  /** Sends a request that is answered with the party. */
  void change(AnyRequest request, Done done) {
    const auto self = shared_from_this();
    c_->send(std::move(request), always(), [self, done](const Result<Json>& r) {
      if (!r.error) self->see(r.value);
      if (done) done(r.error);
    });
  }

  void goAway(AnyRequest request, const std::string& reason, Done done) {
    leaving_ = true;
    const auto self = shared_from_this();
    c_->send(std::move(request), always(), [self, reason, done](const Result<Json>& r) {
      const bool failed = r.error && !r.error.missing();
      self->leaving_ = false;
      if (!failed) self->end(reason);
      if (done) done(failed ? r.error : Error());
    });
  }

  /** Learns how the party is. What is older than what is known is left out. */
  void see(const Json& told) {
    if (!*life_ || !told["revision"].is(Json::Kind::Number)) return;
    api::Party party;
    read(told, party);
    const std::int64_t known = state().revision;
    if (party.revision < known) return;
    update_.party = party;
    const bool begun = searched();  // so that the game does not begin another search when it is told of the party
    if (party.revision > known) tell(State::Party);
    if (begun) tell(State::Search);
  }

  /** Follows the party's search, and returns whether it is another one. */
  bool searched() {
    const auto& search = state().search;
    const std::string ticket = search ? search->ticket : "";
    if (ticket == ticket_) return false;
    ticket_ = ticket;
    search_.reset();
    if (ticket.empty()) return false;
    const auto c = c_;
    search_ = newSearch(
        c_,
        [c, ticket](const Life&, const Life&, const std::function<void(const Result<std::string>&)>& done) {
          c->save({ticket, ""});
          done({ticket, {}});
        },
        SearchOptions().timeout);
    return true;
  }

  void end(const std::string& reason, const Error& error = {}) {
    if (!*life_) return;
    *life_ = false;
    update_.reason = reason;
    update_.error = error;
    tell(State::Left);
  }

  void tell(State state) {
    update_.state = state;
    update_.search = state == State::Search ? search_ : nullptr;
    say();
  }

  void say() {
    unheard_ = !on_;
    const auto f = on_;
    if (update_.state == State::Left) on_ = nullptr;  // it may have the party
    if (f) f(update_);
  }

  std::shared_ptr<Connection> c_;
  const Life life_ = std::make_shared<bool>(true);
  PartyUpdate update_;
  std::function<void(const PartyUpdate&)> on_;
  bool unheard_ = false;
  bool running_ = false;
  bool leaving_ = false;
  std::string ticket_;
  std::shared_ptr<Search> search_;
};

}  // namespace

std::shared_ptr<Party> newParty(const std::shared_ptr<Connection>& c, const api::Party& party) {
  const auto made = std::make_shared<PartyJob>(c, party);
  made->begin();
  return made;
}

}  // namespace matchmaker
