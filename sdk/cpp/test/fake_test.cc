// What games do with the service in memory.
#include "matchmaker/fake.h"
#include "matchmaker/server.h"

#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>
#include <thread>
#include <utility>
#ifdef __GLIBC__
#include <pthread.h>
#endif

using namespace matchmaker;

namespace {

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                  \
    }                                                                \
  } while (false)

/** A player of a game. */
struct Player {
  Player(FakeService& fake, const std::string& name, Storage* storage = nullptr) : matchmaker([&] {
    Options o = fake.options(name);
    o.storage = storage;
    return o;
  }()) {}

  void follow(const std::shared_ptr<Search>& of) {
    search = of;
    search->onUpdate([this](const Update& u) { update = u; });
  }

  void enter(const Result<std::shared_ptr<Party>>& r) {
    CHECK(r);
    party = r.value;
    party->onUpdate([this](const PartyUpdate& u) {
      CHECK(u.party.search.has_value() == (party->search() != nullptr));  // known as soon as the party is
      if (u.state == PartyUpdate::State::Search) follow(u.search);
      if (u.state == PartyUpdate::State::Left) left = u.reason;
    });
  }

  Matchmaker matchmaker;
  std::shared_ptr<Search> search;
  std::shared_ptr<Party> party;
  Update update;
  std::string left;
};

/** Pumps until something holds. */
template <class F> void until(std::initializer_list<Player*> players, F holds) {
  for (int i = 0; i < 20'000 && !holds(); i++) {
    for (Player* p : players) p->matchmaker.pump(1);
  }
  CHECK(holds());
}

using S = Update::State;

void testSearches() {
  FakeService fake(100);
  Player ada(fake, "ada"), bob(fake, "bob");
  ada.follow(ada.matchmaker.search());
  bob.follow(bob.matchmaker.search());
  const auto both = [&](S state) { return [&, state] { return ada.update.state == state && bob.update.state == state; }; };
  until({&ada, &bob}, both(S::Searching));
  fake.offer({"ada", "bob"}, 2000);
  until({&ada, &bob}, both(S::Offered));
  CHECK(ada.update.players == 2 && !ada.update.answered);
  ada.search->accept();
  until({&ada, &bob}, [&] { return bob.update.accepted == 1; });
  fake.cut();
  bob.search->accept();
  until({&ada, &bob}, both(S::Matched));
  CHECK(ada.update.match.connection == "127.0.0.1:7777" && ada.update.match.seat == "seat of ada");
  bool late = false;
  ada.search->cancel([&](const Cancelled& c) { late = c.late && !c.cancelled; });
  until({&ada}, [&] { return late; });
}

void testDeclinesCancelsAndErrors() {
  FakeService fake(100);
  Player ada(fake, "ada"), bob(fake, "bob");
  ada.follow(ada.matchmaker.search());
  bob.follow(bob.matchmaker.search());
  until({&ada, &bob}, [&] { return fake.waiting().size() == 2; });
  fake.offer({"ada", "bob"}, 2000);
  until({&ada, &bob}, [&] { return ada.update.state == S::Offered; });
  ada.search->decline();
  until({&ada, &bob}, [&] { return ada.update.ended() && bob.update.state == S::Searching; });
  CHECK(ada.update.error.reason == "declined" && ada.update.error.playerMessage() == "You declined the match.");
  ada.follow(ada.matchmaker.search());
  until({&ada, &bob}, [&] { return fake.waiting().size() == 2; });
  fake.offer({"ada", "bob"}, 2000);
  until({&ada, &bob}, [&] { return bob.update.state == S::Offered; });
  ada.search->cancel();
  until({&ada, &bob}, [&] { return ada.update.state == S::Cancelled && bob.update.state == S::Searching; });
  bob.search->cancel();
  until({&bob}, [&] { return bob.update.state == S::Cancelled && fake.waiting().empty(); });
  fake.full = 1;
  ada.follow(ada.matchmaker.search());
  until({&ada}, [&] { return ada.update.ended() && ada.update.error.problem == "tooManyTickets"; });
  CHECK(ada.update.error.code == Code::Busy);
  fake.full = 0;
  fake.gone = true;
  ada.follow(ada.matchmaker.search());
  until({&ada}, [&] { return ada.update.ended() && ada.update.error.code == Code::Offline; });
}

