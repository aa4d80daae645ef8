#include "matchmaker/latency.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>

#include "connection.h"

namespace matchmaker {
namespace {

/** How many networks are remembered, and how many regions are measured at the same time. */
constexpr std::size_t maxNetworks = 8;
constexpr std::size_t parallel = 4;
/** How many regions a service has. */
constexpr std::size_t maxRegions = 64;
constexpr std::size_t maxProbeAnswer = 4 << 10;

// The datagrams of beacons; the service's documentation of latencies has them.
constexpr std::string_view magic("mmb\x01", 4);
constexpr std::size_t questionSize = 104;
constexpr std::size_t nonceAt = 8;
constexpr std::size_t nonceSize = 16;
constexpr std::size_t receiptAt = 24;
constexpr std::size_t greetingSize = 48;
constexpr std::size_t shortestGrant = 64;
constexpr std::size_t rttAt = receiptAt + 10;

/** A round trip in milliseconds, and its receipt if there is one. */
struct Trip {
  double rtt = 0;
  std::string receipt;
};

/** Threads have the time of the system: a game's clock is for the thread that pumps. */
double systemSteady() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since).count();
}

std::string nonce(std::size_t size) {
  std::random_device source;
  std::string bytes(size, '\0');
  for (char& b : bytes) b = static_cast<char>(source());
  return bytes;
}

/** Sends a question, and returns whether the answer that belongs to it came. Others are late, or forged. */
template <class F>
bool ask(Datagrams& socket, const std::string& question, double until, std::string& answer, F isAnswer) {
  if (!socket.send(question)) return false;
  for (double left = 0; (left = until - systemSteady()) > 0;) {
    if (!socket.receive(answer, left)) return false;
    if (answer.size() <= question.size() && isAnswer(answer)) return true;
  }
  return false;
}

/** The two questions of a beacon. The round trip is what the beacon measured. */
bool beaconTrip(Datagrams& socket, double until, Trip& to) {
  std::string question(questionSize, '\0');
  question.replace(0, magic.size(), magic);
  question.replace(nonceAt, nonceSize, nonce(nonceSize));
  std::string answer;
  const auto turn = [&](char kind, std::size_t shortest) {
    question[magic.size()] = kind;
    return ask(socket, question, until, answer, [&](const std::string& a) {
      return a.size() >= shortest && a.compare(0, magic.size(), magic) == 0 && a[magic.size()] == kind + 1 &&
             a.compare(nonceAt, nonceSize, question, nonceAt, nonceSize) == 0;
    });
  };
  if (!turn(1, greetingSize)) return false;
  question.replace(receiptAt, greetingSize - receiptAt, answer, receiptAt, greetingSize - receiptAt);
  if (!turn(3, shortestGrant)) return false;
  double microseconds = 0;
  for (std::size_t i = 0; i < 4; i++) microseconds = microseconds * 256 + static_cast<unsigned char>(answer[rttAt + i]);
  to.rtt = microseconds / 1000;
  to.receipt = base64(std::string_view(answer).substr(receiptAt));
  while (to.receipt.back() == '=') to.receipt.pop_back();
  std::replace(to.receipt.begin(), to.receipt.end(), '+', '-');
  std::replace(to.receipt.begin(), to.receipt.end(), '/', '_');
  return true;
}

/** PlayFab's beacons answer with the first two bytes 0, others with what they were asked. */
bool echoTrip(Datagrams& socket, bool playfab, double until, Trip& to) {
  const std::string random = nonce(32);
  const double start = systemSteady();
  std::string answer;
  const bool came = ask(socket, std::string(2, playfab ? '\xff' : '\0') + random, until, answer,
                        [&](const std::string& a) { return a == std::string(2, '\0') + random; });
  to.rtt = systemSteady() - start;
  return came;
}

/** Adds the trip that counts: the median, or the shortest one. */
void add(Latency& to, std::vector<Trip>& trips, bool shortest) {
  if (trips.empty()) return;
  std::sort(trips.begin(), trips.end(), [](const Trip& a, const Trip& b) { return a.rtt < b.rtt; });
  const Trip& one = trips[shortest ? 0 : (trips.size() - 1) / 2];
  to.rtt = to.rtt ? std::min(*to.rtt, one.rtt) : one.rtt;
  if (!one.receipt.empty()) to.receipts.push_back(one.receipt);
}

