// The driver of the conformance programme: ../../conformance/PROTOCOL.md says what it reads and writes.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using Matchmaking;
using Api = Matchmaking.Api;

static class Program
{
    static readonly StreamWriter Out = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false));
    static Matchmaker matchmaker;
    static ScaledClock clock;
    static Action<string, string> reply;
    static Search search;
    static Party party;
    static bool cancelling;
    static SeatOptions server;
    static Filler filler;
    static Seats seats;
    static double open;
    static List<string> receipts;

    sealed class ScaledClock : IClock
    {
        static readonly DateTime Begin = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        readonly double scale;
        readonly double epoch;
        readonly double wrong;

        internal ScaledClock(Json c)
        {
            scale = c["scale"].MaybeNumber ?? 1;
            epoch = c["epoch"].MaybeNumber ?? System;
            wrong = c["clock"].Number;
            Look();
        }

        static double System => (DateTime.UtcNow - Begin).TotalMilliseconds;
        public double Wall { get; private set; }
        public double Steady => Wall;

        // Between two reads the machine may do something else: with a scale that would be a device that slept.
        internal void Look() => Wall = epoch + (System - epoch) / scale + wrong;
    }

    static void Main()
    {
        var lines = new BlockingCollection<string>();
        var reader = new Thread(() =>
        {
            var input = new StreamReader(Console.OpenStandardInput(), Encoding.UTF8);
            for (string line; (line = input.ReadLine()) != null;) lines.Add(line);
            lines.CompleteAdding();
        });
        reader.IsBackground = true;
        reader.Start();
        while (!lines.IsCompleted)
        {
            if (lines.TryTake(out var line, matchmaker == null ? 50 : 0)) Run(Json.Parse(line) ?? Json.Null);
            else
            {
#if UNITY
                UnityEngine.Frame.Run(2);
#endif
                clock?.Look();
                matchmaker?.Pump(2);
            }
        }
        matchmaker?.Dispose();
        Environment.Exit(0);
    }

    static void Say(string what, Json members = null)
    {
        var line = Json.Object().Set("event", what);
        foreach (var m in (members ?? Json.Null).Members) line.Set(m.Key, m.Value);
        Out.Write(line + "\n");
        Out.Flush();
    }

    static void SayError(Error e)
    {
        if (e != null) Say("error", Json.Object().Set("code", e.Name).Set("player", e.PlayerMessage));
    }

    static void SayMatched(Match m) =>
        Say("matched", Json.Object().Set("ticket", m.Ticket).Set("connection", m.Connection).Set("seat", m.Seat));

    static void Start(Json c)
    {
        clock = new ScaledClock(c);
        var folder = c["storage"].String;
        matchmaker = new Matchmaker(new Options
        {
            Url = c["url"].String,
            Project = c["project"].String,
            Player = c["for"].String,
            Token = (why, answer) =>
            {
                reply = answer;
                Say("token", Json.Object().Set("reason", why.ToString().ToLowerInvariant()));
            },
#if UNITY
            Transport = new Matchmaking.Unity.UnityTransport(),
#else
            Transport = new HttpTransport(),
#endif
            Storage = folder == null ? null : new FileStorage(Path.Combine(folder, "search")),
            Clock = clock,
        });
        var can = Json.Array();
        can.Add(Json.Of("player"));
        can.Add(Json.Of("party"));
        can.Add(Json.Of("server"));
        can.Add(Json.Of("seats"));
        can.Add(Json.Of("measure"));
        can.Add(Json.Of("heads"));
        can.Add(Json.Of("redirects"));
        can.Add(Json.Of("values"));
        can.Add(Json.Of("acts"));
        server = new SeatOptions
        {
            Match = c["match"].String, Backfill = c["backfill"].String, Connection = c["connection"].String,
        };
        Say("ready", Json.Object().Set("language", "C#").Set("can", can));
    }

    static void Follow(Search of)
    {
        search = of;
        search.OnUpdate(u =>
        {
            switch (u.State)
            {
                case SearchState.Searching:
                    Say("searching", Json.Object().Set("ticket", u.Ticket).Set("estimate", u.Estimate?.Write()));
                    break;
                case SearchState.Offered:
                    Say("offered", Json.Object().Set("match", u.Offer)
                        .Set("remaining", Json.Of((double?)Math.Round(u.Deadline - clock.Wall)))
                        .Set("players", Json.Of((long?)u.Players)).Set("accepted", Json.Of((long?)u.Accepted)));
                    break;
                case SearchState.Matched:
                    if (!cancelling) SayMatched(u.Match);
                    break;
                case SearchState.Cancelled:
                    Say("cancelled");
                    break;
                case SearchState.Failed:
                    var failed = Json.Object();
                    if (u.Error.Code == Code.Ended) Say("failed", failed.Set("reason", u.Error.Reason));
                    else if (u.Error.Code != Code.Failed) SayError(u.Error);
                    else Say("failed", failed.Set("reason", "assignment").Set("detail", u.Error.Detail));
                    break;
            }
        });
    }

    static void Follow(Result<Party> r)
    {
        SayError(r.Error);
        if ((party = r.Value) == null) return;
        party.OnUpdate(u =>
        {
            if (u.State == PartyState.Search) Follow(u.Search);
            else if (u.Error != null) SayError(u.Error);
            else if (u.State == PartyState.Left) Say("left", Json.Object().Set("reason", u.Reason));
            else
            {
                var members = Json.Of(u.Party.Members,
                    m => Json.Object().Set("id", m.Id).Set("ready", Json.Of((bool?)m.Ready)));
                Say("party", Json.Object().Set("code", u.Party.Code).Set("leader", u.Party.Leader)
                    .Set("members", members).Set("revision", Json.Of((long?)u.Party.Revision)));
            }
        });
    }

    static void Cancel()
    {
        cancelling = true;
        search.Cancel(c =>
        {
            cancelling = false;
            SayError(c.Error);
            if (c.Late == null) return;
            Say("late");
            SayMatched(c.Late);
        });
    }

    static void Fill(Json c)
    {
        open = c["open"].Number;
        if (filler != null)
        {
            filler.Changed();
            return;
        }
        filler = new Filler(matchmaker, new FillOptions
        {
            Backfill = server.Backfill,
            Join = tickets => Say("joined", Json.Object().Set("tickets", Json.Of(tickets, t => Json.Of(t.Id)))),
            State = () => new Api.BackfillRequest
            {
                Connection = c["connection"].String, Attributes = new Dictionary<string, double> { ["open"] = open },
            },
            Failed = SayError,
        });
    }

    static void CheckSeat(Json c)
    {
        seats = seats ?? new Seats(matchmaker, server);
        seats.Check(c["pass"].String, r =>
        {
            SayError(r.Error);
            if (r.Value == null) return;
            Say("seat", Json.Object().Set("ok", Json.Of((bool?)(r.Value.Refused == null)))
                .Set("player", r.Value.Player).Set("ticket", r.Value.Ticket));
        });
    }

    static void Measure(Json c)
    {
        var o = new MeasureOptions
        {
            Network = c["network"].String, Probes = (int)c["probes"].Number, Timeout = (int)c["timeout"].Number,
        };
        matchmaker.Measure(o, r =>
        {
            SayError(r.Error);
            if (r.Error != null) return;
            receipts = r.Value.SelectMany(l => l.Receipts).ToList();
            Say("latencies", Json.Object().Set("regions", Json.Of(r.Value, l => Json.Object().Set("region", l.Region)
                .Set("rtt", Json.Of(l.Rtt)).Set("sent", Json.Of((long?)l.Sent)).Set("lost", Json.Of((long?)l.Lost))
                .Set("receipts", Json.Of(l.Receipts, t => Json.Of(t))))));
        });
    }

    static void Run(Json c)
    {
        var attributes = c["attributes"].Map(v => v.Number);
        var wanted = new SearchOptions { Attributes = attributes, Queues = c["queues"].List(q => q.String) };
        if (c["measured"].Boolean) wanted.Receipts = receipts;
        var member = new MemberOptions { Attributes = attributes };
        switch (c["do"].String)
        {
            case "start":
                Start(c);
                break;
            case "token":
                reply(c["token"].String, c["error"].String);
                break;
            case "search":
                Follow(matchmaker.Search(wanted));
                break;
            case "restore":
                matchmaker.Restore(r =>
                {
                    SayError(r.Error);
                    if (r.Value != null) Follow(r.Value);
                    else if (r.Error == null) Say("idle");
                });
                break;
            case "cancel":
                Cancel();
                break;
            case "accept":
                search.Accept(SayError);
                break;
            case "decline":
                search.Decline(SayError);
                break;
            case "suspend":
                matchmaker.Suspend();
                break;
            case "resume":
                matchmaker.Resume();
                break;
            case "estimate":
                search.Estimate(r =>
                {
                    SayError(r.Error);
                    if (r.Error == null) Say("estimate", r.Value?.Write());
                });
                break;
            case "party-create":
                matchmaker.CreateParty(member, c["size"].MaybeInteger, Follow);
                break;
            case "party-join":
                matchmaker.JoinParty(c["code"].String, member, Follow);
                break;
            case "party-ready":
                member.Ready = c["ready"].Boolean;
                party.Update(member, SayError);
                break;
            case "party-search":
                party.Start(wanted, SayError);
                break;
            case "party-kick":
                party.Kick(c["player"].String, SayError);
                break;
            case "party-leave":
                party.Leave(SayError);
                break;
            case "fill":
                Fill(c);
                break;
            case "fill-end":
                filler.End(SayError);
                break;
            case "measure":
                Measure(c);
                break;
            case "seat":
                CheckSeat(c);
                break;
            default:
                Say("unsupported", Json.Object().Set("do", c["do"].String));
                break;
        }
    }
}