void testParties() {
  FakeService fake(100);
  Player ada(fake, "ada"), bob(fake, "bob");
  ada.matchmaker.createParty({}, 2, [&](const auto& r) { ada.enter(r); });
  until({&ada}, [&] { return ada.party != nullptr; });
  bob.matchmaker.joinParty(ada.party->state().code, {}, [&](const auto& r) { bob.enter(r); });
  until({&ada, &bob}, [&] { return bob.party && ada.party->state().members.size() == 2; });
  CHECK(ada.party->leads() && !bob.party->leads());
  ada.party->start({});
  until({&ada, &bob}, [&] { return ada.update.state == S::Searching && bob.update.state == S::Searching; });
  fake.match({"bob"});
  until({&ada, &bob}, [&] { return ada.update.state == S::Matched && bob.update.state == S::Matched; });
  ada.party->start({});
  until({&ada, &bob}, [&] { return ada.update.state == S::Searching && bob.update.state == S::Searching; });
  ada.party->kick("bob");
  until({&ada, &bob}, [&] { return bob.left == "kicked"; });
  ada.party->leave();
  until({&ada}, [&] { return ada.left == "left"; });
}

void testRestore() {
  FakeService fake(100);
  {
    Player ada(fake, "ada");
    ada.follow(ada.matchmaker.search());
    until({&ada}, [&] { return ada.update.state == S::Searching; });
  }
  Player again(fake, "ada");
  again.matchmaker.restore([&](const Result<std::shared_ptr<Search>>& r) { again.follow(r.value); });
  until({&again}, [&] { return again.update.state == S::Searching; });
  fake.match({"ada"});
  until({&again}, [&] { return again.update.state == S::Matched; });
}

struct Kept final : Storage {
  std::string load() override { return text; }
  void save(const std::string& of) override { text = of; }

  std::string text = "{\"ticket\":\"older\"}";
};

void testRefusedSearch() {
  FakeService fake(100);
  fake.full = 1;
  Kept storage;
  const std::string older = storage.text;
  Player ada(fake, "ada", &storage);
  ada.follow(ada.matchmaker.search());
  until({&ada}, [&] { return ada.update.ended(); });
  CHECK(storage.text == older);
}

void testFileAfterACrash() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const auto path = std::filesystem::temp_directory_path() / ("fake-test." + std::to_string(now));
  const auto fresh = path.string() + ".new";
  const auto storage = fileStorage(path.string());
  storage->save("one");
  std::ofstream(fresh) << "tw";  // while it was written
  CHECK(storage->load() == "one");
  storage->save("two");
  CHECK(storage->load() == "two" && !std::filesystem::exists(fresh));
  std::filesystem::rename(path, fresh);  // before it took the place of the one before
  CHECK(storage->load() == "two");
  storage->save("");
  CHECK(storage->load().empty() && !std::filesystem::exists(path) && !std::filesystem::exists(fresh));
}

/** Another search keeps its ticket as soon as the create of this one is sent. */
struct Shared final : Storage {
  std::string load() override { return kept; }
  void save(const std::string& text) override { kept = text.find("key") != std::string::npos ? newer : text; }

  const std::string newer = "{\"ticket\":\"newer\"}";
  std::string kept;
};

void testNewerSearch() {
  FakeService fake(100);
  Shared storage;
  Player ada(fake, "ada", &storage);
  const auto left = [&] {
    until({&ada}, [&] { return ada.search->update().ended(); });
    CHECK(storage.kept == storage.newer);
  };
  ada.follow(ada.matchmaker.search());
  until({&ada}, [&] { return ada.update.state == S::Searching; });
  ada.search->cancel();
  left();
  SearchOptions o;
  o.timeout = 10'000;
  ada.follow(ada.matchmaker.search(o));
  left();
  fake.full = 1;
  ada.follow(ada.matchmaker.search());
  left();
}

void testFilling() {
  FakeService fake(100);
  Player ada(fake, "ada"), server(fake, "server");
  ada.follow(ada.matchmaker.search());
  until({&ada}, [&] { return ada.update.state == S::Searching; });
  double open = 2;
  FillOptions o;
  o.join = [&](const std::vector<api::Ticket>& tickets) {
    for (const api::Ticket& t : tickets) open -= t.id == ada.update.ticket ? 1 : 5;
  };
  o.state = [&] {
    api::BackfillRequest game;
    game.Connection = "192.0.2.1:7000";
    game.attributes = {{"open", open}};
    return game;
  };
  const auto filler = fill(server.matchmaker, o);
  until({&server}, [&] { return fake.games().size() == 1; });
  fake.join({"ada"});
  until({&ada, &server}, [&] { return ada.update.state == S::Matched && fake.games()[0].attributes.at("open") == 1; });
  CHECK(ada.update.match.connection == "192.0.2.1:7000" && fake.waiting().empty());
  for (int i = 0; i < 100; i++) server.matchmaker.pump(1);
  CHECK(open == 1);
  bool ended = false;
  filler->end([&](const Error& e) { ended = !e; });
  until({&server}, [&] { return ended && fake.games().empty(); });
  bool measured = false;  // the fake has no regions
  ada.matchmaker.measure({}, [&](const auto& r) { measured = r && r.value.empty(); });
  until({&ada}, [&] { return measured; });
}