/** A region that is measured on a thread. It is over when the job is gone, whether it ended, failed or never began. */
struct Probed {
  std::atomic<bool> wanted{true};
  std::atomic<bool> over{false};
  Latency latency;
};

void measureByUdp(Udp& udp, const api::Region& region, const MeasureOptions& o, Probed& to) {
  const std::size_t colon = region.udp->rfind(':');
  std::string host = region.udp->substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  for (const auto& socket : udp.open(host, region.udp->substr(colon + 1))) {
    std::vector<Trip> trips;
    for (int i = 0; i < o.probes && to.wanted; i++) {
      to.latency.sent++;
      Trip trip;
      const double until = systemSteady() + o.timeout;
      const bool came = region.protocol == "beacon" ? beaconTrip(*socket, until, trip)
                                                    : echoTrip(*socket, region.protocol == "playfab", until, trip);
      if (came) trips.push_back(trip);
      to.latency.lost += came ? 0 : 1;
    }
    add(to.latency, trips, false);
  }
}

/** Asks a beacon by HTTP, twice on one connection for a round trip. It gets no token. */
class HttpProbes final : HttpListener {
 public:
  HttpProbes(Connection& c, std::string url, const MeasureOptions& o, Latency& to)
      : c_(c), url_(std::move(url)), o_(o), to_(to), left_(o.probes) {
    while (!url_.empty() && url_.back() == '/') url_.pop_back();
  }
  ~HttpProbes() { stop(); }
  HttpProbes(const HttpProbes&) = delete;
  HttpProbes& operator=(const HttpProbes&) = delete;

  bool step() {
    for (;;) {
      if (flying_ && c_.steady() <= limit_) return false;
      if (asked_ > 0) take();
      if (flying_) continue;
      if (left_ == 0) {
        add(to_, trips_, true);
        return true;
      }
      left_--;
      to_.sent++;
      limit_ = c_.steady() + 3 * o_.timeout;  // the connection is made before the beacon takes the time
      get("");
    }
  }

 private:
  /** Takes an answer, or that there is none, and asks the second question. */
  void take() {
    const bool second = asked_ == 2;
    const bool came = !flying_ && failure_.empty() && status_ == 200;
    const Json answer = (came ? Json::parse(body_) : std::nullopt).value_or(Json());
    stop();
    const std::string& echo = answer["echo"].string();
    if (!second && !echo.empty()) return get("?echo=" + escaped(echo));
    asked_ = 0;
    const std::string& receipt = answer["receipt"].string();
    if (second && !receipt.empty() && answer["rtt"].is(Json::Kind::Number)) {
      trips_.push_back({answer["rtt"].number(), receipt});
    } else {
      to_.lost++;
    }
  }

  void get(const std::string& query) {
    HttpRequest r;
    r.method = "GET";
    r.url = url_ + "/probe" + query;
    asked_++;
    body_.clear();
    failure_.clear();
    status_ = 0;
    flying_ = true;
    id_ = c_.options.transport->start(r, *this);
  }

  void stop() {
    if (flying_) c_.options.transport->cancel(id_);
    flying_ = false;
  }

  void onHead(int status, Pairs) override { status_ = status; }
  void onData(std::string_view bytes) override {
    body_.append(bytes);
    if (body_.size() <= maxProbeAnswer) return;
    stop();
    status_ = 0;
  }
  void onEnd(const std::string& failure) override {
    flying_ = false;
    failure_ = failure;
  }

  Connection& c_;
  std::string url_;
  const MeasureOptions& o_;
  Latency& to_;
  int left_;
  std::vector<Trip> trips_;
  /** How many questions of the probe are asked. */
  int asked_ = 0;
  double limit_ = 0;
  std::uint64_t id_ = 0;
  bool flying_ = false;
  int status_ = 0;
  std::string body_;
  std::string failure_;
};

}  // namespace

/** The latencies of a network, or their measuring, which calls share. */
class Measurement final : public Job {
 public:
  Measurement(Connection& c, const MeasureOptions& of) : o(of), c_(c) {
    o.probes = std::clamp(of.probes, 1, 20);
    o.timeout = std::clamp(of.timeout, 1.0, 2000.0);
  }
  ~Measurement() override {
    for (const Region& r : regions_) {
      if (r.udp) r.udp->wanted = false;
    }
  }

