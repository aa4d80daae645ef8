#pragma once

#include "matchmaker/matchmaker.h"

namespace matchmaker {

/** How a match is that a test makes. */
struct FakeMatch {
  std::string connection = "127.0.0.1:7777";
  std::map<std::string, Json> matchProperties;
  /** An error instead of a connection, such as AllocationError. */
  std::string error;
};

/**
 * The service in memory, for a game's own tests: a Matchmaker asks it as it asks the real one. It matches nobody by
 * itself; the test says what happens.
 */
class FakeService final : public Transport {
 public:
  /**
   * `speed` is how much faster time passes for the service and its Matchmakers: 100 makes an hour 36 seconds. A frame takes
   * 5 s of it at most: at 60 frames a second, 300 is the most.
   */
  explicit FakeService(double speed = 1);
  ~FakeService() override;

  /** The options of a player's Matchmaker. */
  Options options(const std::string& player);

  /** How many milliseconds an answer takes. */
  double slow = 0;
  /** Creates of tickets are refused: come again in so many seconds. 0: they are not. */
  int full = 0;
  /** Nothing is answered, and what is open breaks. */
  bool gone = false;
  /** The regions that are measured. */
  std::vector<api::Region> regions;

  /** Streams break; clients come back. */
  void cut();
  /** The players whose tickets wait. */
  std::vector<std::string> waiting() const;
  /** Players get the same match. Here and below, players without a ticket that waits are left out. */
  void match(const std::vector<std::string>& players, const FakeMatch& match = {});
  /** A match asks players whether they accept it. When all have, they get it. */
  void offer(const std::vector<std::string>& players, double seconds = 20, const FakeMatch& match = {});
  /** A player accepts or declines the match that asks, as its client may. */
  void answer(const std::string& player, bool accept);
  /** The running games that servers fill, as they were told last. */
  std::vector<api::BackfillTicket> games() const;
  /** Players join the running game that was created last, when its server approves next. */
  void join(const std::vector<std::string>& players);
  /** A player's ticket ends without a match: abandoned, unserved, … */
  void end(const std::string& player, const std::string& reason);

  std::uint64_t start(const HttpRequest& request, HttpListener& listener) override;
  void cancel(std::uint64_t id) override;
  void pump(int wait) override;

 private:
  struct State;
  std::unique_ptr<State> s_;
};

}  // namespace matchmaker
