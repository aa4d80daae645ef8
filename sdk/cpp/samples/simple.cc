// Searches a match: MM_TOKEN=$(mm token player ada) simple 1200
#include "sample.h"

int main(int, char** arguments) {
  const auto transport = matchmaker::curlTransport();
  matchmaker::Matchmaker matchmaker(sampleOptions(*transport));
  matchmaker::SearchOptions o;
  o.attributes = {{"skill", std::atof(arguments[1])}};
  const auto search = matchmaker.search(o);
  search->onUpdate([](const matchmaker::Update& u) {
    if (u.state == matchmaker::Update::State::Searching) std::cout << "searching" << std::endl;
  });
  while (!search->update().ended()) matchmaker.pump(20);
  return sayEnd(search->update());
}