/** Keeps the headers of a request. */
struct Ear final : Transport {
  std::uint64_t start(const HttpRequest& request, HttpListener&) override {
    for (const auto& [name, value] : request.headers) {
      if (name == "X-On-Behalf-Of") heard.push_back(value);
      if (name == "Authorization") token = value;
    }
    return 1;
  }
  void cancel(std::uint64_t) override {}
  void pump(int) override {}
  std::vector<std::string> heard;
  std::string token;
};

void testNamesOfPlayers() {
  FakeService fake;
  Ear ear;
  auto options = fake.options("ada");
  options.player = "utf-8'x";
  options.token = [](Why, const std::function<void(Token)>& reply) { reply({"\n a token\r\n", {}}); };
  options.transport = &ear;
  Matchmaker matchmaker(options);
  const std::function<void(const Result<api::Party>&)> ignored = [](const auto&) {};
  matchmaker.send(api::myParty({}), ignored);
  for (int i = 0; i < 100 && ear.heard.empty(); i++) matchmaker.pump(1);
  matchmaker.send(api::myParty({{}, {}, "zo\xc3\xab"}), ignored);  // instead of the option's
  for (int i = 0; i < 100 && ear.heard.size() < 2; i++) matchmaker.pump(1);
  CHECK((ear.heard == std::vector<std::string>{"UTF-8''utf-8%27x", "UTF-8''zo%C3%AB"}));
  CHECK(ear.token == "Bearer a token");
}

/** Gives a game server its next token, and keeps those that requests come with. */
struct Renewing final : Transport {
  std::uint64_t start(const HttpRequest& request, HttpListener& listener) override {
    asked.push_back(request.method + " " + request.headers[1].second);
    answers = &listener;
    renews = request.method == "POST";
    return 1;
  }
  void cancel(std::uint64_t) override { answers = nullptr; }
  void pump(int) override {
    HttpListener* to = std::exchange(answers, nullptr);
    if (to == nullptr) return;
    to->onHead(renews ? status : 200, {{"content-type", "application/json"}});
    to->onData("{\"token\":\"next\"}");
    to->onEnd("");
  }
  std::vector<std::string> asked;
  HttpListener* answers = nullptr;
  bool renews = false;
  /** Of an answer to a renewal. */
  int status = 200;
};

const std::string first = "x.eyJpYXQiOjAsImV4cCI6OTB9.x";  // of 90 seconds

