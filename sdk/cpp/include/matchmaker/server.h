#pragma once

#include "matchmaker/matchmaker.h"

/** What a game server asks of the service. Its Matchmaker's token is the server's. */
namespace matchmaker {

/** Which game is kept filled. */
struct FillOptions {
  /** The backfill ticket that was made together with the game's match. Empty: one is created. */
  std::string backfill;
  /** The tickets that have joined: each once, and before `state` is asked again. Their players will connect soon. */
  std::function<void(const std::vector<api::Ticket>&)> join;
  /**
   * What the game is now: where its server is, and usually how many more players it takes, those counted in that `join`
   * was called with. An attribute or a property that it does not name stays as functions left it, and so does the
   * connection when it names none.
   */
  std::function<api::BackfillRequest()> state;
  /** Is told what went wrong. The filling goes on. */
  Done failed;
  /** The time between two approvals. */
  double every = 1000;
};

/** Keeps a running game filled. */
class Filler {
 public:
  virtual ~Filler() = default;
  /** `state` has something new to say, which the service is told at once. */
  virtual void changed() = 0;
  /** The game takes no more players: the backfill ticket is deleted. */
  virtual void end(Done done = nullptr) = 0;
};

std::shared_ptr<Filler> fill(Matchmaker& matchmaker, FillOptions o);

/** What a game server knows of itself: its match or backfill ticket, and where seats are in. */
struct SeatOptions {
  std::string match;
  std::string backfill;
  /** Where players reach it; empty if it does not know. */
  std::string connection;
  /** How much the clocks of the service and of this machine may differ, in milliseconds. */
  double leeway = 30'000;
};

/** Whose a pass is; `refused` says why it is not good. */
struct Seat {
  std::string player;
  std::string ticket;
  std::string refused;
};

/**
 * Checks seat passes: that the service signed one, that it is good now, and that it is for this game on this server.
 * The keys are read when the first pass is checked, every five minutes, and when a pass has an unknown key. A pass is
 * good until it expires, also a second time: note who is there.
 */
class Seats {
 public:
  virtual ~Seats() = default;
  /** An error says nothing of the pass: the keys could not be read. In parentheses, since Unreal has a macro check. */
  virtual void (check)(const std::string& pass, std::function<void(const Result<Seat>&)> done) = 0;
};

std::shared_ptr<Seats> seats(Matchmaker& matchmaker, SeatOptions o);

}  // namespace matchmaker
