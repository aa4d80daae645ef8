#include "matchmaker/fake.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "connection.h"

namespace matchmaker {
namespace {

using Players = std::vector<std::string>;

/** A match that asks its players. */
struct Offer {
  std::string match;
  double ends = 0;
  Players asked;
  std::set<std::string> accepted;
  FakeMatch then;
};

struct Ticket {
  api::Ticket api;
  Players players;
  std::string key;
  std::shared_ptr<Offer> offer;
  bool ended = false;
};

bool waits(const Ticket& t) { return !t.ended && !t.api.assignment; }

/** A running game that its server fills. */
struct Game {
  std::string id;
  Json state;
  Players proposed;
  std::vector<Ticket*> joined;
};

/** A request, and behind it a stream of a ticket or a party. */
struct Call {
  std::uint64_t id = 0;
  HttpRequest request;
  HttpListener* listener = nullptr;
  double due = 0;
  std::string player;
  std::string of;
  std::string text;
  bool ends = false;
  bool broken = false;
};

struct Answer {
  int status = 200;
  Json body;
  Pairs headers;
  /** What is streamed. */
  std::string of;
};

Answer refuse(int status, const char* code) {
  Json body = Json::object();
  body.set("title", code).set("status", Json(status)).set("detail", std::string("the fake says ") + code).set("code", code);
  return {status, body, {}, ""};
}

bool has(const Players& list, const std::string& player) {
  return std::find(list.begin(), list.end(), player) != list.end();
}

std::string unescaped(const std::string& text) {
  std::string to;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text[i] == '%' && i + 2 < text.size()) {
      to += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      to += text[i];
    }
  }
  return to;
}

std::string headerOf(const HttpRequest& r, const char* name) {
  for (const auto& [known, value] : r.headers) {
    if (known == name) return value;
  }
  return "";
}

/** The parts between separators. */
std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

struct FakeService::State {
  double speed = 1;
  const double began = system();
  mutable double time = began;
  mutable double looked = began;
  int count = 0;
  std::uint64_t last = 0;
  std::vector<std::unique_ptr<Ticket>> tickets;
  std::vector<std::unique_ptr<api::Party>> parties;
  std::vector<Game> games;
  std::set<std::pair<std::string, std::string>> kicked;
  std::vector<std::unique_ptr<Call>> calls;

