// Searches a match, and after a crash goes on with the same search or match, which a file remembers:
// MM_TOKEN=$(mm token player ada) reconnect search.json
#include "sample.h"

using namespace matchmaker;

int main(int, char** arguments) {
  const auto transport = curlTransport();
  const auto storage = fileStorage(arguments[1]);
  Options options = sampleOptions(*transport);
  options.storage = storage.get();
  Matchmaker matchmaker(options);
  std::shared_ptr<Search> search;
  matchmaker.restore([&](const Result<std::shared_ptr<Search>>& r) {
    SearchOptions o;
    o.attributes = {{"skill", 1200}};
    search = r.value ? r.value : matchmaker.search(o);
    search->onUpdate([](const Update& u) {
      if (u.state == Update::State::Searching) std::cout << "searching" << std::endl;
    });
  });
  while (!search || !search->update().ended()) matchmaker.pump(20);
  return sayEnd(search->update());
  // When the match is over: matchmaker.forget()
}
