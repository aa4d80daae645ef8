// Code generated from openapi.yaml. DO NOT EDIT.
#pragma once

#include "matchmaker/request.h"

namespace matchmaker::api {

/** What the ticket's match asks its players, while it does. */
struct Acceptance {
  /** The match that asks. */
  std::string match;
  /** For how many milliseconds they may answer. */
  std::int64_t remaining{};
  /** How many players of all tickets of the match are asked. */
  std::int64_t players{};
  /** How many of them accepted. */
  std::int64_t accepted{};
  /** The players of this ticket who did not answer. */
  std::vector<std::string> unanswered;
  template <class V> void visit(V&& v) {
    v("match", match);
    v("remaining", remaining);
    v("players", players);
    v("accepted", accepted);
    v("unanswered", unanswered);
  }
};

/** What became of a ticket: a connection, or an error. */
struct Assignment {
  /** How to connect to the game server or session. Empty when there is an error. */
  std::string connection;
  /**
   * Why matchmaking failed, empty when it did not. Functions have texts of their own besides `PoolTimeout` (the
   * function gave up) and `AllocationError` (there was no game server for the match). Where the allowed number of
   * servers is zero, the error is `The hosting maximum of the fleet or its region is zero`. Studios find more in the
   * events and logs.
   */
  std::string error;
  /**
   * What the match function sets for this ticket alone. When the function uses the older assignment properties, and
   * neither ticket nor match properties, these are the same for all tickets of the match.
   */
  std::optional<std::map<std::string, Json>> properties;
  /** What the match function sets for all players and the game server. */
  std::optional<std::map<std::string, Json>> matchproperties;
  /**
   * An extension. Seat passes by player, if the match's config has `seats`: signed JSON Web Tokens that the players
   * show to the game server. A player gets the player's own, a game service those of all players of the ticket. They
   * are good for some minutes; another GET has new ones.
   */
  std::optional<std::map<std::string, std::string>> seats;
  template <class V> void visit(V&& v) {
    v("connection", connection);
    v("error", error);
    v("properties", properties);
    v("matchproperties", matchproperties);
    v("seats", seats);
  }
};

/**
 * A player in a running game. In an answer, players who joined since the server named its players have no team and no
 * role, and the attributes of their ticket.
 */
struct GamePlayer {
  /** As the subject of the player's token, in up to 256 bytes. */
  std::string id;
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::optional<std::map<std::string, double>> attributes;
  /** Match functions see it. */
  std::optional<std::string> role;
  /** Match functions see it. */
  std::optional<std::string> team;
  template <class V> void visit(V&& v) {
    v("id", id);
    v("attributes", attributes);
    v("role", role);
    v("team", team);
  }
};

/** What a backfill ticket is created with. */
struct BackfillRequest {
  /** The address of the server, `ip:port`. Null while the server is still being allocated. */
  std::optional<std::string> Connection;
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::optional<std::map<std::string, double>> attributes;
  /** Who is in the game. None of them joins it again, and match functions see them. */
  std::optional<std::vector<GamePlayer>> players;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::optional<std::map<std::string, std::string>> properties;
  /** The queue whose tickets may join. Without one, tickets without queues may. */
  std::optional<std::string> queue;
  template <class V> void visit(V&& v) {
    v("Connection", Connection);
    v("attributes", attributes);
    v("players", players);
    v("properties", properties);
    v("queue", queue);
  }
};

/**
 * For how much longer the ticket waits until it is in a match, if it waits as tickets like it did lately: four of five
 * wait for no less than `low`, and no longer than `high`, from the time of the answer. Left out where none was asked
 * for or too little is known.
 */
struct Estimate {
  /** In milliseconds. */
  std::int64_t low{};
  /** In milliseconds. */
  std::int64_t high{};
  template <class V> void visit(V&& v) {
    v("low", low);
    v("high", high);
  }
};

/** A player of a ticket. `attributes` and `properties` are absent when there are none, or are not the reader's. */
struct Player {
  /** As the subject of the player's token, in up to 256 bytes. */
  std::string id;
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::optional<std::map<std::string, double>> attributes;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::optional<std::map<std::string, std::string>> properties;
  template <class V> void visit(V&& v) {
    v("id", id);
    v("attributes", attributes);
    v("properties", properties);
  }
};

/** A request for a match. */
struct Ticket {
  std::string id;
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::map<std::string, double> attributes;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::map<std::string, std::string> properties;
  /** When the ticket was created, in Unix UTC milliseconds. Pools query it as the attribute `created`. */
  std::int64_t created{};
  /** The result of matchmaking. Null until there is one. */
  std::optional<Assignment> assignment;
  std::optional<Acceptance> acceptance;
  std::optional<Estimate> estimate;
  /**
   * Whom the ticket is for. Absent when the owner is the only one. A player sees the own attributes and properties, and
   * of the others the ids; a game service sees all.
   */
  std::optional<std::vector<Player>> players;
  /** The queues that the ticket waits in, sorted. Left out when there are none. */
  std::optional<std::vector<std::string>> queues;
  /**
   * The ticket's queues that no config serves at present: no config matches the ticket there. Left out when there are
   * none, and when the ticket has a result.
   */
  std::optional<std::vector<std::string>> unservedQueues;
  template <class V> void visit(V&& v) {
    v("id", id);
    v("attributes", attributes);
    v("properties", properties);
    v("created", created);
    v("assignment", assignment);
    v("acceptance", acceptance);
    v("estimate", estimate);
    v("players", players);
    v("queues", queues);
    v("unservedQueues", unservedQueues);
  }
};

/** A running game that wants more players. */
struct BackfillTicket {
  std::string Id;
  /** When it was created, in Unix UTC milliseconds. */
  std::int64_t Created{};
  /** Counts the changes of the server. The matchmaker maintains it, and changes by match functions do not count. */
  std::int64_t RecordVersion{};
  /** The address of the server, `ip:port`. Null while the server is still being allocated. */
  std::optional<std::string> Connection;
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::map<std::string, double> attributes;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::map<std::string, std::string> properties;
  /**
   * Only in the answer to an approval. Tickets that joined the game: exactly those that this approval assigned, and
   * again those of the 20 seconds before it, so that a lost answer loses none. Left out when there are none. The
   * `properties` of their assignments are for the players alone and null here. Each has its `players`, also where the
   * owner is the only one.
   */
  std::optional<std::vector<Ticket>> assignedTickets;
  /** Who is in the game. It is left out until its server says it. */
  std::optional<std::vector<GamePlayer>> players;
  /** The name of a queue, up to 64 bytes without spaces and control characters. */
  std::optional<std::string> queue;
  template <class V> void visit(V&& v) {
    v("Id", Id);
    v("Created", Created);
    v("RecordVersion", RecordVersion);
    v("Connection", Connection);
    v("attributes", attributes);
    v("properties", properties);
    v("assignedTickets", assignedTickets);
    v("players", players);
    v("queue", queue);
  }
};

struct BackfillTicketUpdate {
  /** The address of the server, `ip:port`. Null while the server is still being allocated. */
  std::optional<std::string> Connection;
  std::optional<std::int64_t> Created;
  std::optional<std::string> Id;
  /** How often the server changed it, from 1 on. */
  std::optional<std::int64_t> RecordVersion;
  /** Those of the answer to an approval. They are ignored. */
  std::optional<std::vector<Json>> assignedTickets;
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::optional<std::map<std::string, double>> attributes;
  /** Who is in the game. When it is left out it stays as it is. */
  std::optional<std::vector<GamePlayer>> players;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::optional<std::map<std::string, std::string>> properties;
  /** The queue whose tickets may join; empty for tickets without queues. When it is left out it stays as it is. */
  std::optional<std::string> queue;
  template <class V> void visit(V&& v) {
    v("Connection", Connection);
    v("Created", Created);
    v("Id", Id);
    v("RecordVersion", RecordVersion);
    v("assignedTickets", assignedTickets);
    v("attributes", attributes);
    v("players", players);
    v("properties", properties);
    v("queue", queue);
  }
};

struct CreateParty {
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::optional<std::map<std::string, double>> attributes;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::optional<std::map<std::string, std::string>> properties;
  /** Whether the search may be started as far as this member is concerned. Without it, it may. */
  std::optional<bool> ready;
  /**
   * Receipts of beacons for the player's latencies, one a region for each family of addresses, with a player's token
   * alone. One that is forged, old, or from another network than the request is answered 400 where the project has a
   * rule with `setBy: beacon`; elsewhere they are not looked at.
   */
  std::optional<std::vector<std::string>> receipts;
  /** How many members it may have. Without it, as many as the service allows. */
  std::optional<std::int64_t> size;
  template <class V> void visit(V&& v) {
    v("attributes", attributes);
    v("properties", properties);
    v("ready", ready);
    v("receipts", receipts);
    v("size", size);
  }
};

/** What a ticket is created with. */
struct CreateTicket {
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::optional<std::map<std::string, double>> attributes;
  /**
   * Whom the ticket is for, each player once. Without it the owner is the only one. The owner need not be among them. A
   * player's token names the player alone (403). An installation may set another limit than 64.
   */
  std::optional<std::vector<Player>> players;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::optional<std::map<std::string, std::string>> properties;
  /**
   * The queues that the ticket waits in, each once. It is matched once, by a config that serves one of them. Without
   * one, configs without a queue match it.
   */
  std::optional<std::vector<std::string>> queues;
  /**
   * Receipts of beacons for the player's latencies, one a region for each family of addresses, with a player's token
   * alone. One that is forged, old, or from another network than the request is answered 400 where the project has a
   * rule with `setBy: beacon`; elsewhere they are not looked at.
   */
  std::optional<std::vector<std::string>> receipts;
  template <class V> void visit(V&& v) {
    v("attributes", attributes);
    v("players", players);
    v("properties", properties);
    v("queues", queues);
    v("receipts", receipts);
  }
};

struct CreatedBackfillTicket {
  std::string Id;
  template <class V> void visit(V&& v) {
    v("Id", Id);
  }
};

struct CreatedTicket {
  /** The ticket's identifier. Do not expect a certain form of it. */
  std::string id;
  /** A leftover of an older way to report errors. Always null. */
  std::optional<std::map<std::string, Json>> status;
  /** Null when there was no result in time. */
  std::optional<Assignment> assignment;
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::optional<std::map<std::string, double>> attributes;
  /** As in Ticket, if the answer waited. So are `attributes`, `properties`, `assignment` and `players`. */
  std::optional<std::int64_t> created;
  /**
   * Whom the ticket is for. Absent when the owner is the only one. A player sees the own attributes and properties, and
   * of the others the ids; a game service sees all.
   */
  std::optional<std::vector<Player>> players;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::optional<std::map<std::string, std::string>> properties;
  /** The queues that the ticket waits in, sorted. Left out when there are none. */
  std::optional<std::vector<std::string>> queues;
  /** The match without a result that a player of the ticket is in, where the settings tell it. */
  std::optional<std::string> running;
  /**
   * The ticket's queues that no config serves at present: no config matches the ticket there. Left out when there are
   * none, and when the ticket has a result.
   */
  std::optional<std::vector<std::string>> unservedQueues;
  template <class V> void visit(V&& v) {
    v("id", id);
    v("status", status);
    v("assignment", assignment);
    v("attributes", attributes);
    v("created", created);
    v("players", players);
    v("properties", properties);
    v("queues", queues);
    v("running", running);
    v("unservedQueues", unservedQueues);
  }
};

struct JoinParty {
  /** The party's code. */
  std::string code;
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::optional<std::map<std::string, double>> attributes;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::optional<std::map<std::string, std::string>> properties;
  /** Whether the search may be started as far as this member is concerned. Without it, it may. */
  std::optional<bool> ready;
  /**
   * Receipts of beacons for the player's latencies, one a region for each family of addresses, with a player's token
   * alone. One that is forged, old, or from another network than the request is answered 400 where the project has a
   * rule with `setBy: beacon`; elsewhere they are not looked at.
   */
  std::optional<std::vector<std::string>> receipts;
  template <class V> void visit(V&& v) {
    v("code", code);
    v("attributes", attributes);
    v("properties", properties);
    v("ready", ready);
    v("receipts", receipts);
  }
};

struct LeaderboardEntry {
  std::int64_t rank{};
  std::string player;
  double value{};
  std::optional<std::string> tier;
  template <class V> void visit(V&& v) {
    v("rank", rank);
    v("player", player);
    v("value", value);
    v("tier", tier);
  }
};

/** A page of the best players of a season, by the value after their last match. */
struct Leaderboard {
  std::string rating;
  /** How many players are in it; at most the best 10,000. */
  std::int64_t total{};
  std::vector<LeaderboardEntry> players;
  /** The `after` of the next page. Absent on the last one. */
  std::optional<std::int64_t> next;
  std::optional<std::string> season;
  template <class V> void visit(V&& v) {
    v("rating", rating);
    v("total", total);
    v("players", players);
    v("next", next);
    v("season", season);
  }
};

struct MatchAnswer {
  /** The match that asks. */
  std::string match;
  /** Whether the players accept it. */
  bool accept{};
  /** The players who answer. Without any, all of the ticket do. A player's token names the player alone. */
  std::optional<std::vector<std::string>> players;
  template <class V> void visit(V&& v) {
    v("match", match);
    v("accept", accept);
    v("players", players);
  }
};

/** A player of a match that is over. */
struct ReportedPlayer {
  std::string id;
  /** After how many seconds of the game the player left it before its end. */
  std::optional<double> left;
  /** Whatever the server counts. They are kept with the result, and not looked at. */
  std::optional<std::map<std::string, double>> numbers;
  template <class V> void visit(V&& v) {
    v("id", id);
    v("left", left);
    v("numbers", numbers);
  }
};

/**
 * A team of a match that is over. All teams have a rank, or all have a score; with both, the rank counts, and the score
 * where a rating has a `margin`.
 */
struct ReportedTeam {
  /** As the match has it (its first 64 bytes count), or its number from 1 if it has none. */
  std::optional<std::string> name;
  /** Whatever the server counts. They are kept with the result, and not looked at. */
  std::optional<std::map<std::string, double>> numbers;
  std::optional<std::vector<ReportedPlayer>> players;
  /** The least is the best; equal ones drew. */
  std::optional<std::int64_t> rank;
  /** The highest is the best. */
  std::optional<double> score;
  template <class V> void visit(V&& v) {
    v("name", name);
    v("numbers", numbers);
    v("players", players);
    v("rank", rank);
    v("score", score);
  }
};

/** What the match did to a rating of a player. */
struct RatingChange {
  std::string player;
  std::string rating;
  /** The mean with which the match was counted. */
  double before{};
  double mean{};
  double sigma{};
  template <class V> void visit(V&& v) {
    v("player", player);
    v("rating", rating);
    v("before", before);
    v("mean", mean);
    v("sigma", sigma);
  }
};

/** The result of a match. */
struct MatchResult {
  std::vector<ReportedTeam> teams;
  /** When this result came. */
  std::string reported;
  /** How many results it replaced. */
  std::int64_t corrections{};
  std::optional<std::vector<RatingChange>> ratings;
  template <class V> void visit(V&& v) {
    v("teams", teams);
    v("reported", reported);
    v("corrections", corrections);
    v("ratings", ratings);
  }
};

/** A member of a party. Attributes and properties are shown to the member alone. */
struct PartyMember {
  /** The player. */
  std::string id;
  /** In Unix UTC milliseconds. */
  std::int64_t joined{};
  bool ready{};
  /** Only the caller's own. */
  std::optional<std::map<std::string, double>> attributes;
  /** Only the caller's own. */
  std::optional<std::map<std::string, std::string>> properties;
  template <class V> void visit(V&& v) {
    v("id", id);
    v("joined", joined);
    v("ready", ready);
    v("attributes", attributes);
    v("properties", properties);
  }
};

/** A search of a party: a ticket with all members, which each of them can read. */
struct PartySearch {
  /** The ticket of all members. */
  std::string ticket;
  /** In Unix UTC milliseconds. */
  std::int64_t started{};
  template <class V> void visit(V&& v) {
    v("ticket", ticket);
    v("started", started);
  }
};

/** Players who search for a match together, as one of them sees it. */
struct Party {
  std::string id;
  /** It lets others join. Empty for developers. */
  std::string code;
  /** The member who starts and stops the search. */
  std::string leader;
  /** In Unix UTC milliseconds. */
  std::int64_t created{};
  /** It grows with each change of the party. The ETag is made of it. */
  std::int64_t revision{};
  /** How many members there may be. */
  std::int64_t size{};
  /** By when they joined, the oldest first. */
  std::vector<PartyMember> members;
  /** The last search since the members are these. Null when there was none. */
  std::optional<PartySearch> search;
  template <class V> void visit(V&& v) {
    v("id", id);
    v("code", code);
    v("leader", leader);
    v("created", created);
    v("revision", revision);
    v("size", size);
    v("members", members);
    v("search", search);
  }
};

/** What a member of a party says of itself. */
struct PartyMembership {
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::optional<std::map<std::string, double>> attributes;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::optional<std::map<std::string, std::string>> properties;
  /** Whether the search may be started as far as this member is concerned. Without it, it may. */
  std::optional<bool> ready;
  /**
   * Receipts of beacons for the player's latencies, one a region for each family of addresses, with a player's token
   * alone. One that is forged, old, or from another network than the request is answered 400 where the project has a
   * rule with `setBy: beacon`; elsewhere they are not looked at.
   */
  std::optional<std::vector<std::string>> receipts;
  template <class V> void visit(V&& v) {
    v("attributes", attributes);
    v("properties", properties);
    v("ready", ready);
    v("receipts", receipts);
  }
};

/** A rating of a player. */
struct PlayerRating {
  std::string name;
  double mean{};
  double sigma{};
  /** How many it is made of. */
  std::int64_t matches{};
  std::string changed;
  std::optional<bool> provisional;
  /** The player's place in the leaderboard of the season. Absent where the player is not in it. */
  std::optional<std::int64_t> rank;
  std::optional<std::string> season;
  std::optional<std::string> tier;
  /** What is shown to players: the mean less `below` deviations. Absent in exports. */
  std::optional<double> value;
  template <class V> void visit(V&& v) {
    v("name", name);
    v("mean", mean);
    v("sigma", sigma);
    v("matches", matches);
    v("changed", changed);
    v("provisional", provisional);
    v("rank", rank);
    v("season", season);
    v("tier", tier);
    v("value", value);
  }
};

struct PlayerRatings {
  std::vector<PlayerRating> ratings;
  template <class V> void visit(V&& v) {
    v("ratings", ratings);
  }
};

struct ProblemDetailsExtensions {
  std::string correlationId;
  template <class V> void visit(V&& v) {
    v("correlationId", correlationId);
  }
};

/** RFC 9457, with the correlation id in a nested object. */
struct ProblemDetails {
  /** A reference for the status. */
  std::string type;
  std::string title;
  std::int64_t status{};
  std::string detail;
  /**
   * What went wrong, for programs. The set is closed in a version, and a later one may have more: what a client does
   * not know it handles by the status. `components.x-codes` has for each code its status, when it is the answer,
   * whether the same request may succeed later (after `Retry-After`, if there is one), and what a player may be told.
   */
  std::string code;
  Json instance;
  ProblemDetailsExtensions extensions;
  template <class V> void visit(V&& v) {
    v("type", type);
    v("title", title);
    v("status", status);
    v("detail", detail);
    v("code", code);
    v("instance", instance);
    v("extensions", extensions);
  }
};

struct RatingPoint {
  double mean{};
  double sigma{};
  /** What is shown, by the settings of now. */
  double value{};
  template <class V> void visit(V&& v) {
    v("mean", mean);
    v("sigma", sigma);
    v("value", value);
  }
};

/** What a match did to a rating of a player. */
struct RatingStep {
  std::string match;
  /** When the result came. */
  std::string time;
  std::string rating;
  RatingPoint before;
  RatingPoint after;
  template <class V> void visit(V&& v) {
    v("match", match);
    v("time", time);
    v("rating", rating);
    v("before", before);
    v("after", after);
  }
};

struct RatingHistory {
  std::vector<RatingStep> changes;
  template <class V> void visit(V&& v) {
    v("changes", changes);
  }
};

/** A place that answers probes. */
struct Region {
  std::string name;
  /**
   * `beacon`: a beacon, whose receipts the service believes. `playfab`: it answers as PlayFab's beacons do. `echo`: it
   * answers with what it was asked, as `agones-ping` does. What the last two measure is a client's own word.
   */
  std::string protocol;
  /** Host and port that answer by UDP; absent for none. */
  std::optional<std::string> udp;
  /** URL below which `/probe` answers by HTTP, for browsers; absent for none. */
  std::optional<std::string> url;
  template <class V> void visit(V&& v) {
    v("name", name);
    v("protocol", protocol);
    v("udp", udp);
    v("url", url);
  }
};

/** The regions whose latency clients can measure. */
struct Regions {
  std::vector<Region> regions;
  /** For how long a receipt is believed, in seconds; 0 where there is no region. */
  std::int64_t receiptSeconds{};
  template <class V> void visit(V&& v) {
    v("regions", regions);
    v("receiptSeconds", receiptSeconds);
  }
};

/** How a match ended. */
struct ReportResult {
  std::vector<ReportedTeam> teams;
  template <class V> void visit(V&& v) {
    v("teams", teams);
  }
};

/** The match that a player plays. */
struct RunningMatch {
  std::string match;
  /** The player's ticket. */
  std::string ticket;
  std::string connection;
  std::string began;
  /** When its result is to be there. */
  std::string due;
  /** A seat pass. */
  std::optional<std::string> seat;
  std::optional<std::string> team;
  template <class V> void visit(V&& v) {
    v("match", match);
    v("ticket", ticket);
    v("connection", connection);
    v("began", began);
    v("due", due);
    v("seat", seat);
    v("team", team);
  }
};

/** The token of a game server. */
struct ServerToken {
  /** The token. */
  std::string token;
  /** When it is good no more, in Unix UTC milliseconds. */
  std::int64_t expires{};
  template <class V> void visit(V&& v) {
    v("token", token);
    v("expires", expires);
  }
};

struct SetPartyLeader {
  /** The member who is to lead. */
  std::string player;
  template <class V> void visit(V&& v) {
    v("player", player);
  }
};

struct StartPartySearch {
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  std::optional<std::map<std::string, double>> attributes;
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  std::optional<std::map<std::string, std::string>> properties;
  /** The queues to search in, as those of tickets. */
  std::optional<std::vector<std::string>> queues;
  template <class V> void visit(V&& v) {
    v("attributes", attributes);
    v("properties", properties);
    v("queues", queues);
  }
};

struct TicketList {
  std::vector<Ticket> tickets;
  template <class V> void visit(V&& v) {
    v("tickets", tickets);
  }
};

/** What a player may be told of a problem, by its code; null if it is not known. */
const char* playerMessage(const std::string& problem);

struct AnswerMatchOptions {
  std::optional<std::string> onBehalfOf;
};
/**
 * Accept or decline a match.
 *
 * Says whether players of a ticket accept the match that asks them. The ticket's member `acceptance` names it, while it
 * does. The match goes on when all players of all of its tickets have accepted. The first decline ends it: that
 * player's ticket ends, and the others wait again. Players that would join a running game (backfill) are asked before
 * its server learns of them. When that game changes or ends meanwhile, all of them wait again.
 *
 * A player's token answers for the player. A game service answers for the player in `X-On-Behalf-Of`, for those that
 * `players` names, or else for all players of the ticket. The same answer may be given again.
 */
Request<Json> answerMatch(const std::string& id, const MatchAnswer& body, const AnswerMatchOptions& o = {});

/**
 * Approve the tickets that were proposed.
 *
 * Assigns all tickets that are proposed for the backfill ticket at this moment. A server calls this periodically while
 * it fills; once a second is enough, and what is far above is answered 429. Tickets that are not approved in time (20 s
 * by default) go back to the pool, and the server gets no more until its next request. The answer names the tickets
 * that join.
 */
Request<BackfillTicket> approveBackfill(const std::string& backfillId);

/** Begin backfill. */
Request<CreatedBackfillTicket> createBackfill(const BackfillRequest& body);

struct CreatePartyOptions {
  std::optional<std::string> onBehalfOf;
};
/**
 * Make a party.
 *
 * The player is its leader, and in no other party. Give its code to the players that are to join.
 */
Request<Party> createParty(const CreateParty& body, const CreatePartyOptions& o = {});

struct CreateTicketOptions {
  std::optional<std::string> onBehalfOf;
  std::optional<std::string> prefer;
  std::optional<std::string> idempotencyKey;
};
/**
 * Start matchmaking.
 *
 * Once this is answered 201 the ticket is stored and takes part in matchmaking. How often one player and one project
 * may create tickets is limited, and so is how many tickets of a project may wait: all three are answered 429.
 *
 * With `Prefer: wait=N` one request is enough. The status 201 and the headers are sent as soon as the ticket is stored;
 * `Location` names it. The body follows when the ticket has a result, at the latest after N seconds, and has all
 * members of `CreatedTicket`. If `assignment` in it is null, or the connection breaks, go on with GET: the time was
 * over, the service stops or cannot read the ticket, or the ticket was deleted, which GET answers 404. Whoever
 * disconnects while the body is awaited leaves the ticket waiting.
 *
 * An answer without `Preference-Applied` did not wait: its body has `id` and `status` alone.
 *
 * With `Idempotency-Key` a create can be repeated when its answer was lost: the answer names the ticket that the first
 * request made, also if that has ended since. A key is the player's own. It is remembered for 10 minutes at least, and
 * 20 at most. With another body it is answered 422. A request that was refused leaves its key free.
 *
 * The settings of the project may bound how many tickets without a result a player has. The answer is 409 when a player
 * of the new ticket has no room, and names the ticket that takes it.
 */
Request<CreatedTicket> createTicket(const CreateTicket& body, const CreateTicketOptions& o = {});

/**
 * End backfill.
 *
 * Tickets that were proposed go back to the pool. Deleting what is not there is answered the same, with the header
 * `X-Deleted: false`.
 */
Request<Json> deleteBackfill(const std::string& backfillId);

struct DeleteTicketOptions {
  std::optional<bool> unlessAssigned;
  std::optional<std::string> onBehalfOf;
};
/**
 * End matchmaking.
 *
 * Once this is answered 200 the ticket is never assigned. Its owner and each of its players may end it, for all.
 */
Request<Json> deleteTicket(const std::string& id, const DeleteTicketOptions& o = {});

struct DisbandPartyOptions {
  std::optional<std::string> onBehalfOf;
};
/**
 * End a party.
 *
 * Only the leader does. It stops the search.
 */
Request<Json> disbandParty(const std::string& partyId, const DisbandPartyOptions& o = {});

struct FollowPartyOptions {
  std::optional<std::string> lastEventId;
  std::optional<std::string> onBehalfOf;
};
/**
 * Follow a party by server-sent events.
 *
 * Each event is `id`, `event` and `data`, a JSON object. The stream ends after `ended` and `reconnect`.
 *
 * - `party`: a `Party`, as a GET answers it to the member. Its `id` is the revision. - `ended`: `id` and `reason`. The
 * party is gone for the member: `left`, `kicked`, `disbanded`, `silent` or `gone`. - `reconnect`: `reason`, `shutdown`
 * or `token`. Come back after the time in `retry`, with a token that is good.
 *
 * An event says how the party is then; of changes in quick succession some are not told. Comments come while nothing
 * happens. The member is there as long as the stream is open.
 */
Request<Json> followParty(const std::string& partyId, const FollowPartyOptions& o = {});

struct FollowTicketOptions {
  std::optional<std::string> lastEventId;
};
/**
 * Follow a ticket by server-sent events.
 *
 * Each event is `id`, `event` and `data`, a JSON object. The stream ends after `assigned`, `ended` and `reconnect`.
 *
 * - `waiting` and `matched`: `id`, `created`, and `queues` and `unservedQueues` as in `Ticket`. The ticket waits, or is
 * in a match whose server is asked for or must approve. `waiting` has `estimate` where that is known. - `acceptance`:
 * the same and `acceptance`, as in `Ticket`. The match asks its players whether they accept it. - `assigned`: `id` and
 * `assignment`. - `ended`: `id` and `reason`: `deleted`, `replaced`, `abandoned`, `unserved`, `unheard`, `declined`,
 * `silent`, `expired` or `gone`. - `reconnect`: `reason`, `shutdown` or `token`. Come back after the time in `retry`,
 * with a token that is good.
 *
 * An event says how the ticket is then; of changes in quick succession some are not told. Comments come while nothing
 * happens. A caller that may read a ticket may follow it.
 */
Request<Json> followTicket(const std::string& id, const FollowTicketOptions& o = {});

struct GetPartyOptions {
  std::optional<std::string> ifNoneMatch;
  std::optional<std::string> prefer;
  std::optional<std::string> onBehalfOf;
};
/**
 * Read a party.
 *
 * With its ETag in `If-None-Match` and `Prefer: wait`, the answer comes when the party has changed, or is 304. Each
 * request of a member says that it is there: a member that is silent for long leaves. Developers read it without its
 * code, and never wait: the answer, or 304, comes at once.
 */
Request<Party> getParty(const std::string& partyId, const GetPartyOptions& o = {});

struct GetTicketOptions {
  std::optional<std::string> id;
  std::optional<std::string> player;
  std::optional<std::string> key;
  std::optional<bool> estimate;
  std::optional<std::string> onBehalfOf;
  std::optional<std::string> prefer;
};
/**
 * Read a ticket.
 *
 * Poll until `assignment` is not null, or ask the service to wait with `Prefer: wait`. To others than its owner, its
 * players and the project's game services, a ticket does not exist.
 *
 * Each player sees the own attributes and properties, and of the other players the ids. `attributes` and `properties`
 * of the ticket are the owner's to see: for its other players they are empty.
 */
Request<Json> getTicket(const GetTicketOptions& o = {});

struct JoinPartyOptions {
  std::optional<std::string> onBehalfOf;
};
/**
 * Join a party.
 *
 * Codes are read in either case, with dashes or spaces. How often a player may try one is limited. A player that was
 * kicked gets 404, as for a code that there is not. A join stops the search. While a match asks the members whether
 * they accept it, joins are refused (409).
 */
Request<Party> joinParty(const JoinParty& body, const JoinPartyOptions& o = {});

struct LeaderboardOptions {
  std::optional<std::string> season;
  std::optional<std::int64_t> limit;
  std::optional<std::int64_t> after;
};
/**
 * Read the best players of a season.
 *
 * An extension. It names players: a player's token reads it where the rating is `public`, a game service's with the
 * scope `matchmaking` or `matchmaking.read`, a developer's in any role.
 */
Request<Leaderboard> leaderboard(const std::string& ratingName, const LeaderboardOptions& o = {});

struct LeavePartyOptions {
  std::optional<std::string> onBehalfOf;
};
/**
 * Leave a party, or remove a member.
 *
 * A player leaves, and the oldest member follows a leader. The leader removes any member: that player cannot join
 * again. Both stop the search, and the party gets another code. A party that has removed 100 players removes no more
 * (409): end it and make another one.
 */
Request<Party> leaveParty(const std::string& partyId, const std::string& playerId, const LeavePartyOptions& o = {});

/** List the regions whose latency can be measured. */
Request<Regions> listRegions();

struct MyPartyOptions {
  std::optional<std::string> ifNoneMatch;
  std::optional<std::string> prefer;
  std::optional<std::string> onBehalfOf;
};
/**
 * Read the player's party.
 *
 * It is found without its id, for instance after an answer was lost.
 */
Request<Party> myParty(const MyPartyOptions& o = {});

/**
 * Read a player's ratings.
 *
 * An extension. What the results of the player's matches give, as it is worth now. A player's token asks for the player
 * itself.
 */
Request<PlayerRatings> playerRatings(const std::string& playerId);

/**
 * Say how the server stands.
 *
 * Replaces the backfill ticket when players left, or joined without the matchmaker. Tickets that were proposed go back
 * to the pool. `Id`, `Created`, `RecordVersion` and `assignedTickets` may be sent back, so that the answer to an
 * approval can be put back as it is. The service keeps its own.
 */
Request<BackfillTicket> putBackfill(const std::string& backfillId, const BackfillTicketUpdate& body);

/**
 * Read what matches did to a player's ratings.
 *
 * An extension. The changes of the player's last 32 matches that changed a rating, the latest first. A player's token
 * asks for the player itself.
 */
Request<RatingHistory> ratingHistory(const std::string& playerId);

struct RenewPartyCodeOptions {
  std::optional<std::string> onBehalfOf;
};
/**
 * Give the party another code.
 *
 * Only the leader does. Nobody joins with the code before.
 */
Request<Party> renewPartyCode(const std::string& partyId, const RenewPartyCodeOptions& o = {});

/**
 * Renew the token of a game server.
 *
 * An extension. A game server gets a token of its own with its allocation, which is good for some time (30 minutes by
 * default). For the one that it has, as long as it is good, it gets the next one here, while its allocation lives. Its
 * backfill tickets are those that were made with its match, or with a token of it: to this token there are no others.
 */
Request<ServerToken> renewServerToken();

/**
 * Report the result of a match.
 *
 * An extension. Its game server does it with the token that it got with its allocation, which is good for its own match
 * alone, or a game service with the scope `matchmaking`. The match's config must have `result`.
 *
 * The same result may be sent again: it counts once. Another one within a day of the first replaces it, and the ratings
 * are computed anew. The result counts for the project's ratings of the config's queue if two teams or more have
 * players; a team without any is not rated.
 *
 * A team without `players` has those of the match's team of its `name`. All teams that have any name their players, or
 * none does. A player who is not named did not play. Where the match has teams, as many are to be named here, also one
 * that all players left before the game began.
 */
Request<MatchResult> reportResult(const std::string& matchId, const ReportResult& body);

/**
 * Find the match that a player plays.
 *
 * An extension. The match of the player that has no result yet: its connection, and a new seat pass if its config has
 * `seats`. A player's token asks for the player itself. It is 404 when there is none, when the result did not come in
 * time, and when the match's server renews its token no more. The match's config must have `result`.
 */
Request<RunningMatch> runningMatch(const std::string& playerId);

struct SetPartyLeaderOptions {
  std::optional<std::string> onBehalfOf;
};
/**
 * Make another member the leader.
 *
 * Only the leader does.
 */
Request<Party> setPartyLeader(const std::string& partyId, const SetPartyLeader& body, const SetPartyLeaderOptions& o = {});

struct StartPartySearchOptions {
  std::optional<std::string> onBehalfOf;
};
/**
 * Start the search.
 *
 * Only the leader does, when all members are ready. It creates one ticket with all members as its players, which each
 * of them can read. A search that has begun goes on. It counts to the rate of creates of each member.
 *
 * The ticket has the leader's value of each attribute that a claim sets, unless a game service sets another.
 */
Request<Party> startPartySearch(const std::string& partyId, const StartPartySearch& body, const StartPartySearchOptions& o = {});

struct StopPartySearchOptions {
  std::optional<std::string> onBehalfOf;
};
/**
 * Stop the search.
 *
 * Only the leader does. The ticket is deleted, unless it has a result.
 */
Request<Party> stopPartySearch(const std::string& partyId, const StopPartySearchOptions& o = {});

struct UpdatePartyMemberOptions {
  std::optional<std::string> onBehalfOf;
};
/**
 * Say anew what a member carries.
 *
 * A player replaces its own attributes, properties and readiness. What a search has begun with stays.
 */
Request<Party> updatePartyMember(const std::string& partyId, const std::string& playerId, const PartyMembership& body, const UpdatePartyMemberOptions& o = {});

}  // namespace matchmaker::api