  static double system() {
    return std::chrono::duration<double, std::milli>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  /** Where the program stood still, no more than five seconds passed, so that no stream is taken for broken. */
  double now() const {
    const double at = system();
    time += std::clamp((at - looked) * speed, 0.0, 5000.0);
    looked = at;
    return time;
  }
  std::string name(const char* of) { return std::string(of) + "-" + std::to_string(++count); }
  std::string code() { return "FAKE" + std::to_string(10000 + ++count); }

  Ticket* ticketOf(const std::string& player) {
    for (const auto& t : tickets) {
      if (waits(*t) && has(t->players, player)) return t.get();
    }
    return nullptr;
  }

  std::vector<Ticket*> of(const Players& players) {
    std::vector<Ticket*> list;
    for (const std::string& p : players) {
      Ticket* t = ticketOf(p);
      if (t != nullptr && std::find(list.begin(), list.end(), t) == list.end()) list.push_back(t);
    }
    return list;
  }

  std::vector<Ticket*> with(const std::shared_ptr<Offer>& offer) {
    std::vector<Ticket*> list;
    for (const auto& t : tickets) {
      if (t->offer == offer && !t->ended) list.push_back(t.get());
    }
    return list;
  }

  void send(const std::string& of, const std::string& id, const std::string& event, const Json& data,
            const std::string& player = "") {
    for (const auto& c : calls) {
      if (c->of != of || (!player.empty() && c->player != player) || c->ends) continue;
      c->text += "id: " + id + "\nevent: " + event + "\ndata: " + data.text() + "\n\n";
      c->ends = event == "ended" || event == "assigned";
    }
  }

  Json shown(const Ticket& t) const {
    Json to = write(t.api);
    if (!t.api.assignment) to.set("assignment", Json());
    if (!t.offer) return to;
    api::Acceptance a;
    a.match = t.offer->match;
    a.remaining = static_cast<std::int64_t>(std::max(0.0, t.offer->ends - now()));
    a.players = static_cast<std::int64_t>(t.offer->asked.size());
    a.accepted = static_cast<std::int64_t>(t.offer->accepted.size());
    for (const std::string& p : t.players) {
      if (t.offer->accepted.count(p) == 0) a.unanswered.push_back(p);
    }
    return to.set("acceptance", write(a));
  }

  void tell(const Ticket& t) {
    const char* event = t.api.assignment ? "assigned" : t.offer ? "acceptance" : "waiting";
    send(t.api.id, event, event, shown(t));
  }

  /** Ends a ticket. The others that the same match asks wait again. */
  void end(Ticket& t, const std::string& reason) {
    const std::shared_ptr<Offer> offer = std::move(t.offer);
    t.ended = true;
    send(t.api.id, "ended", "ended", Json::object().set("id", t.api.id).set("reason", reason));
    if (offer) endOffer(offer, {}, "");
  }

  void match(const std::vector<Ticket*>& list, const FakeMatch& m) {
    for (Ticket* t : list) {
      t->offer.reset();
      api::Assignment a;
      a.connection = m.error.empty() ? m.connection : "";
      a.error = m.error;
      a.matchproperties = m.matchProperties;
      a.seats.emplace();
      for (const std::string& p : t->players) (*a.seats)[p] = "seat of " + p;
      t->api.assignment = a;
      tell(*t);
    }
  }

  /** An acceptance ends: the tickets of some players end, the others wait again. */
  void endOffer(const std::shared_ptr<Offer>& offer, const Players& out, const std::string& reason) {
    for (Ticket* t : with(offer)) {
      t->offer.reset();
      if (std::any_of(t->players.begin(), t->players.end(), [&](const std::string& p) { return has(out, p); })) {
        end(*t, reason);
      } else {
        tell(*t);
      }
    }
  }

  void answer(const std::string& player, bool accept) {
    Ticket* t = ticketOf(player);
    if (t == nullptr || !t->offer) return;
    const std::shared_ptr<Offer> offer = t->offer;
    if (!accept) return endOffer(offer, {player}, "declined");
    offer->accepted.insert(player);
    if (offer->accepted.size() == offer->asked.size()) return match(with(offer), offer->then);
    for (Ticket* other : with(offer)) tell(*other);
  }

  Ticket& create(const Players& players, const Json& body, const std::string& key) {
    auto t = std::make_unique<Ticket>();
    read(body, t->api);
    t->api.id = name("ticket");
    t->api.created = static_cast<std::int64_t>(now());
    t->players = players;
    t->key = key;
    tickets.push_back(std::move(t));
    return *tickets.back();
  }

  Answer answer(const Call& c, int busyFor, const std::vector<api::Region>& regions) {
    const std::string& url = c.request.url;
    const std::size_t mark = url.find('?');
    std::string path = url.substr(0, mark);
    path = path.substr(std::min(path.find("/api/v") + 8, path.size()));
    std::map<std::string, std::string> query;
    if (mark != std::string::npos) {
      for (const std::string& q : split(url.substr(mark + 1), '&')) {
        query[q.substr(0, q.find('='))] = unescaped(q.substr(q.find('=') + 1));
      }
    }
    std::vector<std::string> parts;
    for (const std::string& p : split(path, '/')) parts.push_back(unescaped(p));
    parts.resize(std::max<std::size_t>(parts.size(), 4));
    const Json body = Json::parse(c.request.body).value_or(Json());
    if (parts[0] == "tickets") return ticketAnswer(c, parts[1], query, body, busyFor);
    if (parts[0] == "parties") return partyAnswer(c, parts, body);
    if (parts[0] == "backfill") return backfillAnswer(c.request.method, parts[1], body);
    if (parts[0] == "regions") return {200, write(api::Regions{regions, regions.empty() ? 0 : 60}), {}, ""};
    return refuse(404, "notFound");
  }

  Answer backfillAnswer(const std::string& method, const std::string& id, const Json& body) {
    if (id.empty()) {
      games.push_back({name("backfill"), body, {}, {}});
      return {201, Json::object().set("Id", games.back().id), {}, ""};
    }
    const auto game = std::find_if(games.begin(), games.end(), [&id](const Game& g) { return g.id == id; });
    if (game == games.end()) return refuse(404, "backfillNotFound");
    if (method == "DELETE") {
      games.erase(game);
      return {204, {}, {}, ""};
    }
    if (method == "PUT") {
      game->state = body;
    } else {
      FakeMatch m;
      m.connection = game->state["Connection"].string();
      const std::vector<Ticket*> list = of(game->proposed);
      match(list, m);
      game->joined.insert(game->joined.end(), list.begin(), list.end());
    }
    game->proposed.clear();  // a PUT rejects them
    Json answer = game->state;
    answer.set("Id", id).set("Created", Json(std::floor(began))).set("RecordVersion", Json(1));
    Json assigned = Json::array();
    for (const Ticket* t : game->joined) assigned.add(shown(*t));
    return {200, answer.set("assignedTickets", assigned), {}, ""};
  }

  Answer ticketAnswer(const Call& c, const std::string& below, const std::map<std::string, std::string>& query,
                      const Json& body, int busyFor) {
    const auto asked = [&query](const char* name) {
      const auto q = query.find(name);
      return q == query.end() ? "" : q->second;
    };
    const std::string& method = c.request.method;
    if (method == "POST" && below.empty()) {
      const std::string key = headerOf(c.request, "Idempotency-Key");
      for (const auto& t : tickets) {
        if (!key.empty() && t->key == key) return {201, Json::object().set("id", t->api.id), {}, ""};
      }
      if (busyFor > 0) {
        Answer busy = refuse(429, "tooManyTickets");
        busy.headers.emplace_back("retry-after", std::to_string(busyFor));
        return busy;
      }
      if (ticketOf(c.player) != nullptr) return refuse(409, "playerHasTicket");
      return {201, Json::object().set("id", create({c.player}, body, key).api.id), {}, ""};
    }
    if (!asked("key").empty() || !asked("player").empty()) {
      Json list = Json::array();
      for (auto t = tickets.rbegin(); t != tickets.rend(); ++t) {
        const bool wanted = asked("key").empty() || (*t)->key == "\"" + asked("key") + "\"";
        if (has((*t)->players, c.player) && !(*t)->ended && wanted) list.add(shown(**t));
      }
      return {200, Json::object().set("tickets", list), {}, ""};
    }
    for (const auto& t : tickets) {
      if (t->api.id != asked("id") || t->ended || !has(t->players, c.player)) continue;
      if (below == "events") return {200, {}, {}, t->api.id};
      if (below == "acceptance") {
        if (!t->offer || t->offer->match != body["match"].string()) return refuse(409, "acceptanceOver");
        answer(c.player, body["accept"].boolean());
        return {204, {}, {}, ""};
      }
      if (method == "GET") return {200, shown(*t), {}, ""};
      if (t->api.assignment && asked("unlessAssigned") == "true") return refuse(409, "ticketMatched");
      end(*t, "deleted");
      return {200, Json::object(), {}, ""};
    }
    return refuse(404, "ticketNotFound");
  }

  api::Party* partyOf(const std::string& player) {
    for (const auto& p : parties) {
      if (member(*p, player) != nullptr) return p.get();
    }
    return nullptr;
  }

  static api::PartyMember* member(api::Party& p, const std::string& player) {
    for (api::PartyMember& m : p.members) {
      if (m.id == player) return &m;
    }
    return nullptr;
  }

  static Json shown(const api::Party& p) {
    Json to = write(p);
    if (!p.search) to.set("search", Json());
    return to;
  }

  Answer changed(api::Party& p) {
    p.revision++;
    send(p.id, std::to_string(p.revision), "party", shown(p));
    return {200, shown(p), {}, ""};
  }

  Ticket* searchOf(const api::Party& p) {
    for (const auto& t : tickets) {
      if (p.search && t->api.id == p.search->ticket && waits(*t)) return t.get();
    }
    return nullptr;
  }

  void stop(api::Party& p) {
    if (Ticket* t = searchOf(p)) end(*t, "deleted");
    p.search.reset();
  }

  Answer partyAnswer(const Call& c, const std::vector<std::string>& parts, const Json& body) {
    const std::string& method = c.request.method;
    const std::string& what = parts[2];
    if (method == "POST" && (parts[1].empty() || parts[1] == "members")) return enter(c.player, !parts[1].empty(), body);
    api::Party* own = partyOf(c.player);
    if (own == nullptr || (!parts[1].empty() && parts[1] != own->id)) return refuse(404, "partyNotFound");
    if (what.empty() && method == "GET") {
      const bool known = headerOf(c.request, "If-None-Match") == "\"" + std::to_string(own->revision) + "\"";
      return {known ? 304 : 200, shown(*own), {}, ""};
    }
    if (what == "events") return {200, {}, {}, own->id};
    const bool self = what == "members" && parts[3] == c.player;
    if (!self && own->leader != c.player) return refuse(403, "notLeader");
    if (what == "leader") own->leader = body["player"].string();
    if (what == "code") own->code = code();
    if (what == "search") {
      const auto& m = own->members;
      if (method == "DELETE") {
        stop(*own);
      } else if (std::any_of(m.begin(), m.end(), [](const api::PartyMember& one) { return !one.ready; })) {
        return refuse(409, "memberNotReady");
      } else if (searchOf(*own) == nullptr) {
        Players players;
        for (const api::PartyMember& one : m) players.push_back(one.id);
        own->search.emplace();
        own->search->ticket = create(players, body, "").api.id;
      }
    }
    if (what == "members" && method != "DELETE") {
      api::PartyMember* m = member(*own, parts[3]);
      if (m == nullptr) return refuse(404, "memberNotFound");
      read(body, *m);
      m->id = parts[3];
    }
    if (method == "DELETE" && what == "members") return leave(*own, {parts[3]}, self ? "left" : "kicked");
    if (method == "DELETE" && what.empty()) {
      Players all;
      for (const api::PartyMember& one : own->members) all.push_back(one.id);
      return leave(*own, all, "disbanded");
    }
    return changed(*own);
  }

  Answer enter(const std::string& player, bool joins, const Json& body) {
    api::PartyMember m;
    m.ready = true;
    read(body, m);
    m.id = player;
    api::Party* own = partyOf(player);
    if (!joins) {
      if (own != nullptr) return refuse(409, "alreadyInParty");
      auto p = std::make_unique<api::Party>();
      p->size = 16;
      read(body["size"], p->size);
      p->id = name("party");
      p->code = code();
      p->leader = player;
      p->revision = 1;
      p->members.push_back(m);
      parties.push_back(std::move(p));
      return {201, shown(*parties.back()), {}, ""};
    }
    std::string plain;
    for (const char ch : body["code"].string()) {
      if (ch >= 'a' && ch <= 'z') plain += static_cast<char>(ch & ~32);
      if ((ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9')) plain += ch;
    }
    for (const auto& p : parties) {
      if (p->code != plain || kicked.count({p->id, player}) > 0) continue;
      if (own != nullptr && own != p.get()) return refuse(409, "alreadyInParty");
      if (own != nullptr) return {200, shown(*own), {}, ""};
      if (static_cast<std::int64_t>(p->members.size()) >= p->size) return refuse(409, "partyFull");
      stop(*p);
      p->members.push_back(m);
      return changed(*p);
    }
    return refuse(404, "partyCodeUnknown");
  }

  Answer leave(api::Party& p, const Players& players, const std::string& reason) {
    stop(p);
    for (const std::string& player : players) {
      if (reason == "kicked") kicked.insert({p.id, player});
      auto& m = p.members;
      m.erase(std::remove_if(m.begin(), m.end(), [&](const api::PartyMember& one) { return one.id == player; }), m.end());
      send(p.id, "ended", "ended", Json::object().set("id", p.id).set("reason", reason), player);
    }
    if (p.members.empty()) {
      const auto is = [&p](const auto& other) { return other.get() == &p; };
      parties.erase(std::remove_if(parties.begin(), parties.end(), is), parties.end());
      return {204, {}, {}, ""};
    }
    if (member(p, p.leader) == nullptr) p.leader = p.members.front().id;
    p.code = code();
    Answer now = changed(p);
    return reason == "kicked" ? now : Answer{204, {}, {}, ""};
  }
};

FakeService::FakeService(double speed) : s_(std::make_unique<State>()) {
  s_->speed = speed;
}

FakeService::~FakeService() = default;

Options FakeService::options(const std::string& player) {
  Options o;
  o.url = "http://fake.invalid";
  o.project = "fake";
  o.token = [player](Why, const std::function<void(Token)>& reply) {
    reply({"fake." + base64(Json::object().set("sub", player).text()) + ".fake", ""});
  };
  o.transport = this;
  o.clock = {[this] { return s_->now(); }, [this] { return s_->now(); }};
  return o;
}

void FakeService::cut() {
  for (const auto& c : s_->calls) c->broken = !c->of.empty();
}

std::vector<std::string> FakeService::waiting() const {
  Players list;
  for (const auto& t : s_->tickets) {
    if (waits(*t)) list.insert(list.end(), t->players.begin(), t->players.end());
  }
  return list;
}

void FakeService::match(const Players& players, const FakeMatch& match) { s_->match(s_->of(players), match); }

void FakeService::offer(const Players& players, double seconds, const FakeMatch& match) {
  const auto offer = std::make_shared<Offer>();
  offer->match = s_->name("match");
  offer->ends = s_->now() + seconds * 1000;
  offer->then = match;
  const std::vector<Ticket*> list = s_->of(players);
  for (Ticket* t : list) {
    offer->asked.insert(offer->asked.end(), t->players.begin(), t->players.end());
    t->offer = offer;
  }
  for (Ticket* t : list) s_->tell(*t);
}

void FakeService::answer(const std::string& player, bool accept) { s_->answer(player, accept); }

std::vector<api::BackfillTicket> FakeService::games() const {
  std::vector<api::BackfillTicket> list;
  for (const Game& g : s_->games) read(g.state, list.emplace_back());
  return list;
}

void FakeService::join(const Players& players) {
  if (s_->games.empty()) return;
  Players& proposed = s_->games.back().proposed;
  proposed.insert(proposed.end(), players.begin(), players.end());
}

void FakeService::end(const std::string& player, const std::string& reason) {
  for (Ticket* t : s_->of({player})) s_->end(*t, reason);
}

std::uint64_t FakeService::start(const HttpRequest& request, HttpListener& listener) {
  auto c = std::make_unique<Call>();
  c->id = ++s_->last;
  c->request = request;
  c->listener = &listener;
  c->due = s_->now() + slow;
  read(claimsOf(headerOf(request, "Authorization"))["sub"], c->player);
  s_->calls.push_back(std::move(c));
  return s_->last;
}

void FakeService::cancel(std::uint64_t id) {
  for (const auto& c : s_->calls) {
    if (c->id == id) c->listener = nullptr;
  }
}

void FakeService::pump(int wait) {
  if (wait > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (const auto& t : s_->tickets) {
    if (!t->offer || s_->now() < t->offer->ends) continue;
    const std::shared_ptr<Offer> offer = t->offer;
    Players silent;
    for (const std::string& p : offer->asked) {
      if (offer->accepted.count(p) == 0) silent.push_back(p);
    }
    s_->endOffer(offer, silent, "silent");
  }
  for (std::size_t i = 0; i < s_->calls.size(); i++) {  // listeners may start others
    Call& c = *s_->calls[i];
    HttpListener* listener = c.listener;
    if (listener == nullptr || s_->now() < c.due) continue;
    if (gone || c.broken) {
      c.listener = nullptr;
      listener->onEnd("there is no way to the service");
      continue;
    }
    if (c.of.empty()) {
      Answer a = s_->answer(c, full, regions);
      const bool good = a.status < 400;
      const char* type = !a.of.empty() ? "text/event-stream" : good ? "application/json" : "application/problem+json";
      a.headers.emplace_back("content-type", type);
      listener->onHead(a.status, a.headers);
      c.of = a.of;
      if (c.of.empty()) {
        if (c.listener != nullptr && a.status != 204 && a.status != 304) listener->onData(a.body.text());
        if (c.listener != nullptr) listener->onEnd("");
        c.listener = nullptr;
        continue;
      }
      for (const auto& t : s_->tickets) {
        if (t->api.id == c.of) s_->tell(*t);
      }
      for (const auto& p : s_->parties) {
        if (p->id == c.of) s_->send(p->id, std::to_string(p->revision), "party", State::shown(*p), c.player);
      }
    }
    std::string text;
    text.swap(c.text);
    if (!text.empty()) listener->onData(text);
    if (c.ends && c.listener != nullptr) {
      c.listener = nullptr;
      listener->onEnd("");
    }
  }
  auto& calls = s_->calls;
  calls.erase(std::remove_if(calls.begin(), calls.end(), [](const auto& c) { return c->listener == nullptr; }), calls.end());
}

}  // namespace matchmaker
