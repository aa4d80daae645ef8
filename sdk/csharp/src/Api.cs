// Code generated from openapi.yaml. DO NOT EDIT.
using System.Collections.Generic;

namespace Matchmaking.Api
{
  /// <summary>What the ticket's match asks its players, while it does.</summary>
  public sealed class Acceptance
  {
    /// <summary>The match that asks.</summary>
    public string Match;
    /// <summary>For how many milliseconds they may answer.</summary>
    public long Remaining;
    /// <summary>How many players of all tickets of the match are asked.</summary>
    public long Players;
    /// <summary>How many of them accepted.</summary>
    public long Accepted;
    /// <summary>The players of this ticket who did not answer.</summary>
    public List<string> Unanswered;

    public static Acceptance Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new Acceptance();
        to.Match = from["match"].String;
        to.Remaining = from["remaining"].Integer;
        to.Players = from["players"].Integer;
        to.Accepted = from["accepted"].Integer;
        to.Unanswered = from["unanswered"].List(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("match", Json.Of(Match));
        to.Set("remaining", Json.Of(Remaining));
        to.Set("players", Json.Of(Players));
        to.Set("accepted", Json.Of(Accepted));
        to.Set("unanswered", Json.Of(Unanswered, i => Json.Of(i)));
        return to;
    }
  }

  /// <summary>What became of a ticket: a connection, or an error.</summary>
  public sealed class Assignment
  {
    /// <summary>How to connect to the game server or session. Empty when there is an error.</summary>
    public string Connection;
    /// <summary>Why matchmaking failed, empty when it did not. Functions have texts of their own besides `PoolTimeout`
    /// (the function gave up) and `AllocationError` (there was no game server for the match). Where the allowed number
    /// of servers is zero, the error is `The hosting maximum of the fleet or its region is zero`. Studios find more in
    /// the events and logs.</summary>
    public string Error;
    /// <summary>What the match function sets for this ticket alone. When the function uses the older assignment
    /// properties, and neither ticket nor match properties, these are the same for all tickets of the match.</summary>
    public Dictionary<string, Json> Properties;
    /// <summary>What the match function sets for all players and the game server.</summary>
    public Dictionary<string, Json> Matchproperties;
    /// <summary>An extension. Seat passes by player, if the match's config has `seats`: signed JSON Web Tokens that the
    /// players show to the game server. A player gets the player's own, a game service those of all players of the
    /// ticket. They are good for some minutes; another GET has new ones.</summary>
    public Dictionary<string, string> Seats;

    public static Assignment Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new Assignment();
        to.Connection = from["connection"].String;
        to.Error = from["error"].String;
        to.Properties = from["properties"].Map(i => i);
        to.Matchproperties = from["matchproperties"].Map(i => i);
        to.Seats = from["seats"].Map(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("connection", Json.Of(Connection));
        to.Set("error", Json.Of(Error));
        to.Set("properties", Json.Of(Properties, i => i));
        to.Set("matchproperties", Json.Of(Matchproperties, i => i));
        to.Set("seats", Json.Of(Seats, i => Json.Of(i)));
        return to;
    }
  }

  /// <summary>What a backfill ticket is created with.</summary>
  public sealed class BackfillRequest
  {
    /// <summary>The address of the server, `ip:port`. Null while the server is still being allocated.</summary>
    public string Connection;
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Who is in the game. None of them joins it again, and match functions see them.</summary>
    public List<GamePlayer> Players;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;
    /// <summary>The queue whose tickets may join. Without one, tickets without queues may.</summary>
    public string Queue;

    public static BackfillRequest Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new BackfillRequest();
        to.Connection = from["Connection"].String;
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Players = from["players"].List(i => Api.GamePlayer.Read(i));
        to.Properties = from["properties"].Map(i => i.String);
        to.Queue = from["queue"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("Connection", Json.Of(Connection));
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("players", Json.Of(Players, i => i?.Write()));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        to.Set("queue", Json.Of(Queue));
        return to;
    }
  }

  /// <summary>A running game that wants more players.</summary>
  public sealed class BackfillTicket
  {
    public string Id;
    /// <summary>When it was created, in Unix UTC milliseconds.</summary>
    public long Created;
    /// <summary>Counts the changes of the server. The matchmaker maintains it, and changes by match functions do not
    /// count.</summary>
    public long RecordVersion;
    /// <summary>The address of the server, `ip:port`. Null while the server is still being allocated.</summary>
    public string Connection;
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;
    /// <summary>Only in the answer to an approval. Tickets that joined the game: exactly those that this approval
    /// assigned, and again those of the 20 seconds before it, so that a lost answer loses none. Left out when there are
    /// none. The `properties` of their assignments are for the players alone and null here. Each has its `players`, also
    /// where the owner is the only one.</summary>
    public List<Ticket> AssignedTickets;
    /// <summary>Who is in the game. It is left out until its server says it.</summary>
    public List<GamePlayer> Players;
    /// <summary>The name of a queue, up to 64 bytes without spaces and control characters.</summary>
    public string Queue;

    public static BackfillTicket Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new BackfillTicket();
        to.Id = from["Id"].String;
        to.Created = from["Created"].Integer;
        to.RecordVersion = from["RecordVersion"].Integer;
        to.Connection = from["Connection"].String;
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Properties = from["properties"].Map(i => i.String);
        to.AssignedTickets = from["assignedTickets"].List(i => Api.Ticket.Read(i));
        to.Players = from["players"].List(i => Api.GamePlayer.Read(i));
        to.Queue = from["queue"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("Id", Json.Of(Id));
        to.Set("Created", Json.Of(Created));
        to.Set("RecordVersion", Json.Of(RecordVersion));
        to.Set("Connection", Json.Of(Connection));
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        to.Set("assignedTickets", Json.Of(AssignedTickets, i => i?.Write()));
        to.Set("players", Json.Of(Players, i => i?.Write()));
        to.Set("queue", Json.Of(Queue));
        return to;
    }
  }

  public sealed class BackfillTicketUpdate
  {
    /// <summary>The address of the server, `ip:port`. Null while the server is still being allocated.</summary>
    public string Connection;
    public long? Created;
    public string Id;
    /// <summary>How often the server changed it, from 1 on.</summary>
    public long? RecordVersion;
    /// <summary>Those of the answer to an approval. They are ignored.</summary>
    public List<Json> AssignedTickets;
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Who is in the game. When it is left out it stays as it is.</summary>
    public List<GamePlayer> Players;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;
    /// <summary>The queue whose tickets may join; empty for tickets without queues. When it is left out it stays as it
    /// is.</summary>
    public string Queue;

    public static BackfillTicketUpdate Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new BackfillTicketUpdate();
        to.Connection = from["Connection"].String;
        to.Created = from["Created"].MaybeInteger;
        to.Id = from["Id"].String;
        to.RecordVersion = from["RecordVersion"].MaybeInteger;
        to.AssignedTickets = from["assignedTickets"].List(i => i);
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Players = from["players"].List(i => Api.GamePlayer.Read(i));
        to.Properties = from["properties"].Map(i => i.String);
        to.Queue = from["queue"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("Connection", Json.Of(Connection));
        to.Set("Created", Json.Of(Created));
        to.Set("Id", Json.Of(Id));
        to.Set("RecordVersion", Json.Of(RecordVersion));
        to.Set("assignedTickets", Json.Of(AssignedTickets, i => i));
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("players", Json.Of(Players, i => i?.Write()));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        to.Set("queue", Json.Of(Queue));
        return to;
    }
  }

