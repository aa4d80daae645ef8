using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace Matchmaking
{
    /// <summary>How a match is that a test makes.</summary>
    public sealed class FakeMatch
    {
        public string Connection = "127.0.0.1:7777";
        public Dictionary<string, Json> MatchProperties;
        /// <summary>An error instead of a connection, such as AllocationError.</summary>
        public string Error;
    }

    /// <summary>The service in memory, for a game's own tests: a Matchmaker asks it as it asks the real one. It matches
    /// nobody by itself; the test says what happens. It belongs to one thread.</summary>
    public sealed class FakeService : ITransport, IClock
    {
        /// <summary>How many milliseconds an answer takes.</summary>
        public double Slow;
        /// <summary>Creates of tickets are refused: come again in so many seconds. 0: they are not.</summary>
        public int Full;
        /// <summary>Nothing is answered, and what is open breaks.</summary>
        public bool Gone;
        /// <summary>The regions that are measured.</summary>
        public readonly List<Api.Region> Regions = new List<Api.Region>();

        readonly double speed;
        readonly IClock clock = new SystemClock();
        readonly double began;
        double time;
        double looked;
        readonly List<Ticket> tickets = new List<Ticket>();
        readonly List<Api.Party> parties = new List<Api.Party>();
        readonly List<Game> games = new List<Game>();
        readonly HashSet<string> kicked = new HashSet<string>();
        readonly List<Call> calls = new List<Call>();
        int count;

        sealed class Offer
        {
            internal string Match;
            internal double Ends;
            internal List<string> Asked;
            internal readonly HashSet<string> Accepted = new HashSet<string>();
            internal FakeMatch Then;
        }

        sealed class Ticket
        {
            internal Api.Ticket Api;
            internal List<string> Players;
            internal string Key;
            internal Offer Offer;
            internal bool Ended;
        }

        /// <summary>A running game that its server fills.</summary>
        sealed class Game
        {
            internal string Id;
            internal Json State;
            internal List<Ticket> Proposed = new List<Ticket>();
            internal readonly List<Ticket> Joined = new List<Ticket>();
        }

        /// <summary>A request, and behind it a stream of a ticket or a party.</summary>
        sealed class Call
        {
            internal long Id;
            internal HttpCall Request;
            internal IHttpListener Listener;
            internal double Due;
            internal string Player;
            internal string Of;
            internal string Text = "";
            internal bool Ends;
            internal bool Broken;
        }

        sealed class Answer
        {
            internal int Status = 200;
            internal Json Body;
            internal string RetryAfter;
            /// <summary>What is streamed.</summary>
            internal string Of;
        }

        /// <summary>speed is how much faster time passes for the service and its Matchmakers: 100 makes an hour 36
        /// seconds. A frame takes 5 s of it at most: at 60 frames a second, 300 is the most.</summary>
        public FakeService(double speed = 1)
        {
            this.speed = speed;
            began = time = clock.Wall;
        }

        /// <summary>The options of a player's Matchmaker.</summary>
        public Options Options(string player)
        {
            var claims = Encoding.UTF8.GetBytes(Json.Object().Set("sub", player).ToString());
            return new Options
            {
                Url = "http://fake.invalid",
                Project = "fake",
                Token = (why, reply) => reply("fake." + Convert.ToBase64String(claims) + ".fake", null),
                Transport = this,
                Clock = this,
            };
        }

        /// <summary>Where the program stood still, no more than five seconds passed, so that no stream is taken for
        /// broken.</summary>
        public double Wall
        {
            get
            {
                var at = clock.Steady;
                time += Math.Min((at - looked) * speed, 5000);
                looked = at;
                return time;
            }
        }

        public double Steady => Wall;

        /// <summary>Streams break; clients come back.</summary>
        public void Cut() => calls.ForEach(c => c.Broken = c.Of != null);

        /// <summary>The players whose tickets wait.</summary>
        public List<string> Waiting => tickets.Where(Waits).SelectMany(t => t.Players).ToList();

        /// <summary>Players get the same match. Here and below, players without a ticket that waits are left out.</summary>
        public void Match(IEnumerable<string> players, FakeMatch match = null) => Match(TicketsOf(players), match);

        /// <summary>A match asks players whether they accept it. When all have, they get it.</summary>
        public void Ask(IEnumerable<string> players, double seconds = 20, FakeMatch match = null)
        {
            var list = TicketsOf(players);
            var offer = new Offer
            {
                Match = Id("match"), Ends = Wall + seconds * 1000, Asked = list.SelectMany(t => t.Players).ToList(), Then = match,
            };
            list.ForEach(t => t.Offer = offer);
            list.ForEach(Tell);
        }

        /// <summary>The running games that servers fill, as they were told last.</summary>
        public List<Api.BackfillTicket> Games => games.Select(g => Api.BackfillTicket.Read(g.State)).ToList();

        /// <summary>Players join the running game that was created last, when its server approves next.</summary>
        public void Join(IEnumerable<string> players) => games.LastOrDefault()?.Proposed.AddRange(TicketsOf(players));

        /// <summary>A player accepts or declines the match that asks, as its client may.</summary>
        public void Accept(string player, bool accept)
        {
            foreach (var offer in TicketsOf(new[] { player }).Select(t => t.Offer).Where(o => o != null).ToList())
            {
                if (!accept)
                {
                    EndOffer(offer, new List<string> { player }, "declined");
                    return;
                }
                offer.Accepted.Add(player);
                if (offer.Accepted.Count == offer.Asked.Count) Match(With(offer), offer.Then);
                else With(offer).ForEach(Tell);
            }
        }

        /// <summary>A player's ticket ends without a match: abandoned, unserved, …</summary>
        public void End(string player, string reason) => TicketsOf(new[] { player }).ForEach(t => End(t, reason));

        public long Start(HttpCall request, IHttpListener listener)
        {
            var token = request.Headers.Where(h => h.Key == "Authorization").Select(h => h.Value).FirstOrDefault() ?? "";
            var player = Tokens.Claims(token)["sub"].String;
            calls.Add(new Call
            {
                Id = ++count, Request = request, Listener = listener, Due = Wall + Slow, Player = player,
            });
            return count;
        }

        public void Cancel(long id)
        {
            foreach (var c in calls.Where(c => c.Id == id)) c.Listener = null;
        }

        public void Pump(int wait)
        {
            if (wait > 0) System.Threading.Thread.Sleep(1);
            foreach (var offer in tickets.Select(t => t.Offer).Where(o => o != null && Wall >= o.Ends).Distinct().ToList())
            {
                EndOffer(offer, offer.Asked.Where(p => !offer.Accepted.Contains(p)).ToList(), "silent");
            }
            for (var i = 0; i < calls.Count; i++) // listeners may start others
            {
                var c = calls[i];
                if (c.Listener == null || Wall < c.Due) continue;
                if (Gone || c.Broken) Finish(c, "there is no way to the service");
                else if (c.Of == null) Begin(c);
                if (c.Listener == null || c.Of == null) continue;
                var text = Encoding.UTF8.GetBytes(c.Text);
                c.Text = "";
                if (text.Length > 0) c.Listener.OnData(text, text.Length);
                if (c.Ends) Finish(c, null);
            }
            calls.RemoveAll(c => c.Listener == null);
        }

        static void Finish(Call c, string failure)
        {
            var listener = c.Listener;
            c.Listener = null;
            listener?.OnEnd(failure);
        }

        void Begin(Call c)
        {
            var a = AnswerOf(c);
            var type = a.Of != null ? "text/event-stream" : a.Status < 400 ? "application/json" : "application/problem+json";
            var headers = new Dictionary<string, string> { ["content-type"] = type };
            if (a.RetryAfter != null) headers["retry-after"] = a.RetryAfter;
            c.Listener.OnHead(a.Status, headers);
            c.Of = a.Of;
            if (c.Of != null)
            {
                tickets.Where(t => t.Api.Id == c.Of).ToList().ForEach(Tell);
                foreach (var p in parties.Where(p => p.Id == c.Of)) Send(p.Id, "" + p.Revision, "party", Shown(p), c.Player);
                return;
            }
            var text = a.Body == null ? new byte[0] : Encoding.UTF8.GetBytes(a.Body.ToString());
            if (text.Length > 0) c.Listener?.OnData(text, text.Length);
            Finish(c, null);
        }

        static Answer Refuse(int status, string code) => new Answer
        {
            Status = status,
            Body = Json.Object().Set("title", code).Set("status", Json.Of(status)).Set("detail", "the fake says " + code)
                .Set("code", code),
        };

        Answer AnswerOf(Call c)
        {
            var url = new Uri(c.Request.Url);
            var query = url.Query.TrimStart('?').Split('&').Where(q => q != "").Select(q => q.Split('='))
                .ToDictionary(q => q[0], q => Uri.UnescapeDataString(q[1]));
            var path = url.AbsolutePath.Substring(url.AbsolutePath.IndexOf("/api/v", StringComparison.Ordinal) + 8)
                .Split('/').Select(Uri.UnescapeDataString).Concat(new[] { "", "", "" }).ToList();
            var body = Json.Parse(c.Request.Body) ?? Json.Object();
            if (path[0] == "tickets") return TicketAnswer(c, path[1], query, body);
            if (path[0] == "backfill") return BackfillAnswer(c.Request.Method, path, body);
            if (path[0] == "regions")
            {
                var seconds = Regions.Count > 0 ? 60 : 0;
                return new Answer { Body = new Api.Regions { All = Regions, ReceiptSeconds = seconds }.Write() };
            }
            return path[0] == "parties" ? PartyAnswer(c, path, body) : Refuse(404, "notFound");
        }

        static string Header(Call c, string name) =>
            c.Request.Headers.Where(h => h.Key == name).Select(h => h.Value).FirstOrDefault();

        Answer TicketAnswer(Call c, string below, Dictionary<string, string> query, Json body)
        {
            if (c.Request.Method == "POST" && below == "")
            {
                var same = Header(c, "Idempotency-Key");
                var ticket = tickets.FirstOrDefault(t => same != null && t.Key == same);
                if (ticket == null && Full > 0)
                {
                    var busy = Refuse(429, "tooManyTickets");
                    busy.RetryAfter = "" + Full;
                    return busy;
                }
                if (ticket == null && TicketsOf(new[] { c.Player }).Count > 0) return Refuse(409, "playerHasTicket");
                ticket = ticket ?? Create(new List<string> { c.Player }, body, same);
                return new Answer { Status = 201, Body = Json.Object().Set("id", ticket.Api.Id) };
            }
            var keyed = query.TryGetValue("key", out var key);
            if (keyed || query.ContainsKey("player"))
            {
                var own = tickets.Where(t => t.Players.Contains(c.Player) && !t.Ended).Reverse();
                own = own.Where(t => !keyed || t.Key == "\"" + key + "\"");
                return new Answer { Body = Json.Object().Set("tickets", Json.Of(own.ToList(), Shown)) };
            }
            query.TryGetValue("id", out var id);
            var of = tickets.FirstOrDefault(t => t.Api.Id == id && !t.Ended && t.Players.Contains(c.Player));
            if (of == null) return Refuse(404, "ticketNotFound");
            if (below == "events") return new Answer { Of = of.Api.Id };
            if (below == "acceptance")
            {
                if (of.Offer?.Match != body["match"].String) return Refuse(409, "acceptanceOver");
                Accept(c.Player, body["accept"].Boolean);
                return new Answer { Status = 204 };
            }
            if (c.Request.Method == "GET") return new Answer { Body = Shown(of) };
            if (of.Api.Assignment != null && query.ContainsKey("unlessAssigned")) return Refuse(409, "ticketMatched");
            End(of, "deleted");
            return new Answer { Body = Json.Object() };
        }

        Answer BackfillAnswer(string method, List<string> path, Json body)
        {
            if (path[1] == "")
            {
                games.Add(new Game { Id = Id("backfill"), State = body });
                return new Answer { Status = 201, Body = Json.Object().Set("Id", games.Last().Id) };
            }
            var game = games.Find(g => g.Id == path[1]);
            if (game == null) return Refuse(404, "backfillNotFound");
            if (method == "DELETE") games.Remove(game);
            if (method == "DELETE") return new Answer { Status = 204 };
            if (method == "PUT") game.State = body;
            else
            {
                game.Proposed.RemoveAll(t => !Waits(t));
                Match(game.Proposed, new FakeMatch { Connection = game.State["Connection"].String });
                game.Joined.AddRange(game.Proposed);
            }
            game.Proposed.Clear(); // a PUT rejects them
            var answer = game.State.Set("Id", game.Id).Set("Created", Json.Of((long?)began)).Set("RecordVersion", Json.Of(1));
            return new Answer { Body = answer.Set("assignedTickets", Json.Of(game.Joined, Shown)) };
        }

        Answer PartyAnswer(Call c, List<string> path, Json body)
        {
            var method = c.Request.Method;
            var own = parties.FirstOrDefault(p => p.Members.Any(m => m.Id == c.Player));
            if (method == "POST" && (path[1] == "" || path[1] == "members")) return Enter(own, c.Player, path[1] != "", body);
            if (own == null || path[1] != "" && path[1] != own.Id) return Refuse(404, "partyNotFound");
            var what = path[2];
            if (what == "" && method == "GET")
            {
                var known = Header(c, "If-None-Match") == "\"" + own.Revision + "\"";
                return known ? new Answer { Status = 304 } : new Answer { Body = Shown(own) };
            }
            if (what == "events") return new Answer { Of = own.Id };
            var self = what == "members" && path[3] == c.Player;
            if (!self && own.Leader != c.Player) return Refuse(403, "notLeader");
            if (what == "") return Leave(own, own.Members.Select(m => m.Id).ToList(), "disbanded");
            if (what == "leader") own.Leader = body["player"].String;
            if (what == "code") own.Code = PartyCode();
            if (what == "members")
            {
                var at = own.Members.FindIndex(m => m.Id == path[3]);
                if (at < 0) return Refuse(404, "memberNotFound");
                if (method == "DELETE") return Leave(own, new List<string> { path[3] }, self ? "left" : "kicked");
                var member = Api.PartyMember.Read(body);
                member.Id = path[3];
                own.Members[at] = member;
            }
            if (what == "search" && method == "DELETE") Stop(own);
            else if (what == "search" && own.Members.Any(m => !m.Ready)) return Refuse(409, "memberNotReady");
            else if (what == "search" && SearchOf(own) == null)
            {
                var ticket = Create(own.Members.Select(m => m.Id).ToList(), body, null);
                own.Search = new Api.PartySearch { Ticket = ticket.Api.Id, Started = ticket.Api.Created };
            }
            return Changed(own);
        }

        Answer Enter(Api.Party own, string player, bool joins, Json body)
        {
            var member = Api.PartyMember.Read(body);
            member.Id = player;
            member.Ready = body["ready"].MaybeBoolean ?? true;
            var code = new string((body["code"].String ?? "").ToUpperInvariant().Where(char.IsLetterOrDigit).ToArray());
            var party = joins ? parties.FirstOrDefault(p => p.Code == code) : null;
            if (own != null && own != party) return Refuse(409, "alreadyInParty");
            if (own != null) return new Answer { Body = Shown(own) };
            if (joins)
            {
                if (party == null || kicked.Contains(party.Id + " " + player)) return Refuse(404, "partyCodeUnknown");
                if (party.Members.Count >= party.Size) return Refuse(409, "partyFull");
                Stop(party);
                party.Members.Add(member);
                return Changed(party);
            }
            party = new Api.Party
            {
                Id = Id("party"), Code = PartyCode(), Leader = player, Created = (long)Wall, Revision = 1,
                Size = body["size"].MaybeInteger ?? 16, Members = new List<Api.PartyMember> { member },
            };
            parties.Add(party);
            return new Answer { Status = 201, Body = Shown(party) };
        }

        Answer Leave(Api.Party p, List<string> players, string reason)
        {
            Stop(p);
            foreach (var player in players)
            {
                if (reason == "kicked") kicked.Add(p.Id + " " + player);
                p.Members.RemoveAll(m => m.Id == player);
                Send(p.Id, "ended", "ended", Json.Object().Set("id", p.Id).Set("reason", reason), player);
            }
            if (p.Members.Count == 0)
            {
                parties.Remove(p);
                return new Answer { Status = 204 };
            }
            if (p.Members.All(m => m.Id != p.Leader)) p.Leader = p.Members[0].Id;
            p.Code = PartyCode();
            var now = Changed(p);
            return reason == "kicked" ? now : new Answer { Status = 204 };
        }

        Ticket SearchOf(Api.Party p) => tickets.FirstOrDefault(t => t.Api.Id == p.Search?.Ticket && Waits(t));

        void Stop(Api.Party p)
        {
            var of = SearchOf(p);
            p.Search = null;
            if (of != null) End(of, "deleted");
        }

        Answer Changed(Api.Party p)
        {
            p.Revision++;
            Send(p.Id, "" + p.Revision, "party", Shown(p));
            return new Answer { Body = Shown(p) };
        }

        static Json Shown(Api.Party p) => p.Write();

        string Id(string of) => of + "-" + ++count;
        string PartyCode() => "FAKE" + (10000 + ++count);
        static bool Waits(Ticket t) => !t.Ended && t.Api.Assignment == null;
        List<Ticket> With(Offer offer) => tickets.Where(t => t.Offer == offer && !t.Ended).ToList();
        List<Ticket> TicketsOf(IEnumerable<string> players) =>
            tickets.Where(t => Waits(t) && t.Players.Intersect(players).Any()).ToList();

        Ticket Create(List<string> players, Json body, string key)
        {
            var api = Api.Ticket.Read(body);
            api.Id = Id("ticket");
            api.Created = (long)Wall;
            var ticket = new Ticket { Api = api, Players = players, Key = key };
            tickets.Add(ticket);
            return ticket;
        }

        Json Shown(Ticket t)
        {
            var to = t.Api.Write();
            if (t.Offer == null) return to;
            return to.Set("acceptance", new Api.Acceptance
            {
                Match = t.Offer.Match,
                Remaining = (long)Math.Max(0, t.Offer.Ends - Wall),
                Players = t.Offer.Asked.Count,
                Accepted = t.Offer.Accepted.Count,
                Unanswered = t.Players.Where(p => !t.Offer.Accepted.Contains(p)).ToList(),
            }.Write());
        }

        void Tell(Ticket t)
        {
            var kind = t.Api.Assignment != null ? "assigned" : t.Offer != null ? "acceptance" : "waiting";
            Send(t.Api.Id, kind, kind, Shown(t));
        }

        void Send(string of, string id, string kind, Json data, string player = null)
        {
            foreach (var c in calls.Where(c => c.Of == of && (player == null || c.Player == player) && !c.Ends))
            {
                c.Text += "id: " + id + "\nevent: " + kind + "\ndata: " + data + "\n\n";
                c.Ends = kind == "ended" || kind == "assigned";
            }
        }

        void Match(List<Ticket> list, FakeMatch match)
        {
            match = match ?? new FakeMatch();
            foreach (var t in list)
            {
                t.Offer = null;
                t.Api.Assignment = new Api.Assignment
                {
                    Connection = match.Error == null ? match.Connection : "",
                    Error = match.Error ?? "",
                    Matchproperties = match.MatchProperties,
                    Seats = t.Players.ToDictionary(p => p, p => "seat of " + p),
                };
                Tell(t);
            }
        }

        /// <summary>An acceptance ends: the tickets of some players end, the others wait again.</summary>
        void EndOffer(Offer offer, List<string> players, string reason)
        {
            foreach (var t in With(offer))
            {
                t.Offer = null;
                if (t.Players.Intersect(players).Any()) End(t, reason);
                else Tell(t);
            }
        }

        /// <summary>The others that the same match asks wait again.</summary>
        void End(Ticket t, string reason)
        {
            var offer = t.Offer;
            t.Ended = true;
            t.Offer = null;
            Send(t.Api.Id, "ended", "ended", Json.Object().Set("id", t.Api.Id).Set("reason", reason));
            if (offer != null) EndOffer(offer, new List<string>(), "");
        }
    }
}
