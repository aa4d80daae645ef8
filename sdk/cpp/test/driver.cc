// The driver of the conformance programme: ../../conformance/PROTOCOL.md says what it reads and writes.
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "matchmaker/server.h"

using namespace matchmaker;

namespace {

void say(const char* event, Json members = Json::object()) {
  Json line = Json::object();
  line.set("event", event);
  for (const Json::Member& m : members.members()) line.set(m.name, m.value);
  std::printf("%s\n", line.text().c_str());
  std::fflush(stdout);
}

void sayError(const Error& e) {
  if (e) say("error", Json::object().set("code", name(e.code)).set("player", e.playerMessage()));
}

void sayMatched(const Match& m) {
  Json of = Json::object().set("ticket", m.ticket).set("connection", m.connection);
  if (!m.seat.empty()) of.set("seat", m.seat);
  say("matched", of);
}

Json estimateOf(const std::optional<api::Estimate>& e) { return e ? write(*e) : Json::object(); }

double systemTime() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since).count();
}

#ifdef DRIVER_TRANSPORT
}  // namespace
std::unique_ptr<matchmaker::Transport> DRIVER_TRANSPORT();
std::shared_ptr<matchmaker::Udp> DRIVER_UDP();
namespace {
#endif

class Driver {
 public:
  /** Returns whether input may come. */
  bool read() {
    pollfd in{0, POLLIN, 0};
    while (poll(&in, 1, 0) > 0) {
      char part[4096];
      const ssize_t n = ::read(0, part, sizeof part);
      if (n <= 0) return false;
      text_.append(part, static_cast<std::size_t>(n));
      for (std::size_t end; (end = text_.find('\n')) != std::string::npos;) {
        const std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        run(Json::parse(line).value_or(Json()));
      }
    }
    return true;
  }

  void pump() {
    if (matchmaker_) {
#ifdef DRIVER_TRANSPORT
      usleep(2000);  // a frame
#endif
      look_();
      matchmaker_->pump(2);
    } else {
      pollfd in{0, POLLIN, 0};
      poll(&in, 1, 50);
    }
  }

 private:
  static Values values(const Json& c) {
    Values v;
    matchmaker::read(c["attributes"], v.attributes);
    return v;
  }

  SearchOptions searchOptions(const Json& c) const {
    SearchOptions o;
    static_cast<Values&>(o) = values(c);
    matchmaker::read(c["queues"], o.queues);
    if (c["measured"].boolean()) o.receipts = receipts_;
    return o;
  }

  void start(const Json& c) {
    const double scale = c["scale"].number() > 0 ? c["scale"].number() : 1;
    const double epoch = c["epoch"].number() > 0 ? c["epoch"].number() : systemTime();
    const double wrong = c["clock"].number();
    look_ = [=] { now_ = epoch + (systemTime() - epoch) / scale + wrong; };
    look_();
#ifdef DRIVER_TRANSPORT
    transport_ = DRIVER_TRANSPORT();
    const auto udp = DRIVER_UDP();
#else
    transport_ = curlTransport();
    const auto udp = systemUdp();
#endif
    Options o;
    o.url = c["url"].string();
    o.project = c["project"].string();
    o.player = c["for"].string();
    o.token = [this](Why why, std::function<void(Token)> reply) {
      const char* reasons[] = {"first", "expiring", "refused"};
      reply_ = std::move(reply);
      say("token", Json::object().set("reason", reasons[static_cast<int>(why)]));
    };
    o.transport = transport_.get();
    o.clock = {[this] { return now_; }, [this] { return now_; }};
    o.udp = udp;
    if (!c["storage"].string().empty()) {
      storage_ = fileStorage(c["storage"].string() + "/search");
      o.storage = storage_.get();
    }
    matchmaker_ = std::make_unique<Matchmaker>(o);
    Json can = Json::array();
    can.add(Json("player"));
    can.add(Json("party"));
    can.add(Json("server"));
    can.add(Json("seats"));
    can.add(Json("measure"));
    can.add(Json("heads"));
    can.add(Json("values"));
    can.add(Json("acts"));
#ifndef DRIVER_TRANSPORT  // Unreal's follows them
    can.add(Json("redirects"));
#endif
    server_.match = c["match"].string();
    server_.backfill = c["backfill"].string();
    server_.connection = c["connection"].string();
    say("ready", Json::object().set("language", "C++").set("can", can));
  }

  void follow(std::shared_ptr<Search> of) {
    search_ = std::move(of);
    search_->onUpdate([this](const Update& u) { told(u); });
  }

  void told(const Update& u) {
    switch (u.state) {
      case Update::State::Starting:
      case Update::State::Preparing:
        break;
      case Update::State::Searching: {
        Json of = Json::object().set("ticket", u.ticket);
        if (u.estimate) of.set("estimate", estimateOf(u.estimate));
        say("searching", of);
        break;
      }
      case Update::State::Offered:
        say("offered", Json::object()
                           .set("match", u.offer)
                           .set("remaining", Json(std::round(u.deadline - now_)))
                           .set("players", Json(u.players))
                           .set("accepted", Json(u.accepted)));
        break;
      case Update::State::Matched:
        if (!cancelling_) sayMatched(u.match);
        break;
      case Update::State::Cancelled:
        say("cancelled");
        break;
      case Update::State::Failed:
        if (u.error.code == Code::Ended) {
          say("failed", Json::object().set("reason", u.error.reason));
        } else if (u.error.code == Code::Failed) {
          say("failed", Json::object().set("reason", "assignment").set("detail", u.error.detail));
        } else {
          sayError(u.error);
        }
    }
  }