  public sealed class CreateParty
  {
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;
    /// <summary>Whether the search may be started as far as this member is concerned. Without it, it may.</summary>
    public bool? Ready;
    /// <summary>Receipts of beacons for the player's latencies, one a region for each family of addresses, with a
    /// player's token alone. One that is forged, old, or from another network than the request is answered 400 where the
    /// project has a rule with `setBy: beacon`; elsewhere they are not looked at.</summary>
    public List<string> Receipts;
    /// <summary>How many members it may have. Without it, as many as the service allows.</summary>
    public long? Size;

    public static CreateParty Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new CreateParty();
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Properties = from["properties"].Map(i => i.String);
        to.Ready = from["ready"].MaybeBoolean;
        to.Receipts = from["receipts"].List(i => i.String);
        to.Size = from["size"].MaybeInteger;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        to.Set("ready", Json.Of(Ready));
        to.Set("receipts", Json.Of(Receipts, i => Json.Of(i)));
        to.Set("size", Json.Of(Size));
        return to;
    }
  }

  /// <summary>What a ticket is created with.</summary>
  public sealed class CreateTicket
  {
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Whom the ticket is for, each player once. Without it the owner is the only one. The owner need not be
    /// among them. A player's token names the player alone (403). An installation may set another limit than
    /// 64.</summary>
    public List<Player> Players;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;
    /// <summary>The queues that the ticket waits in, each once. It is matched once, by a config that serves one of them.
    /// Without one, configs without a queue match it.</summary>
    public List<string> Queues;
    /// <summary>Receipts of beacons for the player's latencies, one a region for each family of addresses, with a
    /// player's token alone. One that is forged, old, or from another network than the request is answered 400 where the
    /// project has a rule with `setBy: beacon`; elsewhere they are not looked at.</summary>
    public List<string> Receipts;

    public static CreateTicket Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new CreateTicket();
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Players = from["players"].List(i => Api.Player.Read(i));
        to.Properties = from["properties"].Map(i => i.String);
        to.Queues = from["queues"].List(i => i.String);
        to.Receipts = from["receipts"].List(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("players", Json.Of(Players, i => i?.Write()));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        to.Set("queues", Json.Of(Queues, i => Json.Of(i)));
        to.Set("receipts", Json.Of(Receipts, i => Json.Of(i)));
        return to;
    }
  }

  public sealed class CreatedBackfillTicket
  {
    public string Id;

    public static CreatedBackfillTicket Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new CreatedBackfillTicket();
        to.Id = from["Id"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("Id", Json.Of(Id));
        return to;
    }
  }

  public sealed class CreatedTicket
  {
    /// <summary>The ticket's identifier. Do not expect a certain form of it.</summary>
    public string Id;
    /// <summary>A leftover of an older way to report errors. Always null.</summary>
    public Dictionary<string, Json> Status;
    /// <summary>Null when there was no result in time.</summary>
    public Assignment Assignment;
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>As in Ticket, if the answer waited. So are `attributes`, `properties`, `assignment` and
    /// `players`.</summary>
    public long? Created;
    /// <summary>Whom the ticket is for. Absent when the owner is the only one. A player sees the own attributes and
    /// properties, and of the others the ids; a game service sees all.</summary>
    public List<Player> Players;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;
    /// <summary>The queues that the ticket waits in, sorted. Left out when there are none.</summary>
    public List<string> Queues;
    /// <summary>The match without a result that a player of the ticket is in, where the settings tell it.</summary>
    public string Running;
    /// <summary>The ticket's queues that no config serves at present: no config matches the ticket there. Left out when
    /// there are none, and when the ticket has a result.</summary>
    public List<string> UnservedQueues;

    public static CreatedTicket Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new CreatedTicket();
        to.Id = from["id"].String;
        to.Status = from["status"].Map(i => i);
        to.Assignment = Api.Assignment.Read(from["assignment"]);
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Created = from["created"].MaybeInteger;
        to.Players = from["players"].List(i => Api.Player.Read(i));
        to.Properties = from["properties"].Map(i => i.String);
        to.Queues = from["queues"].List(i => i.String);
        to.Running = from["running"].String;
        to.UnservedQueues = from["unservedQueues"].List(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("id", Json.Of(Id));
        to.Set("status", Json.Of(Status, i => i));
        to.Set("assignment", Assignment?.Write());
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("created", Json.Of(Created));
        to.Set("players", Json.Of(Players, i => i?.Write()));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        to.Set("queues", Json.Of(Queues, i => Json.Of(i)));
        to.Set("running", Json.Of(Running));
        to.Set("unservedQueues", Json.Of(UnservedQueues, i => Json.Of(i)));
        return to;
    }
  }

  /// <summary>For how much longer the ticket waits until it is in a match, if it waits as tickets like it did lately:
  /// four of five wait for no less than `low`, and no longer than `high`, from the time of the answer. Left out where
  /// none was asked for or too little is known.</summary>
  public sealed class Estimate
  {
    /// <summary>In milliseconds.</summary>
    public long Low;
    /// <summary>In milliseconds.</summary>
    public long High;

    public static Estimate Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new Estimate();
        to.Low = from["low"].Integer;
        to.High = from["high"].Integer;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("low", Json.Of(Low));
        to.Set("high", Json.Of(High));
        return to;
    }
  }

  /// <summary>A player in a running game. In an answer, players who joined since the server named its players have no
  /// team and no role, and the attributes of their ticket.</summary>
  public sealed class GamePlayer
  {
    /// <summary>As the subject of the player's token, in up to 256 bytes.</summary>
    public string Id;
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Match functions see it.</summary>
    public string Role;
    /// <summary>Match functions see it.</summary>
    public string Team;

    public static GamePlayer Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new GamePlayer();
        to.Id = from["id"].String;
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Role = from["role"].String;
        to.Team = from["team"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("id", Json.Of(Id));
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("role", Json.Of(Role));
        to.Set("team", Json.Of(Team));
        return to;
    }
  }

  public sealed class JoinParty
  {
    /// <summary>The party's code.</summary>
    public string Code;
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;
    /// <summary>Whether the search may be started as far as this member is concerned. Without it, it may.</summary>
    public bool? Ready;
    /// <summary>Receipts of beacons for the player's latencies, one a region for each family of addresses, with a
    /// player's token alone. One that is forged, old, or from another network than the request is answered 400 where the
    /// project has a rule with `setBy: beacon`; elsewhere they are not looked at.</summary>
    public List<string> Receipts;

    public static JoinParty Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new JoinParty();
        to.Code = from["code"].String;
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Properties = from["properties"].Map(i => i.String);
        to.Ready = from["ready"].MaybeBoolean;
        to.Receipts = from["receipts"].List(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("code", Json.Of(Code));
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        to.Set("ready", Json.Of(Ready));
        to.Set("receipts", Json.Of(Receipts, i => Json.Of(i)));
        return to;
    }
  }

  /// <summary>A page of the best players of a season, by the value after their last match.</summary>
  public sealed class Leaderboard
  {
    public string Rating;
    /// <summary>How many players are in it; at most the best 10,000.</summary>
    public long Total;
    public List<LeaderboardEntry> Players;
    /// <summary>The `after` of the next page. Absent on the last one.</summary>
    public long? Next;
    public string Season;

    public static Leaderboard Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new Leaderboard();
        to.Rating = from["rating"].String;
        to.Total = from["total"].Integer;
        to.Players = from["players"].List(i => Api.LeaderboardEntry.Read(i));
        to.Next = from["next"].MaybeInteger;
        to.Season = from["season"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("rating", Json.Of(Rating));
        to.Set("total", Json.Of(Total));
        to.Set("players", Json.Of(Players, i => i?.Write()));
        to.Set("next", Json.Of(Next));
        to.Set("season", Json.Of(Season));
        return to;
    }
  }

  public sealed class LeaderboardEntry
  {
    public long Rank;
    public string Player;
    public double Value;
    public string Tier;

    public static LeaderboardEntry Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new LeaderboardEntry();
        to.Rank = from["rank"].Integer;
        to.Player = from["player"].String;
        to.Value = from["value"].Number;
        to.Tier = from["tier"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("rank", Json.Of(Rank));
        to.Set("player", Json.Of(Player));
        to.Set("value", Json.Of(Value));
        to.Set("tier", Json.Of(Tier));
        return to;
    }
  }

  public sealed class MatchAnswer
  {
    /// <summary>The match that asks.</summary>
    public string Match;
    /// <summary>Whether the players accept it.</summary>
    public bool Accept;
    /// <summary>The players who answer. Without any, all of the ticket do. A player's token names the player
    /// alone.</summary>
    public List<string> Players;

    public static MatchAnswer Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new MatchAnswer();
        to.Match = from["match"].String;
        to.Accept = from["accept"].Boolean;
        to.Players = from["players"].List(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("match", Json.Of(Match));
        to.Set("accept", Json.Of(Accept));
        to.Set("players", Json.Of(Players, i => Json.Of(i)));
        return to;
    }
  }

  /// <summary>The result of a match.</summary>
  public sealed class MatchResult
  {
    public List<ReportedTeam> Teams;
    /// <summary>When this result came.</summary>
    public string Reported;
    /// <summary>How many results it replaced.</summary>
    public long Corrections;
    public List<RatingChange> Ratings;

    public static MatchResult Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new MatchResult();
        to.Teams = from["teams"].List(i => Api.ReportedTeam.Read(i));
        to.Reported = from["reported"].String;
        to.Corrections = from["corrections"].Integer;
        to.Ratings = from["ratings"].List(i => Api.RatingChange.Read(i));
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("teams", Json.Of(Teams, i => i?.Write()));
        to.Set("reported", Json.Of(Reported));
        to.Set("corrections", Json.Of(Corrections));
        to.Set("ratings", Json.Of(Ratings, i => i?.Write()));
        return to;
    }
  }

  /// <summary>Players who search for a match together, as one of them sees it.</summary>
  public sealed class Party
  {
    public string Id;
    /// <summary>It lets others join. Empty for developers.</summary>
    public string Code;
    /// <summary>The member who starts and stops the search.</summary>
    public string Leader;
    /// <summary>In Unix UTC milliseconds.</summary>
    public long Created;
    /// <summary>It grows with each change of the party. The ETag is made of it.</summary>
    public long Revision;
    /// <summary>How many members there may be.</summary>
    public long Size;
    /// <summary>By when they joined, the oldest first.</summary>
    public List<PartyMember> Members;
    /// <summary>The last search since the members are these. Null when there was none.</summary>
    public PartySearch Search;

    public static Party Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new Party();
        to.Id = from["id"].String;
        to.Code = from["code"].String;
        to.Leader = from["leader"].String;
        to.Created = from["created"].Integer;
        to.Revision = from["revision"].Integer;
        to.Size = from["size"].Integer;
        to.Members = from["members"].List(i => Api.PartyMember.Read(i));
        to.Search = Api.PartySearch.Read(from["search"]);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("id", Json.Of(Id));
        to.Set("code", Json.Of(Code));
        to.Set("leader", Json.Of(Leader));
        to.Set("created", Json.Of(Created));
        to.Set("revision", Json.Of(Revision));
        to.Set("size", Json.Of(Size));
        to.Set("members", Json.Of(Members, i => i?.Write()));
        to.Set("search", Search?.Write());
        return to;
    }
  }

  /// <summary>A member of a party. Attributes and properties are shown to the member alone.</summary>
  public sealed class PartyMember
  {
    /// <summary>The player.</summary>
    public string Id;
    /// <summary>In Unix UTC milliseconds.</summary>
    public long Joined;
    public bool Ready;
    /// <summary>Only the caller's own.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Only the caller's own.</summary>
    public Dictionary<string, string> Properties;

    public static PartyMember Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new PartyMember();
        to.Id = from["id"].String;
        to.Joined = from["joined"].Integer;
        to.Ready = from["ready"].Boolean;
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Properties = from["properties"].Map(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("id", Json.Of(Id));
        to.Set("joined", Json.Of(Joined));
        to.Set("ready", Json.Of(Ready));
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        return to;
    }
  }

  /// <summary>What a member of a party says of itself.</summary>
  public sealed class PartyMembership
  {
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;
    /// <summary>Whether the search may be started as far as this member is concerned. Without it, it may.</summary>
    public bool? Ready;
    /// <summary>Receipts of beacons for the player's latencies, one a region for each family of addresses, with a
    /// player's token alone. One that is forged, old, or from another network than the request is answered 400 where the
    /// project has a rule with `setBy: beacon`; elsewhere they are not looked at.</summary>
    public List<string> Receipts;

    public static PartyMembership Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new PartyMembership();
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Properties = from["properties"].Map(i => i.String);
        to.Ready = from["ready"].MaybeBoolean;
        to.Receipts = from["receipts"].List(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        to.Set("ready", Json.Of(Ready));
        to.Set("receipts", Json.Of(Receipts, i => Json.Of(i)));
        return to;
    }
  }

  /// <summary>A search of a party: a ticket with all members, which each of them can read.</summary>
  public sealed class PartySearch
  {
    /// <summary>The ticket of all members.</summary>
    public string Ticket;
    /// <summary>In Unix UTC milliseconds.</summary>
    public long Started;

    public static PartySearch Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new PartySearch();
        to.Ticket = from["ticket"].String;
        to.Started = from["started"].Integer;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("ticket", Json.Of(Ticket));
        to.Set("started", Json.Of(Started));
        return to;
    }
  }

  /// <summary>A player of a ticket. `attributes` and `properties` are absent when there are none, or are not the
  /// reader's.</summary>
  public sealed class Player
  {
    /// <summary>As the subject of the player's token, in up to 256 bytes.</summary>
    public string Id;
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;

    public static Player Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new Player();
        to.Id = from["id"].String;
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Properties = from["properties"].Map(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("id", Json.Of(Id));
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        return to;
    }
  }

  /// <summary>A rating of a player.</summary>
  public sealed class PlayerRating
  {
    public string Name;
    public double Mean;
    public double Sigma;
    /// <summary>How many it is made of.</summary>
    public long Matches;
    public string Changed;
    public bool? Provisional;
    /// <summary>The player's place in the leaderboard of the season. Absent where the player is not in it.</summary>
    public long? Rank;
    public string Season;
    public string Tier;
    /// <summary>What is shown to players: the mean less `below` deviations. Absent in exports.</summary>
    public double? Value;

    public static PlayerRating Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new PlayerRating();
        to.Name = from["name"].String;
        to.Mean = from["mean"].Number;
        to.Sigma = from["sigma"].Number;
        to.Matches = from["matches"].Integer;
        to.Changed = from["changed"].String;
        to.Provisional = from["provisional"].MaybeBoolean;
        to.Rank = from["rank"].MaybeInteger;
        to.Season = from["season"].String;
        to.Tier = from["tier"].String;
        to.Value = from["value"].MaybeNumber;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("name", Json.Of(Name));
        to.Set("mean", Json.Of(Mean));
        to.Set("sigma", Json.Of(Sigma));
        to.Set("matches", Json.Of(Matches));
        to.Set("changed", Json.Of(Changed));
        to.Set("provisional", Json.Of(Provisional));
        to.Set("rank", Json.Of(Rank));
        to.Set("season", Json.Of(Season));
        to.Set("tier", Json.Of(Tier));
        to.Set("value", Json.Of(Value));
        return to;
    }
  }

  public sealed class PlayerRatings
  {
    public List<PlayerRating> Ratings;

    public static PlayerRatings Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new PlayerRatings();
        to.Ratings = from["ratings"].List(i => Api.PlayerRating.Read(i));
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("ratings", Json.Of(Ratings, i => i?.Write()));
        return to;
    }
  }

  /// <summary>RFC 9457, with the correlation id in a nested object.</summary>
  public sealed class ProblemDetails
  {
    /// <summary>A reference for the status.</summary>
    public string Type;
    public string Title;
    public long Status;
    public string Detail;
    /// <summary>What went wrong, for programs. The set is closed in a version, and a later one may have more: what a
    /// client does not know it handles by the status. `components.x-codes` has for each code its status, when it is the
    /// answer, whether the same request may succeed later (after `Retry-After`, if there is one), and what a player may
    /// be told.</summary>
    public string Code;
    public Json Instance;
    public ProblemDetailsExtensions Extensions;

    public static ProblemDetails Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new ProblemDetails();
        to.Type = from["type"].String;
        to.Title = from["title"].String;
        to.Status = from["status"].Integer;
        to.Detail = from["detail"].String;
        to.Code = from["code"].String;
        to.Instance = from["instance"];
        to.Extensions = Api.ProblemDetailsExtensions.Read(from["extensions"]);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("type", Json.Of(Type));
        to.Set("title", Json.Of(Title));
        to.Set("status", Json.Of(Status));
        to.Set("detail", Json.Of(Detail));
        to.Set("code", Json.Of(Code));
        to.Set("instance", Instance);
        to.Set("extensions", Extensions?.Write());
        return to;
    }
  }

  public sealed class ProblemDetailsExtensions
  {
    public string CorrelationId;

    public static ProblemDetailsExtensions Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new ProblemDetailsExtensions();
        to.CorrelationId = from["correlationId"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("correlationId", Json.Of(CorrelationId));
        return to;
    }
  }

  /// <summary>What the match did to a rating of a player.</summary>
  public sealed class RatingChange
  {
    public string Player;
    public string Rating;
    /// <summary>The mean with which the match was counted.</summary>
    public double Before;
    public double Mean;
    public double Sigma;

    public static RatingChange Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new RatingChange();
        to.Player = from["player"].String;
        to.Rating = from["rating"].String;
        to.Before = from["before"].Number;
        to.Mean = from["mean"].Number;
        to.Sigma = from["sigma"].Number;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("player", Json.Of(Player));
        to.Set("rating", Json.Of(Rating));
        to.Set("before", Json.Of(Before));
        to.Set("mean", Json.Of(Mean));
        to.Set("sigma", Json.Of(Sigma));
        return to;
    }
  }

  public sealed class RatingHistory
  {
    public List<RatingStep> Changes;

    public static RatingHistory Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new RatingHistory();
        to.Changes = from["changes"].List(i => Api.RatingStep.Read(i));
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("changes", Json.Of(Changes, i => i?.Write()));
        return to;
    }
  }

  public sealed class RatingPoint
  {
    public double Mean;
    public double Sigma;
    /// <summary>What is shown, by the settings of now.</summary>
    public double Value;

    public static RatingPoint Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new RatingPoint();
        to.Mean = from["mean"].Number;
        to.Sigma = from["sigma"].Number;
        to.Value = from["value"].Number;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("mean", Json.Of(Mean));
        to.Set("sigma", Json.Of(Sigma));
        to.Set("value", Json.Of(Value));
        return to;
    }
  }

  /// <summary>What a match did to a rating of a player.</summary>
  public sealed class RatingStep
  {
    public string Match;
    /// <summary>When the result came.</summary>
    public string Time;
    public string Rating;
    public RatingPoint Before;
    public RatingPoint After;

    public static RatingStep Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new RatingStep();
        to.Match = from["match"].String;
        to.Time = from["time"].String;
        to.Rating = from["rating"].String;
        to.Before = Api.RatingPoint.Read(from["before"]);
        to.After = Api.RatingPoint.Read(from["after"]);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("match", Json.Of(Match));
        to.Set("time", Json.Of(Time));
        to.Set("rating", Json.Of(Rating));
        to.Set("before", Before?.Write());
        to.Set("after", After?.Write());
        return to;
    }
  }

  /// <summary>A place that answers probes.</summary>
  public sealed class Region
  {
    public string Name;
    /// <summary>`beacon`: a beacon, whose receipts the service believes. `playfab`: it answers as PlayFab's beacons do.
    /// `echo`: it answers with what it was asked, as `agones-ping` does. What the last two measure is a client's own
    /// word.</summary>
    public string Protocol;
    /// <summary>Host and port that answer by UDP; absent for none.</summary>
    public string Udp;
    /// <summary>URL below which `/probe` answers by HTTP, for browsers; absent for none.</summary>
    public string Url;

    public static Region Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new Region();
        to.Name = from["name"].String;
        to.Protocol = from["protocol"].String;
        to.Udp = from["udp"].String;
        to.Url = from["url"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("name", Json.Of(Name));
        to.Set("protocol", Json.Of(Protocol));
        to.Set("udp", Json.Of(Udp));
        to.Set("url", Json.Of(Url));
        return to;
    }
  }

  /// <summary>The regions whose latency clients can measure.</summary>
  public sealed class Regions
  {
    public List<Region> All;
    /// <summary>For how long a receipt is believed, in seconds; 0 where there is no region.</summary>
    public long ReceiptSeconds;

    public static Regions Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new Regions();
        to.All = from["regions"].List(i => Api.Region.Read(i));
        to.ReceiptSeconds = from["receiptSeconds"].Integer;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("regions", Json.Of(All, i => i?.Write()));
        to.Set("receiptSeconds", Json.Of(ReceiptSeconds));
        return to;
    }
  }

  /// <summary>How a match ended.</summary>
  public sealed class ReportResult
  {
    public List<ReportedTeam> Teams;

    public static ReportResult Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new ReportResult();
        to.Teams = from["teams"].List(i => Api.ReportedTeam.Read(i));
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("teams", Json.Of(Teams, i => i?.Write()));
        return to;
    }
  }

  /// <summary>A player of a match that is over.</summary>
  public sealed class ReportedPlayer
  {
    public string Id;
    /// <summary>After how many seconds of the game the player left it before its end.</summary>
    public double? Left;
    /// <summary>Whatever the server counts. They are kept with the result, and not looked at.</summary>
    public Dictionary<string, double> Numbers;

    public static ReportedPlayer Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new ReportedPlayer();
        to.Id = from["id"].String;
        to.Left = from["left"].MaybeNumber;
        to.Numbers = from["numbers"].Map(i => i.Number);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("id", Json.Of(Id));
        to.Set("left", Json.Of(Left));
        to.Set("numbers", Json.Of(Numbers, i => Json.Of(i)));
        return to;
    }
  }

  /// <summary>A team of a match that is over. All teams have a rank, or all have a score; with both, the rank counts,
  /// and the score where a rating has a `margin`.</summary>
  public sealed class ReportedTeam
  {
    /// <summary>As the match has it (its first 64 bytes count), or its number from 1 if it has none.</summary>
    public string Name;
    /// <summary>Whatever the server counts. They are kept with the result, and not looked at.</summary>
    public Dictionary<string, double> Numbers;
    public List<ReportedPlayer> Players;
    /// <summary>The least is the best; equal ones drew.</summary>
    public long? Rank;
    /// <summary>The highest is the best.</summary>
    public double? Score;

    public static ReportedTeam Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new ReportedTeam();
        to.Name = from["name"].String;
        to.Numbers = from["numbers"].Map(i => i.Number);
        to.Players = from["players"].List(i => Api.ReportedPlayer.Read(i));
        to.Rank = from["rank"].MaybeInteger;
        to.Score = from["score"].MaybeNumber;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("name", Json.Of(Name));
        to.Set("numbers", Json.Of(Numbers, i => Json.Of(i)));
        to.Set("players", Json.Of(Players, i => i?.Write()));
        to.Set("rank", Json.Of(Rank));
        to.Set("score", Json.Of(Score));
        return to;
    }
  }

  /// <summary>The match that a player plays.</summary>
  public sealed class RunningMatch
  {
    public string Match;
    /// <summary>The player's ticket.</summary>
    public string Ticket;
    public string Connection;
    public string Began;
    /// <summary>When its result is to be there.</summary>
    public string Due;
    /// <summary>A seat pass.</summary>
    public string Seat;
    public string Team;

    public static RunningMatch Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new RunningMatch();
        to.Match = from["match"].String;
        to.Ticket = from["ticket"].String;
        to.Connection = from["connection"].String;
        to.Began = from["began"].String;
        to.Due = from["due"].String;
        to.Seat = from["seat"].String;
        to.Team = from["team"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("match", Json.Of(Match));
        to.Set("ticket", Json.Of(Ticket));
        to.Set("connection", Json.Of(Connection));
        to.Set("began", Json.Of(Began));
        to.Set("due", Json.Of(Due));
        to.Set("seat", Json.Of(Seat));
        to.Set("team", Json.Of(Team));
        return to;
    }
  }

  /// <summary>The token of a game server.</summary>
  public sealed class ServerToken
  {
    /// <summary>The token.</summary>
    public string Token;
    /// <summary>When it is good no more, in Unix UTC milliseconds.</summary>
    public long Expires;

    public static ServerToken Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new ServerToken();
        to.Token = from["token"].String;
        to.Expires = from["expires"].Integer;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("token", Json.Of(Token));
        to.Set("expires", Json.Of(Expires));
        return to;
    }
  }

  public sealed class SetPartyLeader
  {
    /// <summary>The member who is to lead.</summary>
    public string Player;

    public static SetPartyLeader Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new SetPartyLeader();
        to.Player = from["player"].String;
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("player", Json.Of(Player));
        return to;
    }
  }

  public sealed class StartPartySearch
  {
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;
    /// <summary>The queues to search in, as those of tickets.</summary>
    public List<string> Queues;

    public static StartPartySearch Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new StartPartySearch();
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Properties = from["properties"].Map(i => i.String);
        to.Queues = from["queues"].List(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        to.Set("queues", Json.Of(Queues, i => Json.Of(i)));
        return to;
    }
  }

  /// <summary>A request for a match.</summary>
  public sealed class Ticket
  {
    public string Id;
    /// <summary>Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets
    /// other limits. The service sets the attribute `created` itself.</summary>
    public Dictionary<string, double> Attributes;
    /// <summary>Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of
    /// at most 128 bytes, unless the installation sets other limits.</summary>
    public Dictionary<string, string> Properties;
    /// <summary>When the ticket was created, in Unix UTC milliseconds. Pools query it as the attribute
    /// `created`.</summary>
    public long Created;
    /// <summary>The result of matchmaking. Null until there is one.</summary>
    public Assignment Assignment;
    public Acceptance Acceptance;
    public Estimate Estimate;
    /// <summary>Whom the ticket is for. Absent when the owner is the only one. A player sees the own attributes and
    /// properties, and of the others the ids; a game service sees all.</summary>
    public List<Player> Players;
    /// <summary>The queues that the ticket waits in, sorted. Left out when there are none.</summary>
    public List<string> Queues;
    /// <summary>The ticket's queues that no config serves at present: no config matches the ticket there. Left out when
    /// there are none, and when the ticket has a result.</summary>
    public List<string> UnservedQueues;

    public static Ticket Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new Ticket();
        to.Id = from["id"].String;
        to.Attributes = from["attributes"].Map(i => i.Number);
        to.Properties = from["properties"].Map(i => i.String);
        to.Created = from["created"].Integer;
        to.Assignment = Api.Assignment.Read(from["assignment"]);
        to.Acceptance = Api.Acceptance.Read(from["acceptance"]);
        to.Estimate = Api.Estimate.Read(from["estimate"]);
        to.Players = from["players"].List(i => Api.Player.Read(i));
        to.Queues = from["queues"].List(i => i.String);
        to.UnservedQueues = from["unservedQueues"].List(i => i.String);
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("id", Json.Of(Id));
        to.Set("attributes", Json.Of(Attributes, i => Json.Of(i)));
        to.Set("properties", Json.Of(Properties, i => Json.Of(i)));
        to.Set("created", Json.Of(Created));
        to.Set("assignment", Assignment?.Write());
        to.Set("acceptance", Acceptance?.Write());
        to.Set("estimate", Estimate?.Write());
        to.Set("players", Json.Of(Players, i => i?.Write()));
        to.Set("queues", Json.Of(Queues, i => Json.Of(i)));
        to.Set("unservedQueues", Json.Of(UnservedQueues, i => Json.Of(i)));
        return to;
    }
  }

  public sealed class TicketList
  {
    public List<Ticket> Tickets;

    public static TicketList Read(Json from)
    {
        if (from.Kind != JsonKind.Object) return null;
        var to = new TicketList();
        to.Tickets = from["tickets"].List(i => Api.Ticket.Read(i));
        return to;
    }

    public Json Write()
    {
        var to = Json.Object();
        to.Set("tickets", Json.Of(Tickets, i => i?.Write()));
        return to;
    }
  }

  public static class PlayerMessages
  {
    /// <summary>What a player may be told of a problem, by its code; null if it is not known.</summary>
    public static string Of(string problem)
    {
      switch (problem)
      {
        case "acceptanceOpen": return "This party is about to get a match. Please try again in a moment.";
        case "acceptanceOver": return "It is too late to answer.";
        case "allocationEnded": return "The match is over.";
        case "alreadyInParty": return "You are in a party already. Please leave it first.";
        case "backfillNotFound": return "This is not there any more.";
        case "configNotFound": return "This is not there any more.";
        case "conflict": return "This is not possible right now.";
        case "etagMismatch": return "Someone else has changed this.";
        case "forbidden": return "You cannot do this.";
        case "functionNotFound": return "This is not there any more.";
        case "idempotencyKeyReused": return "Something went wrong.";
        case "internal": return "Something went wrong.";
        case "invalid": return "Something went wrong.";
        case "limited": return "Please wait a moment and try again.";
        case "matchUnknown": return "This is not there any more.";
        case "memberNotFound": return "This player is not in the party.";
        case "memberNotReady": return "Not everyone in the party is ready.";
        case "membershipOutdated": return "Not everyone in the party is ready.";
        case "methodNotAllowed": return "Something went wrong.";
        case "notAcceptable": return "Something went wrong.";
        case "notFound": return "This is not there any more.";
        case "notLeader": return "Only the leader of the party can do this.";
        case "partyCodeUnknown": return "This code does not work. Please ask for the current one.";
        case "partyFull": return "The party is full.";
        case "partyNotFound": return "You are not in this party.";
        case "paused": return "You, or a member of your party, missed a match. Please wait before you search again.";
        case "playerHasTicket": return "You are in a search already.";
        case "playerInMatch": return "You are still in a match. Please go back to it.";
        case "playerLimited": return "Please wait a moment and try again.";
        case "playerSilent": return "A player of your party is away.";
        case "projectLimited": return "Many players are here right now. Please try again in a moment.";
        case "queueUnserved": return "This game mode is not available right now.";
        case "resultFinal": return "Something went wrong.";
        case "ticketMatched": return "It is too late to cancel: your match is ready.";
        case "ticketNotFound": return "Your search has ended.";
        case "ticketsNotListed": return "Something went wrong.";
        case "tokenExpired": return "Please sign in again.";
        case "tooLarge": return "Something went wrong.";
        case "tooManyKicks": return "This party can remove nobody else. Please make a new one.";
        case "tooManyParties": return "Many players are here right now. Please try again in a moment.";
        case "tooManyStreams": return "Please wait a moment and try again.";
        case "tooManyTickets": return "Many players are here right now. Please try again in a moment.";
        case "unauthenticated": return "Please sign in again.";
        case "unavailable": return "The service cannot be reached right now. Please try again later.";
        case "unsupported": return "Something went wrong.";
        case "wrongProject": return "You cannot do this.";
        default: return null;
      }
    }
  }

  /// <summary>What is asked of the service.</summary>
  public static class Requests
  {
    /// <summary>Accept or decline a match.
    ///
    /// Says whether players of a ticket accept the match that asks them. The ticket's member `acceptance` names it,
    /// while it does. The match goes on when all players of all of its tickets have accepted. The first decline ends it:
    /// that player's ticket ends, and the others wait again. Players that would join a running game (backfill) are asked
    /// before its server learns of them. When that game changes or ends meanwhile, all of them wait again.
    ///
    /// A player's token answers for the player. A game service answers for the player in `X-On-Behalf-Of`, for those
    /// that `players` names, or else for all players of the ticket. The same answer may be given again.</summary>
    public static Request<Json> AnswerMatch(string id, MatchAnswer body, string onBehalfOf = null)
    {
      var r = new Request<Json>("POST", "v1/tickets/acceptance", true, a => a);
      AnyRequest.Put(r.Query, "id", id);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      r.Body = body.Write().ToString();
      return r;
    }

    /// <summary>Approve the tickets that were proposed.
    ///
    /// Assigns all tickets that are proposed for the backfill ticket at this moment. A server calls this periodically
    /// while it fills; once a second is enough, and what is far above is answered 429. Tickets that are not approved in
    /// time (20 s by default) go back to the pool, and the server gets no more until its next request. The answer names
    /// the tickets that join.</summary>
    public static Request<BackfillTicket> ApproveBackfill(string backfillId)
    {
      var r = new Request<BackfillTicket>("POST", "v2/backfill/" + AnyRequest.Segment(backfillId) + "/approvals", true, Api.BackfillTicket.Read);
      return r;
    }

    /// <summary>Begin backfill.</summary>
    public static Request<CreatedBackfillTicket> CreateBackfill(BackfillRequest body)
    {
      var r = new Request<CreatedBackfillTicket>("POST", "v2/backfill", false, Api.CreatedBackfillTicket.Read);
      r.Body = body.Write().ToString();
      return r;
    }

    /// <summary>Make a party.
    ///
    /// The player is its leader, and in no other party. Give its code to the players that are to join.</summary>
    public static Request<Party> CreateParty(CreateParty body, string onBehalfOf = null)
    {
      var r = new Request<Party>("POST", "v1/parties", false, Api.Party.Read);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      r.Body = body.Write().ToString();
      return r;
    }

    /// <summary>Start matchmaking.
    ///
    /// Once this is answered 201 the ticket is stored and takes part in matchmaking. How often one player and one
    /// project may create tickets is limited, and so is how many tickets of a project may wait: all three are answered
    /// 429.
    ///
    /// With `Prefer: wait=N` one request is enough. The status 201 and the headers are sent as soon as the ticket is
    /// stored; `Location` names it. The body follows when the ticket has a result, at the latest after N seconds, and
    /// has all members of `CreatedTicket`. If `assignment` in it is null, or the connection breaks, go on with GET: the
    /// time was over, the service stops or cannot read the ticket, or the ticket was deleted, which GET answers 404.
    /// Whoever disconnects while the body is awaited leaves the ticket waiting.
    ///
    /// An answer without `Preference-Applied` did not wait: its body has `id` and `status` alone.
    ///
    /// With `Idempotency-Key` a create can be repeated when its answer was lost: the answer names the ticket that the
    /// first request made, also if that has ended since. A key is the player's own. It is remembered for 10 minutes at
    /// least, and 20 at most. With another body it is answered 422. A request that was refused leaves its key free.
    ///
    /// The settings of the project may bound how many tickets without a result a player has. The answer is 409 when a
    /// player of the new ticket has no room, and names the ticket that takes it.</summary>
    public static Request<CreatedTicket> CreateTicket(CreateTicket body, string onBehalfOf = null, string prefer = null, string idempotencyKey = null)
    {
      var r = new Request<CreatedTicket>("POST", "v1/tickets", true, Api.CreatedTicket.Read);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      AnyRequest.Put(r.Headers, "Prefer", prefer);
      AnyRequest.Put(r.Headers, "Idempotency-Key", idempotencyKey);
      r.Body = body.Write().ToString();
      return r;
    }

    /// <summary>End backfill.
    ///
    /// Tickets that were proposed go back to the pool. Deleting what is not there is answered the same, with the header
    /// `X-Deleted: false`.</summary>
    public static Request<Json> DeleteBackfill(string backfillId)
    {
      var r = new Request<Json>("DELETE", "v2/backfill/" + AnyRequest.Segment(backfillId), true, a => a);
      return r;
    }

    /// <summary>End matchmaking.
    ///
    /// Once this is answered 200 the ticket is never assigned. Its owner and each of its players may end it, for
    /// all.</summary>
    public static Request<Json> DeleteTicket(string id, bool? unlessAssigned = null, string onBehalfOf = null)
    {
      var r = new Request<Json>("DELETE", "v1/tickets", true, a => a);
      AnyRequest.Put(r.Query, "id", id);
      AnyRequest.Put(r.Query, "unlessAssigned", unlessAssigned);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      return r;
    }

    /// <summary>End a party.
    ///
    /// Only the leader does. It stops the search.</summary>
    public static Request<Json> DisbandParty(string partyId, string onBehalfOf = null)
    {
      var r = new Request<Json>("DELETE", "v1/parties/" + AnyRequest.Segment(partyId), true, a => a);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      return r;
    }

    /// <summary>Follow a party by server-sent events.
    ///
    /// Each event is `id`, `event` and `data`, a JSON object. The stream ends after `ended` and `reconnect`.
    ///
    /// - `party`: a `Party`, as a GET answers it to the member. Its `id` is the revision. - `ended`: `id` and `reason`.
    /// The party is gone for the member: `left`, `kicked`, `disbanded`, `silent` or `gone`. - `reconnect`: `reason`,
    /// `shutdown` or `token`. Come back after the time in `retry`, with a token that is good.
    ///
    /// An event says how the party is then; of changes in quick succession some are not told. Comments come while
    /// nothing happens. The member is there as long as the stream is open.</summary>
    public static Request<Json> FollowParty(string partyId, string lastEventId = null, string onBehalfOf = null)
    {
      var r = new Request<Json>("GET", "v1/parties/" + AnyRequest.Segment(partyId) + "/events", true, a => a);
      AnyRequest.Put(r.Headers, "Last-Event-ID", lastEventId);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      return r;
    }

    /// <summary>Follow a ticket by server-sent events.
    ///
    /// Each event is `id`, `event` and `data`, a JSON object. The stream ends after `assigned`, `ended` and `reconnect`.
    ///
    /// - `waiting` and `matched`: `id`, `created`, and `queues` and `unservedQueues` as in `Ticket`. The ticket waits,
    /// or is in a match whose server is asked for or must approve. `waiting` has `estimate` where that is known. -
    /// `acceptance`: the same and `acceptance`, as in `Ticket`. The match asks its players whether they accept it. -
    /// `assigned`: `id` and `assignment`. - `ended`: `id` and `reason`: `deleted`, `replaced`, `abandoned`, `unserved`,
    /// `unheard`, `declined`, `silent`, `expired` or `gone`. - `reconnect`: `reason`, `shutdown` or `token`. Come back
    /// after the time in `retry`, with a token that is good.
    ///
    /// An event says how the ticket is then; of changes in quick succession some are not told. Comments come while
    /// nothing happens. A caller that may read a ticket may follow it.</summary>
    public static Request<Json> FollowTicket(string id, string lastEventId = null)
    {
      var r = new Request<Json>("GET", "v1/tickets/events", true, a => a);
      AnyRequest.Put(r.Query, "id", id);
      AnyRequest.Put(r.Headers, "Last-Event-ID", lastEventId);
      return r;
    }

    /// <summary>Read a party.
    ///
    /// With its ETag in `If-None-Match` and `Prefer: wait`, the answer comes when the party has changed, or is 304. Each
    /// request of a member says that it is there: a member that is silent for long leaves. Developers read it without
    /// its code, and never wait: the answer, or 304, comes at once.</summary>
    public static Request<Party> GetParty(string partyId, string ifNoneMatch = null, string prefer = null, string onBehalfOf = null)
    {
      var r = new Request<Party>("GET", "v1/parties/" + AnyRequest.Segment(partyId), true, Api.Party.Read);
      AnyRequest.Put(r.Headers, "If-None-Match", ifNoneMatch);
      AnyRequest.Put(r.Headers, "Prefer", prefer);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      return r;
    }

    /// <summary>Read a ticket.
    ///
    /// Poll until `assignment` is not null, or ask the service to wait with `Prefer: wait`. To others than its owner,
    /// its players and the project's game services, a ticket does not exist.
    ///
    /// Each player sees the own attributes and properties, and of the other players the ids. `attributes` and
    /// `properties` of the ticket are the owner's to see: for its other players they are empty.</summary>
    public static Request<Json> GetTicket(string id = null, string player = null, string key = null, bool? estimate = null, string onBehalfOf = null, string prefer = null)
    {
      var r = new Request<Json>("GET", "v1/tickets", true, a => a);
      AnyRequest.Put(r.Query, "id", id);
      AnyRequest.Put(r.Query, "player", player);
      AnyRequest.Put(r.Query, "key", key);
      AnyRequest.Put(r.Query, "estimate", estimate);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      AnyRequest.Put(r.Headers, "Prefer", prefer);
      return r;
    }

    /// <summary>Join a party.
    ///
    /// Codes are read in either case, with dashes or spaces. How often a player may try one is limited. A player that
    /// was kicked gets 404, as for a code that there is not. A join stops the search. While a match asks the members
    /// whether they accept it, joins are refused (409).</summary>
    public static Request<Party> JoinParty(JoinParty body, string onBehalfOf = null)
    {
      var r = new Request<Party>("POST", "v1/parties/members", true, Api.Party.Read);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      r.Body = body.Write().ToString();
      return r;
    }

    /// <summary>Read the best players of a season.
    ///
    /// An extension. It names players: a player's token reads it where the rating is `public`, a game service's with the
    /// scope `matchmaking` or `matchmaking.read`, a developer's in any role.</summary>
    public static Request<Leaderboard> Leaderboard(string ratingName, string season = null, long? limit = null, long? after = null)
    {
      var r = new Request<Leaderboard>("GET", "v1/ratings/" + AnyRequest.Segment(ratingName) + "/leaderboard", true, Api.Leaderboard.Read);
      AnyRequest.Put(r.Query, "season", season);
      AnyRequest.Put(r.Query, "limit", limit);
      AnyRequest.Put(r.Query, "after", after);
      return r;
    }

    /// <summary>Leave a party, or remove a member.
    ///
    /// A player leaves, and the oldest member follows a leader. The leader removes any member: that player cannot join
    /// again. Both stop the search, and the party gets another code. A party that has removed 100 players removes no
    /// more (409): end it and make another one.</summary>
    public static Request<Party> LeaveParty(string partyId, string playerId, string onBehalfOf = null)
    {
      var r = new Request<Party>("DELETE", "v1/parties/" + AnyRequest.Segment(partyId) + "/members/" + AnyRequest.Segment(playerId), true, Api.Party.Read);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      return r;
    }

    /// <summary>List the regions whose latency can be measured.</summary>
    public static Request<Regions> ListRegions()
    {
      var r = new Request<Regions>("GET", "v1/regions", true, Api.Regions.Read);
      return r;
    }

    /// <summary>Read the player's party.
    ///
    /// It is found without its id, for instance after an answer was lost.</summary>
    public static Request<Party> MyParty(string ifNoneMatch = null, string prefer = null, string onBehalfOf = null)
    {
      var r = new Request<Party>("GET", "v1/parties", true, Api.Party.Read);
      AnyRequest.Put(r.Headers, "If-None-Match", ifNoneMatch);
      AnyRequest.Put(r.Headers, "Prefer", prefer);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      return r;
    }

    /// <summary>Read a player's ratings.
    ///
    /// An extension. What the results of the player's matches give, as it is worth now. A player's token asks for the
    /// player itself.</summary>
    public static Request<PlayerRatings> PlayerRatings(string playerId)
    {
      var r = new Request<PlayerRatings>("GET", "v1/players/" + AnyRequest.Segment(playerId) + "/ratings", true, Api.PlayerRatings.Read);
      return r;
    }

    /// <summary>Say how the server stands.
    ///
    /// Replaces the backfill ticket when players left, or joined without the matchmaker. Tickets that were proposed go
    /// back to the pool. `Id`, `Created`, `RecordVersion` and `assignedTickets` may be sent back, so that the answer to
    /// an approval can be put back as it is. The service keeps its own.</summary>
    public static Request<BackfillTicket> PutBackfill(string backfillId, BackfillTicketUpdate body)
    {
      var r = new Request<BackfillTicket>("PUT", "v2/backfill/" + AnyRequest.Segment(backfillId), true, Api.BackfillTicket.Read);
      r.Body = body.Write().ToString();
      return r;
    }

    /// <summary>Read what matches did to a player's ratings.
    ///
    /// An extension. The changes of the player's last 32 matches that changed a rating, the latest first. A player's
    /// token asks for the player itself.</summary>
    public static Request<RatingHistory> RatingHistory(string playerId)
    {
      var r = new Request<RatingHistory>("GET", "v1/players/" + AnyRequest.Segment(playerId) + "/ratings/history", true, Api.RatingHistory.Read);
      return r;
    }

    /// <summary>Give the party another code.
    ///
    /// Only the leader does. Nobody joins with the code before.</summary>
    public static Request<Party> RenewPartyCode(string partyId, string onBehalfOf = null)
    {
      var r = new Request<Party>("POST", "v1/parties/" + AnyRequest.Segment(partyId) + "/code", true, Api.Party.Read);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      return r;
    }

    /// <summary>Renew the token of a game server.
    ///
    /// An extension. A game server gets a token of its own with its allocation, which is good for some time (30 minutes
    /// by default). For the one that it has, as long as it is good, it gets the next one here, while its allocation
    /// lives. Its backfill tickets are those that were made with its match, or with a token of it: to this token there
    /// are no others.</summary>
    public static Request<ServerToken> RenewServerToken()
    {
      var r = new Request<ServerToken>("POST", "v1/servers/token", true, Api.ServerToken.Read);
      return r;
    }

    /// <summary>Report the result of a match.
    ///
    /// An extension. Its game server does it with the token that it got with its allocation, which is good for its own
    /// match alone, or a game service with the scope `matchmaking`. The match's config must have `result`.
    ///
    /// The same result may be sent again: it counts once. Another one within a day of the first replaces it, and the
    /// ratings are computed anew. The result counts for the project's ratings of the config's queue if two teams or more
    /// have players; a team without any is not rated.
    ///
    /// A team without `players` has those of the match's team of its `name`. All teams that have any name their players,
    /// or none does. A player who is not named did not play. Where the match has teams, as many are to be named here,
    /// also one that all players left before the game began.</summary>
    public static Request<MatchResult> ReportResult(string matchId, ReportResult body)
    {
      var r = new Request<MatchResult>("POST", "v1/matches/" + AnyRequest.Segment(matchId) + "/result", true, Api.MatchResult.Read);
      r.Body = body.Write().ToString();
      return r;
    }

    /// <summary>Find the match that a player plays.
    ///
    /// An extension. The match of the player that has no result yet: its connection, and a new seat pass if its config
    /// has `seats`. A player's token asks for the player itself. It is 404 when there is none, when the result did not
    /// come in time, and when the match's server renews its token no more. The match's config must have
    /// `result`.</summary>
    public static Request<RunningMatch> RunningMatch(string playerId)
    {
      var r = new Request<RunningMatch>("GET", "v1/players/" + AnyRequest.Segment(playerId) + "/match", true, Api.RunningMatch.Read);
      return r;
    }

    /// <summary>Make another member the leader.
    ///
    /// Only the leader does.</summary>
    public static Request<Party> SetPartyLeader(string partyId, SetPartyLeader body, string onBehalfOf = null)
    {
      var r = new Request<Party>("PUT", "v1/parties/" + AnyRequest.Segment(partyId) + "/leader", true, Api.Party.Read);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      r.Body = body.Write().ToString();
      return r;
    }

    /// <summary>Start the search.
    ///
    /// Only the leader does, when all members are ready. It creates one ticket with all members as its players, which
    /// each of them can read. A search that has begun goes on. It counts to the rate of creates of each member.
    ///
    /// The ticket has the leader's value of each attribute that a claim sets, unless a game service sets
    /// another.</summary>
    public static Request<Party> StartPartySearch(string partyId, StartPartySearch body, string onBehalfOf = null)
    {
      var r = new Request<Party>("PUT", "v1/parties/" + AnyRequest.Segment(partyId) + "/search", true, Api.Party.Read);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      r.Body = body.Write().ToString();
      return r;
    }

    /// <summary>Stop the search.
    ///
    /// Only the leader does. The ticket is deleted, unless it has a result.</summary>
    public static Request<Party> StopPartySearch(string partyId, string onBehalfOf = null)
    {
      var r = new Request<Party>("DELETE", "v1/parties/" + AnyRequest.Segment(partyId) + "/search", true, Api.Party.Read);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      return r;
    }

    /// <summary>Say anew what a member carries.
    ///
    /// A player replaces its own attributes, properties and readiness. What a search has begun with stays.</summary>
    public static Request<Party> UpdatePartyMember(string partyId, string playerId, PartyMembership body, string onBehalfOf = null)
    {
      var r = new Request<Party>("PUT", "v1/parties/" + AnyRequest.Segment(partyId) + "/members/" + AnyRequest.Segment(playerId), true, Api.Party.Read);
      AnyRequest.Put(r.Headers, "X-On-Behalf-Of", onBehalfOf);
      r.Body = body.Write().ToString();
      return r;
    }
  }
}
