#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "matchmaker/api.h"
#include "matchmaker/error.h"
#include "matchmaker/latency.h"
#include "matchmaker/transport.h"

/**
 * A client of the matchmaking service. Everything happens within `Matchmaker::pump`, which a game calls each frame: it
 * is the only place where callbacks are called. No other thread is used. Times are in milliseconds.
 */
namespace matchmaker {

class Connection;

/** Why a token is asked for. `Refused`: the service did not take the last one, so do not give it again. */
enum class Why { First, Expiring, Refused };

/** A token, or why there is none. */
struct Token {
  std::string token;
  std::string error;
};

/** Gives the player's token: it calls `reply`, now or later, on the thread that pumps. */
using TokenSource = std::function<void(Why why, std::function<void(Token)> reply)>;

/** Keeps a text over a crash of the game. */
class Storage {
 public:
  virtual ~Storage() = default;
  /** Empty if there is none. */
  virtual std::string load() = 0;
  /** Empty: there is nothing to keep any more. */
  virtual void save(const std::string& text) = 0;
};

/** A file. */
std::unique_ptr<Storage> fileStorage(std::string path);

/** Time, in milliseconds. A game's tests may bring other clocks. */
struct Clock {
  /** Since 1970. */
  std::function<double()> wall;
  /** Since any time; it never goes back. */
  std::function<double()> steady;
};

struct Options {
  /** Scheme, host, port, and a path if the service is below one: https://matchmaker.example */
  std::string url;
  std::string project;
  TokenSource token;
  /** The player for whom a game service acts. A player's token names its player itself. */
  std::string player;
  /** Must outlive the Matchmaker; curlTransport() is one. */
  Transport* transport = nullptr;
  /** Keeps what `restore` goes on with after a crash; may be null. */
  Storage* storage = nullptr;
  /** Measures latencies by UDP; systemUdp() is one. Otherwise it is HTTP. */
  std::shared_ptr<Udp> udp;
  /** For tests. */
  Clock clock;
  /** From 0 to below 1, for tests. */
  std::function<double()> random;
};

/** What a ticket, or a member of a party, is asked for with. */
struct Values {
  /** Numbers that pools and rules query. */
  std::map<std::string, double> attributes;
  /** Values for the match function, in any JSON. */
  std::map<std::string, Json> values;
  /** Bytes for the match function. */
  std::map<std::string, std::string> properties;
  /** The player's latencies to regions, as rules expect them. */
  std::map<std::string, double> latencies;
  /** What proves latencies to the service: `receipts` of what `Matchmaker::measure` found. */
  std::vector<std::string> receipts;
};

/** What is searched for. */
struct SearchOptions : Values {
  /** The queues to wait in. The ticket is matched once. */
  std::vector<std::string> queues;
  /** A game service's: whom the ticket is for. */
  std::vector<api::Player> players;
  /** After this time the search is cancelled. */
  double timeout = 3'600'000;
};

/** Where to play. */
struct Match {
  std::string ticket;
  /** How to connect to the game server. */
  std::string connection;
  /** The player's seat pass, which the server checks, if the config has them. It is good for some minutes. */
  std::string seat;
  /** A game service's: the passes of all players of the ticket. */
  std::map<std::string, std::string> seats;
  /** What the match function says for this ticket, and for all. */
  std::map<std::string, Json> properties;
  std::map<std::string, Json> matchProperties;
};

/** How a search is. Matched, Cancelled and Failed are its end. */
struct Update {
  enum class State {
    Starting,
    /** The ticket waits, or waits again. Nobody matches it in `unservedQueues`. */
    Searching,
    /** A match asks its players: answer until `deadline` of the clock `wall`. */
    Offered,
    /** There is a match, and a server is asked for. */
    Preparing,
    Matched,
    Cancelled,
    Failed,
  };
  State state = State::Starting;
  std::string ticket;
  std::optional<api::Estimate> estimate;
  std::vector<std::string> unservedQueues;
  /** Offered: the match, how many players are asked, how many accepted, and whether the player answered. */
  std::string offer;
  double deadline = 0;
  std::int64_t players = 0;
  std::int64_t accepted = 0;
  bool answered = false;
  /** Matched. */
  Match match;
  /** Failed. */
  Error error;

