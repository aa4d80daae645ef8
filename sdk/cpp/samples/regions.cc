// Measures how far the regions are, lets the player pick one, and searches a match in its queue:
// MM_TOKEN=$(mm token player ada) regions eu-west
#include "sample.h"

using namespace matchmaker;

int main(int count, char** arguments) {
  const auto transport = curlTransport();
  Options options = sampleOptions(*transport);
  options.udp = systemUdp();
  Matchmaker matchmaker(options);
  std::shared_ptr<Search> search;
  bool over = false;
  matchmaker.measure({}, [&](const Result<std::vector<Latency>>& r) {
    if (r.error) std::cerr << r.error.playerMessage() << std::endl;
    for (const Latency& l : r.value) {
      std::cout << "region " << l.region << " " << l.rtt.value_or(-1) << " " << l.lost << " of " << l.sent << " lost"
                << std::endl;
    }
    over = r.error || count < 2;
    if (over) return;
    SearchOptions o;
    o.queues = {arguments[1]};
    o.attributes = {{"skill", 1200}};
    o.receipts = receipts(r.value);
    search = matchmaker.search(o);
  });
  while (!over && !(search && search->update().ended())) matchmaker.pump(20);
  return search ? sayEnd(search->update()) : 0;
}
