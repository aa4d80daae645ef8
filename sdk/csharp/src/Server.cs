using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace Matchmaking
{
    /// <summary>Which game is kept filled.</summary>
    public sealed class FillOptions
    {
        /// <summary>The backfill ticket that was made together with the game's match. Without, one is created.</summary>
        public string Backfill;
        /// <summary>The tickets that have joined: each once, and before State is asked again. Their players will connect
        /// soon.</summary>
        public Action<List<Api.Ticket>> Join;
        /// <summary>What the game is now: where its server is, and usually how many more players it takes, those counted in
        /// that Join was called with. An attribute or a property that it does not name stays as functions left it, and so
        /// does the connection when it names none.</summary>
        public Func<Api.BackfillRequest> State;
        /// <summary>Is told what went wrong. The filling goes on.</summary>
        public Action<Error> Failed;
        /// <summary>The time between two approvals, in milliseconds.</summary>
        public double Every = 1000;
    }

    /// <summary>Keeps a running game filled, for its server. The Matchmaker's token is the server's.</summary>
    public sealed class Filler : IJob
    {
        /// <summary>The longest pause after failures, and for how long a ticket is remembered that the service tells of no
        /// more.</summary>
        const double MaxPause = 10000;
        const double Memory = 600000;

        readonly Connection c;
        readonly FillOptions o;
        readonly Dictionary<string, double> joined = new Dictionary<string, double>();
        string id;
        double pause;
        double due;
        double soonest;
        bool changed;
        bool busy;
        bool over;
        Action<Error> ends;

        public Filler(Matchmaker matchmaker, FillOptions o)
        {
            c = matchmaker.Connection;
            this.o = o;
            id = o.Backfill ?? "";
            pause = o.Every;
            c.Add(this);
        }

        /// <summary>State has something new to say, which the service is told at once.</summary>
        public void Changed() => changed = true;

        /// <summary>The game takes no more players: the backfill ticket is deleted.</summary>
        public void End(Action<Error> done = null) => ends = ends ?? done ?? (e => { });

        bool IJob.Step()
        {
            if (busy) return false;
            if (over) return true;
            if (ends != null)
            {
                over = true;
                if (id == "") ends(null);
                // Tickets that are still proposed go elsewhere.
                else Send(Api.Requests.DeleteBackfill(id), (json, error) => ends(error));
                return id == "";
            }
            var now = c.Clock.Steady;
            if (now < due && !(changed && now >= soonest)) return false;
            changed = false;
            if (id == "") Create();
            else Send(Api.Requests.ApproveBackfill(id), Approved);
            return false;
        }

        void Create() => Send(Api.Requests.CreateBackfill(o.State()), (json, error) =>
        {
            Settle(error);
            if (error == null) id = json["Id"].String ?? "";
        });

        /// <summary>Lets in the players that joined, and says what has changed.</summary>
        void Approved(Json answer, Error error)
        {
            if (error != null && error.Missing)
            {
                // The service gave the game up while it could not be reached.
                id = "";
                if (ends == null) Create();
                return;
            }
            Settle(error);
            if (error != null) return;
            var now = c.Clock.Steady;
            var tickets = Api.BackfillTicket.Read(answer).AssignedTickets ?? new List<Api.Ticket>();
            var fresh = tickets.Where(t => !joined.ContainsKey(t.Id)).ToList();
            foreach (var t in tickets) joined[t.Id] = now;
            foreach (var old in joined.Where(j => now - j.Value > Memory).ToList()) joined.Remove(old.Key);
            if (fresh.Count > 0) o.Join?.Invoke(fresh);
            if (ends != null) return;
            var state = o.State();
            var before = answer.ToString();
            if (!string.IsNullOrEmpty(state.Connection)) answer.Set("Connection", state.Connection);
            Merge(answer, "attributes", Json.Of(state.Attributes, v => Json.Of((double?)v)));
            Merge(answer, "properties", Json.Of(state.Properties, v => Json.Of(v)));
            answer.Set("players", Json.Of(state.Players, p => p.Write()));
            if (answer.ToString() == before) return;
            Send(Api.Requests.PutBackfill(id, Api.BackfillTicketUpdate.Read(answer)), (json, e) => Settle(e));
        }

        static void Merge(Json body, string name, Json of)
        {
            if (of == null) return;
            if (body[name].Kind != JsonKind.Object) body.Set(name, Json.Object());
            foreach (var m in of.Members) body[name].Set(m.Key, m.Value);
        }

        void Settle(Error e)
        {
            pause = e == null ? o.Every : Math.Min(2 * pause, MaxPause);
            soonest = c.Clock.Steady + o.Every / 10;
            due = c.Clock.Steady + pause;
            if (e != null) o.Failed?.Invoke(e);
        }

        void Send(AnyRequest request, Action<Json, Error> done)
        {
            busy = true;
            c.Send(request, new SendOptions(), (json, error) =>
            {
                busy = false;
                done(json, error);
            });
        }
    }

    /// <summary>What a game server knows of itself: its match or backfill ticket, and where seats are in.</summary>
    public sealed class SeatOptions
    {
        public string Match;
        public string Backfill;
        /// <summary>Where players reach it; null if it does not know.</summary>
        public string Connection;
        /// <summary>How much the clocks of the service and of this machine may differ, in milliseconds.</summary>
        public double Leeway = 30000;
    }

    /// <summary>Whose a pass is. Refused says why it is not good, and is null if it is.</summary>
    public sealed class Seat
    {
        public string Player;
        public string Ticket;
        public string Refused;
    }

    /// <summary>Checks seat passes: that the service signed one, that it is good now, and that it is for this game on this
    /// server. The keys are read when the first pass is checked, every five minutes, and when a pass has an unknown key. A
    /// pass is good until it expires, also a second time: note who is there.</summary>
    public sealed class Seats : IJob, IHttpListener, IDisposable
    {
        // How long keys are used before they are read again, and at all; the least time between two reads; how long one
        // takes; and what they and a pass have at most.
        const double KeysAge = 300000;
        const double KeysEnd = 86400000;
        const double KeysPause = 10000;
        const double KeysTime = 10000;
        const int MaxKeys = 128;
        const int MaxKeySet = 256 << 10;
        const int MaxPass = 16 << 10;

        readonly Connection c;
        readonly SeatOptions o;
        readonly Queue<KeyValuePair<string, Action<Result<Seat>>>> waiting =
            new Queue<KeyValuePair<string, Action<Result<Seat>>>>();
        readonly StringBuilder body = new StringBuilder();
        Dictionary<string, byte[]> keys = new Dictionary<string, byte[]>();
        double read;
        double tried = double.NegativeInfinity;
        string failure;
        int status;
        long id;
        bool running;
        bool reading;

        public Seats(Matchmaker matchmaker, SeatOptions o)
        {
            c = matchmaker.Connection;
            this.o = o;
        }

        /// <summary>Checks a pass. An error says nothing of it: the keys could not be read.</summary>
        public void Check(string pass, Action<Result<Seat>> done)
        {
            waiting.Enqueue(new KeyValuePair<string, Action<Result<Seat>>>(pass ?? "", done));
            if (running) return;
            running = true;
            c.Add(this);
        }

        public void Dispose()
        {
            if (reading) c.Options.Transport.Cancel(id);
            reading = false;
        }

        bool IJob.Step()
        {
            var now = c.Clock.Steady;
            if (reading && now > tried + KeysTime) Finish("nothing came for too long");
            while (waiting.Count > 0 && !reading)
            {
                var next = waiting.Peek();
                var key = KeyOf(next.Key);
                var old = now - read > KeysAge || keys.Count == 0 || key != null && !keys.ContainsKey(key);
                if (key != null && old && now - tried > KeysPause)
                {
                    Start(now);
                    break;
                }
                waiting.Dequeue();
                if (now - read > KeysEnd) keys.Clear();
                if (key != null && keys.Count == 0)
                {
                    var e = new Error(Code.Offline, "the keys of seat passes cannot be read: " + failure);
                    next.Value(new Result<Seat>(null, e));
                    continue;
                }
                var seat = new Seat();
                seat.Refused = key == null ? "it is no seat pass" : Refusal(next.Key, key, seat);
                next.Value(new Result<Seat>(seat.Refused == null ? seat : new Seat { Refused = seat.Refused }));
            }
            running = reading || waiting.Count > 0;
            return !running;
        }

        void Start(double now)
        {
            body.Clear();
            status = 0;
            reading = true;
            tried = now;
            var url = c.Options.Url.TrimEnd('/') + "/.well-known/seat-keys.json";
            id = c.Options.Transport.Start(new HttpCall { Method = "GET", Url = url }, this);
        }

        void Finish(string why)
        {
            Dispose();
            failure = why;
            if (why != null) return;
            var known = new Dictionary<string, byte[]>();
            foreach (var k in (Json.Parse(body.ToString()) ?? Json.Null)["keys"].Items.Take(MaxKeys))
            {
                var raw = Base64.Read(k["x"].String ?? "");
                var good = k["kty"].String == "OKP" && k["crv"].String == "Ed25519" && raw != null && raw.Length == 32;
                if (good && !string.IsNullOrEmpty(k["kid"].String)) known[k["kid"].String] = raw;
            }
            if (status != 200 || known.Count == 0)
            {
                failure = "status " + status + ", and no key";
                return;
            }
            keys = known;
            read = c.Clock.Steady;
        }

        void IHttpListener.OnHead(int code, Dictionary<string, string> headers) => status = code;

        void IHttpListener.OnData(byte[] bytes, int count)
        {
            body.Append(Encoding.UTF8.GetString(bytes, 0, count));
            if (body.Length > MaxKeySet) Finish("the answer is too large");
        }

        void IHttpListener.OnEnd(string why)
        {
            reading = false;
            Finish(why);
        }

        /// <summary>The id of the key that a pass is signed with; null if it is no pass.</summary>
        static string KeyOf(string pass)
        {
            var parts = pass.Split('.');
            var head = parts.Length == 3 && pass.Length <= MaxPass ? Base64.Read(parts[0]) : null;
            var header = head == null ? Json.Null : Json.Parse(Encoding.UTF8.GetString(head)) ?? Json.Null;
            var known = header["alg"].String == "EdDSA" && header["crit"].Kind == JsonKind.Null;
            return known && header["kid"].String != "" ? header["kid"].String : null;
        }

        /// <summary>Why a pass is not good; null if it is.</summary>
        string Refusal(string pass, string key, Seat seat)
        {
            var dot = pass.LastIndexOf('.');
            var signature = Base64.Read(pass.Substring(dot + 1));
            if (!keys.TryGetValue(key, out var of)) return "it is signed with an unknown key";
            var signed = Encoding.UTF8.GetBytes(pass.Substring(0, dot));
            if (signature == null || !Ed25519.Verify(of, signed, signature)) return "its signature is wrong";
            var claims = Tokens.Claims(pass);
            var now = c.Clock.Wall / 1000;
            var leeway = o.Leeway / 1000;
            seat.Player = claims["sub"].String;
            seat.Ticket = claims["ticket"].String;
            var audience = claims["aud"].Items.Count() == 1 ? claims["aud"].Items.First() : claims["aud"];
            var match = claims["match"].String;
            var backfill = claims["backfill"].String ?? "";
            if (claims["iss"].String != "matchmaker-seats") return "it has another issuer";
            if (audience.String != "seat") return "it is for another audience";
            if (!(now < claims["exp"].Number + leeway)) return "it has expired";
            if (claims["iat"].Number > now + leeway) return "it was issued in the future";
            if (string.IsNullOrEmpty(seat.Player) || string.IsNullOrEmpty(seat.Ticket)) return "it names no player, or no ticket";
            if (claims["project"].String != c.Options.Project) return "it is for another project";
            if (backfill != "" && backfill != o.Backfill) return "it is for another backfill ticket";
            if (backfill == "" && (string.IsNullOrEmpty(match) || match != o.Match)) return "it is for another match";
            var server = o.Connection;
            return !string.IsNullOrEmpty(server) && claims["connection"].String != server ? "it is for another server" : null;
        }
    }
}
