// The subsystem and the node, with the service in memory.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "MatchmakerFindMatch.h"
#include "MatchmakerSubsystem.h"
#include "matchmaker/fake.h"
#include "matchmaker/server.h"

#define CHECK(ok)                                                \
  if (!(ok)) {                                                   \
    std::fprintf(stderr, "%s:%d: " #ok "\n", __FILE__, __LINE__); \
    std::exit(1);                                                \
  }

std::unique_ptr<matchmaker::Transport> unrealTransport();

namespace {

struct Game {
  matchmaker::FakeService fake{100};
  UGameInstance instance;
  UMatchmakerSubsystem subsystem;
  FSubsystemCollectionBase collection;
  matchmaker::Options options = fake.options("ada");

  Game() {
    instance.subsystem = &subsystem;
    subsystem.Initialize(collection);
  }
  ~Game() { subsystem.Deinitialize(); }
};

/** A node, and which pins were called. */
struct Node {
  UMatchmakerFindMatch* node;
  std::string pins;
  FMatchmakerUpdate last;

  Node(Game& game, bool resumes, bool measures = false) {
    FMatchmakerSearch search;
    search.bMeasure = measures;
    search.Queues = {TEXT("ranked")};
    search.Attributes.Add(TEXT("skill"), 1200.5);
    node = UMatchmakerFindMatch::FindMatch(&game.instance, search, resumes);
    const auto pin = [this](FMatchmakerPin& of, char name) {
      of.Add([this, name](const FMatchmakerUpdate& u) {
        pins += name;
        last = u;
      });
    };
    pin(node->Matched, 'M');
    pin(node->Failed, 'F');
    pin(node->Cancelled, 'C');
    pin(node->Progress, 'p');
    node->Activate();
  }
  ~Node() { delete node; }
  bool ended() const { return !pins.empty() && pins.back() != 'p'; }
};

template <class F> void until(F holds) {
  for (int i = 0; i < 20000 && !holds(); i++) {
    FTSTicker::GetCoreTicker().Tick();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(holds());
}

void searches() {
  Game game;
  CHECK(game.subsystem.OpenWith(game.options).IsEmpty());
  Node n(game, true);
  until([&] { return game.fake.waiting().size() == 1; });
  game.fake.offer({"ada"}, 2000);
  until([&] { return n.last.State == EMatchmakerState::Offered; });
  CHECK(n.last.RemainingSeconds > 0 && n.last.Players == 1);
  n.node->Accept();
  until([&] { return n.ended(); });
  CHECK(n.pins.back() == 'M' && n.last.Connection == FString(TEXT("127.0.0.1:7777")) && !n.last.Seat.IsEmpty());
  CHECK(n.node->collected);
}

void cancelsAndResumes() {
  Game game;
  game.subsystem.OpenWith(game.options);
  {
    Node lost(game, true);
    until([&] { return game.fake.waiting().size() == 1; });
    lost.node->collected = true;  // the game forgets it
  }
  game.subsystem.OpenWith(game.options);  // as after a crash
  Node again(game, true);
  until([&] { return !again.pins.empty(); });
  CHECK(game.fake.waiting().size() == 1);
  again.node->Cancel();
  until([&] { return again.ended(); });
  CHECK(again.pins.back() == 'C' && game.fake.waiting().empty());
  Node early(game, false);
  early.node->Cancel();
  until([&] { return early.ended(); });
  CHECK(early.pins.back() == 'C');
}

/** The service in memory has no regions. */
void measures() {
  Game game;
  game.subsystem.OpenWith(game.options);
  int told = 0;
  game.subsystem.OnRegionsMeasured.Add([&](const TArray<FMatchmakerLatency>& all) { told += all.empty() ? 1 : 100; });
  game.subsystem.MeasureRegions();
  Node n(game, false, true);
  until([&] { return told == 1 && game.fake.waiting().size() == 1; });
  Node early(game, false, true);
  early.node->Cancel();
  CHECK(early.pins == "C");
  early.node->Cancel();
  game.subsystem.MeasureRegions();
  until([&] { return told == 2; });
  CHECK(early.pins == "C" && game.fake.waiting().size() == 1);
}

/** The region answers nothing. */
void waitsForThreads() {
  Game game;
  const int silent = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  CHECK(::bind(silent, reinterpret_cast<sockaddr*>(&at), size) == 0);
  CHECK(::getsockname(silent, reinterpret_cast<sockaddr*>(&at), &size) == 0);
  game.fake.regions = {{"eu", "echo", "127.0.0.1:" + std::to_string(ntohs(at.sin_port)), {}}};
  game.subsystem.OpenWith(game.options);
  game.subsystem.MeasureRegions();
  until([] { return FSocket::open == 1; });
  game.subsystem.Deinitialize();
  CHECK(FSocket::open == 0);
  ::close(silent);
}

/** What a transport tells of an answer that is sent while it is not pumped. */
struct Ear final : matchmaker::HttpListener {
  void onHead(int, matchmaker::Pairs) override {}
  void onData(std::string_view bytes) override { size += bytes.size(); }
  void onEnd(const std::string& of) override {
    failure = of;
    over = true;
  }
  std::size_t size = 0;
  std::string failure;
  bool over = false;
};

void boundsWhatWaits() {
  for (const bool header : {false, true}) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    CHECK(::bind(listener, reinterpret_cast<sockaddr*>(&at), size) == 0 && ::listen(listener, 1) == 0);
    CHECK(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    std::size_t sent = 0;
    const std::size_t all = header ? 26 << 10 : 64 << 20;
    std::thread server([&] {
      const int client = ::accept(listener, nullptr, nullptr);
      char asked[4096];
      CHECK(::recv(client, asked, sizeof asked, 0) > 0);
      std::string part = "HTTP/1.1 200 OK\r\n" + std::string(header ? "" : "\r\n");
      for (ssize_t n = 0; sent < all && (n = ::send(client, part.data(), part.size(), MSG_NOSIGNAL)) > 0;) {
        sent += static_cast<std::size_t>(n);
        part = header ? std::string("a: b\r\n") : std::string(1 << 16, 'x');
      }
      if (header) ::send(client, "\r\n", 2, MSG_NOSIGNAL);
      ::close(client);
    });
    const auto transport = unrealTransport();
    Ear ear;
    transport->start({"GET", "http://127.0.0.1:" + std::to_string(ntohs(at.sin_port)), {}, ""}, ear);
    server.join();
    until([&] {
      transport->pump(0);
      return ear.over;
    });
    CHECK(header ? ear.failure == "the header is too large" : !ear.failure.empty() && sent < all);
    CHECK(ear.size <= (8 << 20) + 1);
    ::close(listener);
  }
}

void fails() {
  Game game;
  Node closed(game, false);
  CHECK(closed.pins == "F" && closed.last.Code == FString(TEXT("invalid")));
  CHECK(!game.subsystem.Open(TEXT("nowhere"), TEXT("demo")).IsEmpty());
  game.options.token = nullptr;
  game.subsystem.OpenWith(game.options);
  bool asked = false;
  game.subsystem.OnTokenNeeded.Add([&](EMatchmakerWhy why) {
    asked = why == EMatchmakerWhy::First;
    game.subsystem.SetToken(TEXT(""), TEXT("not signed in"));
  });
  Node refused(game, false);
  until([&] { return refused.ended(); });
  CHECK(asked && refused.pins.back() == 'F' && refused.last.Code == FString(TEXT("token")));
}

void suspends() {
  Game game;
  game.subsystem.OpenWith(game.options);
  FCoreDelegates::ApplicationWillEnterBackgroundDelegate.Broadcast();
  Node n(game, false);
  for (int i = 0; i < 50; i++) FTSTicker::GetCoreTicker().Tick();
  CHECK(game.fake.waiting().empty());
  FCoreDelegates::ApplicationHasEnteredForegroundDelegate.Broadcast();
  until([&] { return game.fake.waiting().size() == 1; });
  FCoreDelegates::ApplicationWillEnterBackgroundDelegate.RemoveAll(&game.subsystem);
}

/** A game calls this where Unreal's macro check is seen. */
void seats() {
  Game game;
  game.subsystem.OpenWith(game.options);
  const auto seats = matchmaker::seats(*game.subsystem.GetClient(), {});
  bool over = false;
  (seats->check)("none", [&](const auto&) { over = true; });
  until([&] { return over; });
}

}  // namespace

int main() {
  searches();
  cancelsAndResumes();
  measures();
  waitsForThreads();
  boundsWhatWaits();
  fails();
  suspends();
  seats();
}
