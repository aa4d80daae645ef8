// Makes a party of two, or joins it by its code, and searches a match for both:
// MM_TOKEN=$(mm token player ada) party and then MM_TOKEN=$(mm token player bob) party CODE
#include "sample.h"

using namespace matchmaker;

int main(int count, char** arguments) {
  const auto transport = curlTransport();
  Matchmaker matchmaker(sampleOptions(*transport));
  std::shared_ptr<Party> party;
  bool over = false;
  bool ended = false;
  const auto follow = [&](const Result<std::shared_ptr<Party>>& r) {
    if (!r) {
      std::cerr << r.error.playerMessage() << std::endl;
      over = true;
      return;
    }
    party = r.value;
    std::cout << "code " << party->state().code << std::endl;
    party->onUpdate([&](const PartyUpdate& u) {
      if (u.state == PartyUpdate::State::Left) over = true;
      if (u.state == PartyUpdate::State::Party && ended && u.party.members.size() == 1) party->leave();
      if (u.state == PartyUpdate::State::Party && party->leads() && u.party.members.size() == 2 && !u.party.search) {
        SearchOptions o;
        o.attributes = {{"skill", 1200}};
        party->start(o);
      }
      if (u.state != PartyUpdate::State::Search) return;
      u.search->onUpdate([&](const Update& s) {  // all members follow the same ticket
        if (!s.ended()) return;
        sayEnd(s);
        ended = true;
        // The party forgets its search when a member leaves: the leader leaves last, so that all have seen it.
        if (!party->leads() || party->state().members.size() == 1) party->leave();
      });
    });
  };
  MemberOptions own;
  own.attributes = {{"skill", 1200}};
  if (count > 1) {
    matchmaker.joinParty(arguments[1], own, follow);
  } else {
    matchmaker.createParty(own, 2, follow);
  }
  while (!over) matchmaker.pump(20);
}