void testServersTokens(int status, const std::string& next) {
  Renewing host;
  host.status = status;
  double now = 0;
  Matchmaker* own = nullptr;
  Options o;
  o.url = "http://fake.invalid";
  o.project = "fake";
  o.transport = &host;
  o.clock.wall = o.clock.steady = [&] { return now; };
  o.token = [&](Why why, const std::function<void(Token)>& reply) {
    if (why == Why::First) return reply({first, {}});
    own->send<api::ServerToken>(api::renewServerToken(),
                                [reply](const auto& r) { reply({r.value.token, r.error.message}); });
  };
  Matchmaker server(o);
  own = &server;
  for (const double at : {0, 61'000}) {
    now = at;
    bool done = false;
    server.send<api::Party>(api::myParty({}), [&](const auto&) { done = true; });
    for (int i = 0; i < 100 && !done; i++) server.pump(1);
    CHECK(done);
  }
  CHECK((host.asked == std::vector<std::string>{"GET Bearer " + first, "POST Bearer " + first, "GET Bearer " + next}));
}

/** Answers streams with an error that does not end: a byte each time that it is pumped. */
struct Drip final : Transport {
  explicit Drip(FakeService& of) : fake(of) {}
  std::uint64_t start(const HttpRequest& request, HttpListener& listener) override {
    if (request.headers[0].second.rfind("text/event-stream", 0) != 0) return fake.start(request, listener);
    to = &listener;
    listener.onHead(503, {{"content-type", "application/json"}});
    return mine;
  }
  void cancel(std::uint64_t id) override {
    if (id != mine) return fake.cancel(id);
    to = nullptr;
    left = true;
  }
  void pump(int wait) override {
    fake.pump(wait);
    if (to != nullptr) to->onData(" ");
  }
  static constexpr std::uint64_t mine = ~std::uint64_t{0};
  FakeService& fake;
  HttpListener* to = nullptr;
  bool left = false;
};

void testErrorsWithoutEnd() {
  FakeService fake(1000);
  Drip drip(fake);
  auto options = fake.options("ada");
  options.transport = &drip;
  Matchmaker matchmaker(options);
  const auto search = matchmaker.search();
  for (const double end = options.clock.steady() + 400'000; !drip.left && options.clock.steady() < end;) matchmaker.pump(1);
  CHECK(drip.left);
}

/** Has a thread that waits for a name. */
struct Deaf final : Udp {
  struct None final : Datagrams {
    bool send(std::string_view) override { std::abort(); }
    bool receive(std::string&, double) override { return false; }
  };
  bool run(std::function<void()> of) override {
    job = std::move(of);
    return true;
  }
  std::vector<std::unique_ptr<Datagrams>> open(const std::string&, const std::string&) override {
    std::vector<std::unique_ptr<Datagrams>> sockets;
    sockets.push_back(std::make_unique<None>());
    return sockets;
  }
  std::function<void()> job;
};

void testNamesThatAreNotFound() {
  FakeService fake(100);
  fake.regions = {{"eu", "echo", "nowhere.invalid:1", {}}};
  const auto deaf = std::make_shared<Deaf>();
  auto options = fake.options("ada");
  options.udp = deaf;
  Matchmaker matchmaker(options);
  Result<std::vector<Latency>> all;
  matchmaker.measure({}, [&](const auto& r) { all = r; });
  for (int i = 0; i < 10'000 && all.value.empty(); i++) matchmaker.pump(1);
  CHECK(all.value.size() == 1 && all.value[0].region == "eu" && !all.value[0].rtt && all.value[0].sent == 0);
  std::exchange(deaf->job, nullptr)();  // it sends nothing any more
}

void testThreads() {
  const auto udp = systemUdp();
  auto gone = std::make_shared<int>();
  const std::weak_ptr<int> job = gone;
  CHECK(udp->run([gone = std::move(gone)] { std::vector<int>().at(0); }));  // it throws
  for (int i = 0; i < 10'000 && !job.expired(); i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(job.expired());
#ifdef __GLIBC__
  pthread_attr_t usual, large;
  CHECK(pthread_getattr_default_np(&usual) == 0 && pthread_attr_init(&large) == 0);
  CHECK(pthread_attr_setstacksize(&large, std::size_t{1} << 60) == 0 && pthread_setattr_default_np(&large) == 0);
  CHECK(!udp->run([] {}));
  CHECK(pthread_setattr_default_np(&usual) == 0);
#endif
}

void testPumpsAndDestroysWithinACallback() {
  FakeService fake(100);
  auto ada = std::make_unique<Player>(fake, "ada");
  Player bob(fake, "bob");
  ada->follow(ada->matchmaker.search());
  bob.follow(bob.matchmaker.search());
  until({ada.get(), &bob}, [&] { return fake.waiting().size() == 2; });
  std::vector<S> told;
  bob.search->onUpdate([&](const Update& u) {
    told.push_back(bob.update.state = u.state);
    for (int i = 0; i < 10; i++) bob.matchmaker.pump(1);
  });
  const auto search = ada->search;
  search->onUpdate([&](const Update& u) {
    if (u.ended()) ada.reset();
  });
  fake.offer({"ada", "bob"}, 2000);
  until({ada.get(), &bob}, [&] { return bob.update.state == S::Offered; });
  fake.match({"ada", "bob"});
  for (int i = 0; i < 10'000 && ada; i++) ada->matchmaker.pump(1);
  CHECK(!ada && search->update().state == S::Matched);
  until({&bob}, [&] { return bob.update.state == S::Matched; });
  CHECK(told.size() == 3 && told[1] == S::Offered && told[2] == S::Matched);
}

}  // namespace

int main() {
  // A game may have a decimal comma, and dots between thousands.
  CHECK(std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr);  // the Makefile says where it is
  const std::locale before = std::locale::global(std::locale("de_DE.UTF-8"));
  CHECK(Json(1234567.5).text() == "1234567.5" && Json(std::int64_t{1234567}).text() == "1234567");
  CHECK(Json::parse("[1234567.5]")->items()[0].number() == 1234567.5 && !Json::parse("1,5"));
  testSearches();
  testDeclinesCancelsAndErrors();
  testParties();
  testRestore();
  testFileAfterACrash();
  testRefusedSearch();
  testNewerSearch();
  testFilling();
  auto two = *Json::parse("{\"a\":1,\"b\":0,\"a\":2}");
  CHECK(two.text() == "{\"b\":0,\"a\":2}" && two.set("a", Json(3))["a"].number() == 3);
  testNamesOfPlayers();
  testServersTokens(200, "next");
  testServersTokens(401, first);
  testErrorsWithoutEnd();
  testNamesThatAreNotFound();
  testThreads();
  testPumpsAndDestroysWithinACallback();
  std::locale::global(before);
}