  bool ended() const { return state >= State::Matched; }
};

/** What became of a cancel: it was cancelled, it was too late and there is a match, or the service did not answer. */
struct Cancelled {
  bool cancelled = false;
  std::optional<Match> late;
  Error error;
};

using Done = std::function<void(const Error&)>;

/** A search for a match. It goes on if the game lets go of it. */
class Search {
 public:
  virtual ~Search() = default;
  /** How the search is now. */
  virtual const Update& update() const = 0;
  /** Is told of updates; of the one that is now, too. */
  virtual void onUpdate(std::function<void(const Update&)> f) = 0;
  /** Ends the search, unless it is too late: then there is the match. */
  virtual void cancel(std::function<void(const Cancelled&)> done = nullptr) = 0;
  /** Accepts or declines the match that was offered last. */
  virtual void accept(Done done = nullptr) = 0;
  virtual void decline(Done done = nullptr) = 0;
  /** For how much longer tickets like this one wait, if that is known. Ask every ten seconds at most. */
  virtual void estimate(std::function<void(const Result<std::optional<api::Estimate>>&)> done) = 0;
  /** A new seat pass, to reconnect with. */
  virtual void seat(std::function<void(const Result<std::string>&)> done) = 0;
  /** Ends the following. The ticket waits on: cancel ends it, restore goes on with it. */
  virtual void abandon() = 0;
};

/** What a member says of itself. */
struct MemberOptions : Values {
  /** Whether the search may begin as far as the member is concerned. */
  bool ready = true;
};

/** What happens to a party. */
struct PartyUpdate {
  enum class State {
    Party,
    /** The leader has begun a search. Each member follows it. */
    Search,
    /** The end for the player; `reason` is left, kicked, disbanded, silent or gone. */
    Left,
  };
  State state = State::Party;
  api::Party party;
  std::shared_ptr<Search> search;
  std::string reason;
  Error error;
};

/** Players who search together. It is followed until the player leaves. */
class Party {
 public:
  virtual ~Party() = default;
  /** The party as it is known. */
  virtual const api::Party& state() const = 0;
  /** Is told of updates; of the last one, too. */
  virtual void onUpdate(std::function<void(const PartyUpdate&)> f) = 0;
  /** The last search, null if there was none since the members are these. */
  virtual std::shared_ptr<Search> search() const = 0;
  virtual bool leads() const = 0;
  /** Says anew what the player carries, and whether it is ready. */
  virtual void update(const MemberOptions& o, Done done = nullptr) = 0;
  /** The leader searches a match for all, when all are ready. */
  virtual void start(const SearchOptions& o, Done done = nullptr) = 0;
  /** The leader ends the search. */
  virtual void stop(Done done = nullptr) = 0;
  /** The leader hands over; removes a member, who cannot join again; gives the party another code; ends it. */
  virtual void promote(const std::string& player, Done done = nullptr) = 0;
  virtual void kick(const std::string& player, Done done = nullptr) = 0;
  virtual void renewCode(Done done = nullptr) = 0;
  virtual void disband(Done done = nullptr) = 0;
  /** The player leaves. */
  virtual void leave(Done done = nullptr) = 0;
};

/** The service, for one player. It asks nothing before it is told to. */
class Matchmaker {
 public:
  using OnParty = std::function<void(const Result<std::shared_ptr<Party>>&)>;
  using OnLatencies = std::function<void(const Result<std::vector<Latency>>&)>;

  explicit Matchmaker(Options o);
  ~Matchmaker();
  Matchmaker(const Matchmaker&) = delete;
  Matchmaker& operator=(const Matchmaker&) = delete;

  /** What is wrong with the options; nothing is sent then. */
  const Error& error() const;

  /**
   * Goes on with everything, and calls callbacks. It waits for the network for so many milliseconds at most. Within a
   * callback it does nothing.
   */
  void pump(int wait = 0);

  /** Searches a match. What goes wrong is the search's end. */
  std::shared_ptr<Search> search(const SearchOptions& o = {});

  /**
   * Goes on with a search that the game does not know any more, since it crashed or was closed: the one in the storage,
   * or else the player's newest ticket, if the project lists them. The value is null if there is none.
   *
   * It may have a match already, and that match may be over: when the game server does not know the player, search.
   */
  void restore(std::function<void(const Result<std::shared_ptr<Search>>&)> done);

  /** The match is over: there is nothing to go on with. */
  void forget();

  /** Makes a party, which the player leads. `size` is how many members it may have; 0: as many as the service allows. */
  void createParty(const MemberOptions& o, std::int64_t size, OnParty done);
  /** Joins the party with a code, as people type it. */
  void joinParty(const std::string& code, const MemberOptions& o, OnParty done);
  /** The player's party, null if there is none. */
  void party(OnParty done);

  /**
   * How far each region is from this device. It is measured where that is not known of the network, and kept for half of
   * the time that the service believes receipts.
   */
  void measure(const MeasureOptions& o, OnLatencies done);

  /** The app goes to the background: nothing is asked until it comes back. */
  void suspend();
  /** The app is back: whatever is awaited is asked for at once. */
  void resume();

  /** Sends a request of the API as it is, such as api::getTicket. */
  template <class T> void send(Request<T> request, std::function<void(const Result<T>&)> done) {
    sendAny(std::move(request), [done](const Result<Json>& r) {
      Result<T> to;
      to.error = r.error;
      read(r.value, to.value);
      if (done) done(to);
    });
  }
  void sendAny(AnyRequest request, std::function<void(const Result<Json>&)> done);

  /** For what else is built on it: servers. */
  const std::shared_ptr<Connection>& connection() const { return connection_; }

 private:
  std::shared_ptr<Connection> connection_;
};

}  // namespace matchmaker