  bool known() const { return running || (!result.error && c_.steady() < until_); }

  void begin() {
    running = true;
    Connection::SendOptions s;
    s.life = c_.always;
    c_.ask<api::Regions>(api::listRegions(), s, [this](const Result<api::Regions>& r) {
      result.error = r.error;
      listed_ = true;
      half_ = static_cast<double>(r.value.receiptSeconds) * 1000 / 2;
      for (const api::Region& of : r.value.regions) {
        if (regions_.size() == maxRegions) break;
        Region& region = regions_.emplace_back();
        region.of = of;
        region.latency.region = of.name;
      }
    });
  }

  bool step() override {
    if (running && !measured()) return false;
    running = false;
    const auto told = std::move(waiting);
    waiting.clear();
    for (const auto& done : told) done(result);
    return true;
  }

  MeasureOptions o;
  bool running = false;
  std::vector<Matchmaker::OnLatencies> waiting;
  Result<std::vector<Latency>> result;

 private:
  struct Region {
    api::Region of;
    Latency latency;
    bool begun = false;
    bool over = false;
    std::shared_ptr<Probed> udp;
    double limit = 0;
    std::unique_ptr<HttpProbes> http;
  };

  /** Goes on with the first regions that are not over. */
  bool measured() {
    if (!listed_ || c_.suspended) return false;
    std::size_t busy = 0;
    for (Region& r : regions_) {
      r.over = r.over || advance(r);
      if (!r.over && ++busy == parallel) break;
    }
    if (busy > 0) return false;
    for (const Region& r : regions_) result.value.push_back(r.latency);
    until_ = c_.steady() + half_;
    return true;
  }

  bool advance(Region& r) {
    if (!r.begun) probe(r);
    if (r.udp) {
      const bool over = r.udp->over;
      if (!over && c_.steady() <= r.limit) return false;
      if (over) r.latency = r.udp->latency;
      r.udp->wanted = false;
      r.udp = nullptr;
    }
    const bool web = r.of.url && (r.of.url->rfind("http://", 0) == 0 || r.of.url->rfind("https://", 0) == 0);
    if (!r.http && !r.latency.rtt && web) r.http = std::make_unique<HttpProbes>(c_, *r.of.url, o, r.latency);
    return !r.http || r.http->step();
  }

  void probe(Region& r) {
    r.begun = true;
    const bool known = r.of.protocol == "beacon" || r.of.protocol == "playfab" || r.of.protocol == "echo";
    const std::shared_ptr<Udp> udp = c_.options.udp;
    if (!udp || !known || !r.of.udp || r.of.udp->find(':') == std::string::npos) return;
    r.udp = std::make_shared<Probed>();
    r.udp->latency.region = r.of.name;
    r.limit = c_.steady() + (2 * o.probes + 3) * o.timeout;  // of both families, and a look-up of the host's name
    const std::shared_ptr<void> gone(nullptr, [to = r.udp](void*) { to->over = true; });
    const bool runs = udp->run([udp, of = r.of, options = o, to = r.udp, gone] { measureByUdp(*udp, of, options, *to); });
    if (!runs) r.udp = nullptr;
  }

  Connection& c_;
  bool listed_ = false;
  double half_ = 0;
  double until_ = 0;
  std::vector<Region> regions_;
};

std::vector<std::string> receipts(const std::vector<Latency>& all) {
  std::vector<std::string> list;
  for (const Latency& l : all) list.insert(list.end(), l.receipts.begin(), l.receipts.end());
  return list;
}

void Matchmaker::measure(const MeasureOptions& o, OnLatencies done) {
  Connection& c = *connection_;
  auto& kept = c.measured;
  const auto same = std::find_if(kept.begin(), kept.end(), [&](const auto& m) { return m->o.network == o.network; });
  std::shared_ptr<Measurement> of = same == kept.end() || o.anew || !(*same)->known() ? nullptr : *same;
  const bool going = of && of->running;
  if (!of) {
    if (same != kept.end()) kept.erase(same);
    if (kept.size() == maxNetworks) kept.erase(kept.begin());
    of = kept.emplace_back(std::make_shared<Measurement>(c, o));
    of->begin();
  }
  if (done) of->waiting.push_back(std::move(done));
  if (!going) c.add(of);
}

}  // namespace matchmaker
