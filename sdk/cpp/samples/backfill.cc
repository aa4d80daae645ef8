// A game server with one free place: MM_TOKEN=$(mm token server) backfill 127.0.0.1:7000
#include "matchmaker/server.h"
#include "sample.h"

using namespace matchmaker;

int main(int, char** arguments) {
  const auto transport = curlTransport();
  Matchmaker* own = nullptr;
  auto options = sampleOptions(*transport);
  options.token = [&](Why why, const std::function<void(Token)>& reply) {
    if (why == Why::First) return reply({variable("MM_TOKEN"), ""});  // its allocation's: no other is renewed
    own->send<api::ServerToken>(api::renewServerToken(),
                                [reply](const auto& r) { reply({r.value.token, r.error.message}); });
  };
  Matchmaker matchmaker(options);
  own = &matchmaker;
  int open = 1;
  bool over = false;
  FillOptions o;
  o.state = [&] {
    api::BackfillRequest game;
    game.Connection = arguments[1];
    game.queue = "games";
    game.attributes = {{"open", open}, {"skill", 1200}};
    return game;
  };
  o.join = [&](const std::vector<api::Ticket>& tickets) {
    for (const api::Ticket& t : tickets) std::cout << "joined " << t.id << std::endl;
    open -= static_cast<int>(tickets.size());
  };
  o.failed = [](const Error& e) { std::cerr << e.message << std::endl; };
  const auto filler = fill(matchmaker, o);
  while (open > 0) matchmaker.pump(20);
  filler->end([&](const Error&) { over = true; });  // it is full
  while (!over) matchmaker.pump(20);
}