  void follow(const Result<std::shared_ptr<Party>>& r) {
    if (!r) return sayError(r.error);
    party_ = r.value;
    party_->onUpdate([this](const PartyUpdate& u) {
      if (u.state == PartyUpdate::State::Party) {
        Json members = Json::array();
        for (const api::PartyMember& m : u.party.members) {
          members.add(Json::object().set("id", m.id).set("ready", Json(m.ready)));
        }
        say("party", Json::object()
                         .set("code", u.party.code)
                         .set("leader", u.party.leader)
                         .set("members", members)
                         .set("revision", Json(u.party.revision)));
      } else if (u.state == PartyUpdate::State::Search) {
        follow(u.search);
      } else if (u.error) {
        sayError(u.error);
      } else {
        say("left", Json::object().set("reason", u.reason));
      }
    });
  }

  void cancel() {
    cancelling_ = true;
    search_->cancel([this](const Cancelled& c) {
      cancelling_ = false;
      sayError(c.error);
      if (!c.late) return;
      say("late");
      sayMatched(*c.late);
    });
  }

  void fillGame(const Json& c) {
    open_ = c["open"].number();
    if (filler_) return filler_->changed();
    FillOptions o;
    o.backfill = server_.backfill;
    o.join = [](const std::vector<api::Ticket>& tickets) {
      Json ids = Json::array();
      for (const api::Ticket& t : tickets) ids.add(Json(t.id));
      say("joined", Json::object().set("tickets", ids));
    };
    o.state = [this, connection = c["connection"].string()] {
      api::BackfillRequest r;
      r.Connection = connection;
      r.attributes = {{"open", open_}};
      return r;
    };
    o.failed = sayError;
    filler_ = fill(*matchmaker_, o);
  }

  void checkSeat(const Json& c) {
    if (!seats_) seats_ = seats(*matchmaker_, server_);
    seats_->check(c["pass"].string(), [](const Result<Seat>& r) {
      if (!r) return sayError(r.error);
      const Seat& s = r.value;
      say("seat", Json::object().set("ok", Json(s.refused.empty())).set("player", s.player).set("ticket", s.ticket));
    });
  }

  void measure(const Json& c) {
    MeasureOptions o;
    o.network = c["network"].string();
    o.probes = static_cast<int>(c["probes"].number());
    o.timeout = c["timeout"].number();
    matchmaker_->measure(o, [this](const Result<std::vector<Latency>>& r) {
      if (!r) return sayError(r.error);
      receipts_ = receipts(r.value);
      Json regions = Json::array();
      for (const Latency& l : r.value) {
        Json of = Json::object().set("region", l.region).set("sent", Json(l.sent)).set("lost", Json(l.lost));
        if (l.rtt) of.set("rtt", Json(*l.rtt));
        regions.add(of.set("receipts", write(l.receipts)));
      }
      say("latencies", Json::object().set("regions", regions));
    });
  }

  void run(const Json& c) {
    const std::string& what = c["do"].string();
    const auto followed = [this](const Result<std::shared_ptr<Party>>& r) { follow(r); };
    if (what == "start") return start(c);
    if (!matchmaker_) return;
    if (what == "token") return reply_({c["token"].string(), c["error"].string()});
    if (what == "search") return follow(matchmaker_->search(searchOptions(c)));
    if (what == "suspend") return matchmaker_->suspend();
    if (what == "resume") return matchmaker_->resume();
    if (what == "fill") return fillGame(c);
    if (what == "fill-end" && filler_) return filler_->end(sayError);
    if (what == "seat") return checkSeat(c);
    if (what == "measure") return measure(c);
    if (what == "cancel" && search_) return cancel();
    if (what == "accept" && search_) return search_->accept(sayError);
    if (what == "decline" && search_) return search_->decline(sayError);
    if (what == "estimate" && search_) {
      return search_->estimate([](const Result<std::optional<api::Estimate>>& r) {
        if (!r) return sayError(r.error);
        say("estimate", estimateOf(r.value));
      });
    }
    if (what == "restore") {
      return matchmaker_->restore([this](const Result<std::shared_ptr<Search>>& r) {
        if (!r) return sayError(r.error);
        if (r.value) return follow(r.value);
        say("idle");
      });
    }
    MemberOptions member;
    static_cast<Values&>(member) = values(c);
    if (what == "party-create") {
      return matchmaker_->createParty(member, static_cast<std::int64_t>(c["size"].number()), followed);
    }
    if (what == "party-join") return matchmaker_->joinParty(c["code"].string(), member, followed);
    if (party_) {
      member.ready = c["ready"].boolean();
      if (what == "party-ready") return party_->update(member, sayError);
      if (what == "party-search") return party_->start(searchOptions(c), sayError);
      if (what == "party-kick") return party_->kick(c["player"].string(), sayError);
      if (what == "party-leave") return party_->leave(sayError);
    }
    say("unsupported", Json::object().set("do", what));
  }

  std::string text_;
  // Between two reads the machine may do something else: with a scale that would be a device that slept.
  std::function<void()> look_;
  double now_ = 0;
  std::function<void(Token)> reply_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Matchmaker> matchmaker_;
  std::shared_ptr<Search> search_;
  std::shared_ptr<Party> party_;
  SeatOptions server_;
  std::shared_ptr<Filler> filler_;
  std::shared_ptr<Seats> seats_;
  double open_ = 0;
  std::vector<std::string> receipts_;
  bool cancelling_ = false;
};

}  // namespace

int main() {
  Driver driver;
  while (driver.read()) driver.pump();
}
