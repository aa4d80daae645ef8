using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Matchmaking
{
    /// <summary>Why a token is asked for. Refused: the service did not take the last one, so do not give it again.</summary>
    public enum Why { First, Expiring, Refused }

    /// <summary>Gives the player's token: it calls reply, now or later, with the token, or with null and the reason. It
    /// may do so on any thread.</summary>
    public delegate void TokenSource(Why why, Action<string, string> reply);

    /// <summary>Time, in milliseconds. A game's tests may bring others.</summary>
    public interface IClock
    {
        /// <summary>Since 1970.</summary>
        double Wall { get; }
        /// <summary>Since any time; it never goes back.</summary>
        double Steady { get; }
    }

    sealed class SystemClock : IClock
    {
        static readonly DateTime Begin = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        readonly Stopwatch watch = Stopwatch.StartNew();

        public double Wall => (DateTime.UtcNow - Begin).TotalMilliseconds;
        public double Steady => watch.Elapsed.TotalMilliseconds;
    }

    /// <summary>Something that is under way.</summary>
    interface IJob
    {
        /// <summary>Does what can be done now, and returns whether all is done.</summary>
        bool Step();
    }

    /// <summary>Whether what is under way is wanted still.</summary>
    sealed class Life
    {
        internal bool On = true;
    }

    /// <summary>Keeps a token, and replaces it before it ends, when two thirds of its life have passed since it
    /// came.</summary>
    sealed class Tokens
    {
        internal enum States { Pending, Good, Failed }

        sealed class Asking
        {
            internal bool Answered;
            internal string Token;
            internal string Error;
        }

        const double Patience = 30000;

        readonly TokenSource source;
        readonly IClock clock;
        double due;
        double ends;
        bool refused;
        Asking asking;
        Why why;
        double until;

        internal string Token = "";
        /// <summary>Why the last try failed.</summary>
        internal Error Error;

        internal Tokens(TokenSource source, IClock clock)
        {
            this.source = source;
            this.clock = clock;
        }

        /// <summary>Begins to get a token if there is none that is good as far as is known.</summary>
        internal void Want()
        {
            if (asking != null) Settle();
            if (asking != null) return;
            Error = null;
            if (Token != "" && !refused && clock.Wall < due) return;
            why = Token == "" ? Why.First : refused ? Why.Refused : Why.Expiring;
            var of = asking = new Asking();
            until = clock.Steady + Patience;
            Action<string, string> reply = (token, error) =>
            {
                lock (of)
                {
                    if (of.Answered) return;
                    of.Answered = true;
                    of.Token = token;
                    of.Error = error;
                }
            };
            try
            {
                source(why, reply);
            }
            catch (Exception e)
            {
                reply(null, e.Message);
            }
        }

        internal States State
        {
            get
            {
                if (asking != null) Settle();
                return asking != null ? States.Pending : Error != null ? States.Failed : States.Good;
            }
        }

        /// <summary>The service refused a token.</summary>
        internal void Refuse(string token) => refused = refused || token == Token;

        /// <summary>The service says that the token has ended, or soon does.</summary>
        internal void Expire() => due = 0;

        void Settle()
        {
            var of = asking;
            string reason;
            lock (of)
            {
                if (!of.Answered && clock.Steady <= until) return;
                reason = of.Answered ? of.Error : "its source takes too long";
                of.Answered = true;
            }
            asking = null;
            var token = (of.Token ?? "").Trim();
            if (!AnyRequest.Printable(token))
            {
                token = "";
                reason = "no header can have it";
            }
            if (token != "")
            {
                Keep(token);
                return;
            }
            var now = clock.Wall;
            if (why == Why.Expiring && now < ends) due = now + (ends - now) / 3; // good still; not again at each request
            else Error = new Error(Code.Token, "no token: " + (string.IsNullOrEmpty(reason) ? "it is empty" : reason));
        }

        void Keep(string token)
        {
            var claims = Claims(token);
            var now = clock.Wall;
            Token = token;
            refused = false;
            due = ends = double.PositiveInfinity;
            if (claims["exp"].Kind != JsonKind.Number) return;
            // Its own times say how long it lives: clocks of different hosts are not compared.
            var life = (claims["exp"].Number - (claims["iat"].MaybeNumber ?? now / 1000)) * 1000;
            if (!(life > 0)) return;
            due = now + life * 2 / 3;
            ends = now + life;
        }

        /// <summary>The claims of a JSON Web Token, without verifying it: that is the service's affair.</summary>
        internal static Json Claims(string token)
        {
            var parts = token.Split('.');
            var bytes = parts.Length > 1 ? Base64.Read(parts[1]) : null;
            return bytes == null ? Json.Null : Json.Parse(Encoding.UTF8.GetString(bytes)) ?? Json.Null;
        }
    }

    static class Base64
    {
        /// <summary>The bytes of Base64, or of Base64 for addresses; null if it is none.</summary>
        internal static byte[] Read(string text)
        {
            text = text.Replace('-', '+').Replace('_', '/').TrimEnd('=');
            try
            {
                return Convert.FromBase64String(text + new string('=', (4 - text.Length % 4) % 4));
            }
            catch (FormatException)
            {
                return null;
            }
        }
    }

    struct SendOptions
    {
        internal Life Life;
        /// <summary>304 is success.</summary>
        internal bool Unchanged;
        /// <summary>Only an object is success.</summary>
        internal bool Object;
        /// <summary>After it, the request is not sent again, but the try under way is answered.</summary>
        internal Life Tries;
    }

    /// <summary>Sends requests, again where that is safe.</summary>
    sealed class Connection
    {
        /// <summary>For how long nothing may come of an answer, how long all of it may take, and how big it may
        /// be.</summary>
        internal const double Stall = 60000;
        internal const double Whole = 300000;
        internal const int MaxAnswer = 8 << 20;

        /// <summary>The longest address that is asked: Uri takes no longer ones than 65,519, and no service does.</summary>
        internal const int MaxUrl = 16 << 10;
        /// <summary>When so much more time passed than the steady clock shows, the device slept.</summary>
        const double Slept = 60000;

        readonly List<IJob> jobs = new List<IJob>();
        readonly Random random = new Random();
        /// <summary>By how much the wall clock is ahead of the steady one.</summary>
        double ahead;
        bool pumping;

        internal readonly Options Options;
        internal readonly IClock Clock;
        internal readonly Tokens Tokens;
        internal readonly string Base;
        internal readonly Life Always = new Life();
        internal string Player;
        internal bool Suspended;
        /// <summary>Changes when the app goes to the background, comes back, or the device slept.</summary>
        internal int Epoch;

        internal Connection(Options o)
        {
            var url = new Uri(o.Url);
            var http = url.Scheme == "http" || url.Scheme == "https";
            if (!http || url.UserInfo != "" || url.Query != "" || url.Fragment != "")
            {
                throw new ArgumentException("Url must be like https://matchmaker.example");
            }
            if (string.IsNullOrEmpty(AnyRequest.Segment(o.Project))) throw new ArgumentException("Project is missing");
            if (o.Token == null || o.Transport == null) throw new ArgumentException("Token and Transport are required");
            Options = o;
            Clock = o.Clock ?? new SystemClock();
            Tokens = new Tokens(o.Token, Clock);
            Player = o.Player ?? "";
            Base = o.Url.TrimEnd('/') + "/" + AnyRequest.Segment(o.Project) + "/matchmaking/api/";
            ahead = Clock.Wall - Clock.Steady;
        }

        /// <summary>From 0 to below 1.</summary>
        internal double Random() => Options.Random != null ? Options.Random() : random.NextDouble();

        /// <summary>Before repetition number n.</summary>
        internal double Backoff(int n) => (Math.Pow(2, n) + n * (2 * Random() - 1)) * 1000;

        internal void Add(IJob job) => jobs.Add(job);

        /// <summary>Whatever is awaited is asked for anew, at once.</summary>
        internal void Wake() => Epoch++;

        internal void Pump(int wait)
        {
            if (pumping) return; // a callback called it
            pumping = true;
            try
            {
                Options.Transport.Pump(wait);
                var now = Clock.Wall - Clock.Steady;
                if (now - ahead > Slept) Wake();
                ahead = now;
                for (var i = 0; i < jobs.Count;)
                {
                    var job = jobs[i];
                    if (job.Step()) jobs.Remove(job); // it may add others, and end all
                    else i++;
                }
            }
            finally
            {
                pumping = false; // a callback may have thrown
            }
        }

        internal void Close()
        {
            Always.On = false;
            foreach (var job in jobs) (job as IDisposable)?.Dispose();
            jobs.Clear();
        }

        /// <summary>Sends a request until it is answered. Nothing comes when it is not wanted any more.</summary>
        internal void Send(AnyRequest request, SendOptions o, Action<Json, Error> done)
        {
            if (o.Life == null) o.Life = Always;
            jobs.Add(new Sending(this, request, o, done));
        }

        /// <summary>Sends it until it is answered with an object.</summary>
        internal void Ask<T>(Request<T> request, SendOptions o, Action<T, Error> done)
        {
            o.Object = true;
            Send(request, o, (json, error) => done(error == null ? request.Read(json) : default(T), error));
        }

        /// <summary>Learns who the player is, from the token.</summary>
        internal void WhoIs(Action<Error> done)
        {
            Tokens.Want();
            var told = false;
            jobs.Add(new Until(() =>
            {
                var state = Tokens.State;
                if (state == Tokens.States.Pending || told) return told;
                told = true;
                if (state == Tokens.States.Good && Player == "") Player = Tokens.Claims(Tokens.Token)["sub"].String ?? "";
                done(state == Tokens.States.Good ? null : Tokens.Error);
                return true;
            }));
        }

        sealed class Until : IJob
        {
            readonly Func<bool> step;

            internal Until(Func<bool> step)
            {
                this.step = step;
            }

            public bool Step() => step();
        }

        /// <summary>What is kept of a search: its ticket, or before that the Idempotency-Key of its create.</summary>
        internal void Save(string ticket, string key = null)
        {
            var kept = Json.Object().Set("ticket", ticket).Set("key", key);
            Options.Storage?.Save(ticket == null && key == null ? null : kept.ToString());
        }

        /// <summary>Saves what follows from what was kept, unless another search has saved something since.</summary>
        internal void Replace(string ticket, string key, string by)
        {
            var now = Load();
            if (now["ticket"].String == ticket && now["key"].String == key) Save(by);
        }

        internal Json Load() => Json.Parse(Options.Storage?.Load()) ?? Json.Null;
    }

    /// <summary>One try of a request.</summary>
    sealed class Exchange : IHttpListener, IDisposable
    {
        internal enum States
        {
            Waiting, Token, Flying,
            // It is over:
            Answered, Offline,
            /// <summary>Nothing came for too long.</summary>
            Late,
            /// <summary>It was ended, since the app went to the background or the device slept.</summary>
            Interrupted,
            NoToken, TooLarge,
        }

        readonly Connection c;
        readonly AnyRequest request;
        readonly bool stream;
        readonly double first;
        readonly double next;
        readonly Decoder decoder = Encoding.UTF8.GetDecoder();
        Dictionary<string, string> headers = new Dictionary<string, string>();
        double limit;
        /// <summary>When all of the answer is due.</summary>
        double end;
        int epoch;
        long id;
        bool flying;
        int size;
        string token;
        string why;
        Error noToken;

        internal States State = States.Waiting;
        internal int Status;
        /// <summary>What came and was not taken.</summary>
        internal readonly StringBuilder Body = new StringBuilder();
        /// <summary>Something of the body came.</summary>
        internal bool Heard;

        /// <summary>The first bytes of the body must come in first; each other ones in next.</summary>
        internal Exchange(Connection c, AnyRequest request, bool stream, double first, double next)
        {
            this.c = c;
            this.request = request;
            this.stream = stream;
            this.first = first;
            this.next = next;
        }

        internal bool Over => State >= States.Answered;

        /// <summary>It is an open stream of events.</summary>
        internal bool Streams => stream && Status == 200 && Header("content-type").StartsWith("text/event-stream");

        /// <summary>It gets a game server's next token with the last one: the token's source may ask for it.</summary>
        internal bool Renews => request.Path == "v1/servers/token" && c.Tokens.Token != "";

        public void Dispose() => End(State);

        internal void Step()
        {
            if (Over) return;
            if (State == States.Waiting)
            {
                if (c.Suspended) return;
                epoch = c.Epoch;
                limit = c.Clock.Steady + first;
                end = stream ? double.PositiveInfinity : c.Clock.Steady + Connection.Whole;
                if (!Renews) c.Tokens.Want();
                State = States.Token;
            }
            if (request.Repeatable && epoch != c.Epoch) End(States.Interrupted);
            else if (c.Clock.Steady > limit) End(States.Late);
            else if (State == States.Token && Renews) Begin();
            else if (State == States.Token && c.Tokens.State == Tokens.States.Failed)
            {
                noToken = c.Tokens.Error;
                End(States.NoToken);
            }
            else if (State == States.Token && c.Tokens.State == Tokens.States.Good) Begin();
        }

        void Begin()
        {
            var call = new HttpCall { Method = request.Method, Url = c.Base + request.Path, Body = request.Body };
            var separator = "?";
            foreach (var q in request.Query)
            {
                call.Url += separator + q.Key + "=" + AnyRequest.Escaped(q.Value);
                separator = "&";
            }
            token = c.Tokens.Token;
            var kinds = stream ? "text/event-stream" : "application/json";
            AnyRequest.Put(call.Headers, "Accept", kinds + ", application/problem+json");
            AnyRequest.Put(call.Headers, "Authorization", "Bearer " + token);
            var namesPlayer = request.Headers.Exists(h => h.Key == AnyRequest.ActsFor);
            if (!namesPlayer && !string.IsNullOrEmpty(c.Options.Player))
            {
                AnyRequest.Put(call.Headers, AnyRequest.ActsFor, c.Options.Player);
            }
            call.Headers.AddRange(request.Headers);
            if (request.Body != null) AnyRequest.Put(call.Headers, "Content-Type", "application/json");
            if (call.Url.Length > Connection.MaxUrl)
            {
                OnHead(414, headers);
                OnEnd(null);
                return;
            }
            State = States.Flying;
            flying = true;
            id = c.Options.Transport.Start(call, this);
        }

        void End(States how)
        {
            State = how;
            if (flying) c.Options.Transport.Cancel(id);
            flying = false;
        }

        public void OnHead(int status, Dictionary<string, string> answer)
        {
            Status = status;
            headers = answer;
            if (!Streams) end = Math.Min(end, c.Clock.Steady + Connection.Whole); // an error's answer may not go on for ever
            if (status == 401) c.Tokens.Refuse(token);
        }

        public void OnData(byte[] bytes, int count)
        {
            Heard = true;
            limit = Math.Min(c.Clock.Steady + next, end);
            var chars = new char[decoder.GetCharCount(bytes, 0, count)];
            decoder.GetChars(bytes, 0, count, chars, 0);
            Body.Append(chars);
            size += count;
            if (size > Connection.MaxAnswer && !Streams || Body.Length > Connection.MaxAnswer) End(States.TooLarge);
        }

        public void OnEnd(string failure)
        {
            flying = false;
            why = failure;
            State = failure == null && Status != 0 ? States.Answered : States.Offline;
        }

        string Header(string name) => headers.TryGetValue(name, out var value) ? value : "";

        internal bool IsJson
        {
            get
            {
                var kind = Header("content-type").Split(';')[0];
                return kind == "application/json" || kind.StartsWith("application/") && kind.EndsWith("+json");
            }
        }

        /// <summary>What went wrong; null if the answer is a success.</summary>
        internal Error Failure()
        {
            var what = request.Method + " /" + request.Path + ": "; // no query, which may name players
            switch (State)
            {
                case States.NoToken: return noToken;
                case States.TooLarge: return new Error(Code.Unexpected, what + "the answer is too large");
                case States.Late: return new Error(Code.Offline, what + "nothing came for too long");
                case States.Offline: return new Error(Code.Offline, what + why);
            }
            if (Status >= 200 && Status <= 299 && !stream) return null;
            // A proxy may have written it, so no body is too odd.
            var problem = IsJson ? Json.Parse(Body.ToString()) ?? Json.Null : Json.Null;
            var detail = problem["detail"].String ?? "";
            return new Error(CodeOf(Status), what + Status + (detail == "" ? "" : ": " + detail))
            {
                Status = Status,
                Detail = detail,
                Problem = problem["code"].String ?? "",
                CorrelationId = Header("x-correlation-id"),
                RetryAfter = RetryAfter(Header("retry-after"), Header("date"), c.Clock.Wall),
            };
        }

        static Code CodeOf(int status)
        {
            switch (status)
            {
                case 401: return Code.Token;
                case 403: return Code.Forbidden;
                case 404: return Code.NotFound;
                case 409:
                case 412: return Code.Conflict;
                case 429:
                case 502:
                case 503:
                case 504: return Code.Busy;
                default: return status >= 400 && status < 500 ? Code.Invalid : Code.Unexpected;
            }
        }

        /// <summary>Retry-After in milliseconds: seconds, or a date that counts from the answer's own.</summary>
        static double? RetryAfter(string value, string answered, double now)
        {
            double ms;
            var digits = NumberStyles.None;
            if (int.TryParse(value, digits, CultureInfo.InvariantCulture, out var seconds)) ms = seconds * 1000.0;
            else ms = (Date(value) ?? double.NaN) - (Date(answered) ?? now);
            return ms > 0 ? ms : (double?)null;
        }

        static double? Date(string text)
        {
            const DateTimeStyles utc = DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal;
            if (!DateTime.TryParseExact(text, "r", CultureInfo.InvariantCulture, utc, out var at)) return null;
            return (at - new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc)).TotalMilliseconds;
        }
    }

    /// <summary>Sends a request until it is answered.</summary>
    sealed class Sending : IJob, IDisposable
    {
        /// <summary>How often a request is sent again, and which Retry-After is waited for at most.</summary>
        const int MaxTries = 5;
        const double MaxWait = 60000;

        readonly Connection c;
        readonly AnyRequest request;
        readonly SendOptions o;
        Action<Json, Error> done;
        Exchange exchange;
        Error error;
        int tries;
        bool lost;
        bool refused;
        bool waits;
        double until;
        int epoch;

        internal Sending(Connection c, AnyRequest request, SendOptions o, Action<Json, Error> done)
        {
            this.c = c;
            this.request = request;
            this.o = o;
            this.done = done;
            if (request.Path.Contains("//") || request.Path.EndsWith("/"))
            {
                error = new Error(Code.Invalid, "an id in the path of the request is empty");
            }
            else Begin();
        }

        public void Dispose() => exchange?.Dispose();

        void Begin()
        {
            exchange?.Dispose();
            exchange = new Exchange(c, request, false, Connection.Stall, Connection.Stall);
        }

        bool Enough => o.Tries != null && !o.Tries.On;

        public bool Step()
        {
            if (done == null) return true; // it threw
            if (exchange == null) return End(null, error);
            while (o.Life.On)
            {
                if (waits)
                {
                    if (!Enough && c.Clock.Steady < until && epoch == c.Epoch) return false;
                    waits = false;
                    if (Enough) return End(null, error);
                    Begin();
                }
                exchange.Step();
                if (!exchange.Over) return false;
                if (exchange.State == Exchange.States.Interrupted)
                {
                    lost = true;
                    Begin();
                    continue;
                }
                if (o.Unchanged && exchange.Status == 304) return End(Json.Null, null);
                error = exchange.Failure();
                if (error == null) return Answer();
                if (error.Missing && lost && request.Method == "DELETE") return End(Json.Null, null); // deleted before
                lost = lost || error.Code == Code.Offline || error.Status >= 500;
                error.Unanswered = lost;
                if (error.Status == 401 && !refused && !exchange.Renews)
                {
                    refused = true;
                    Begin(); // with another token
                    continue;
                }
                var wait = error.RetryAfter ?? c.Backoff(tries + 1);
                var passes = error.Code == Code.Busy || error.Code == Code.Offline;
                var again = error.Status == 429 || request.Repeatable && passes;
                if (!again || ++tries > MaxTries || wait > MaxWait) return End(null, error);
                waits = true;
                until = c.Clock.Steady + wait;
                epoch = c.Epoch;
            }
            Dispose();
            return true;
        }

        bool Answer()
        {
            var text = exchange.Body.ToString();
            var body = exchange.IsJson ? Json.Parse(text) : null;
            if (text == "" && !o.Object) return End(Json.Null, null);
            if (body != null && body.Kind == JsonKind.Object) return End(body, null);
            var what = request.Method + " /" + request.Path + ": the answer is not the service's";
            return End(null, new Error(Code.Unexpected, what) { Unanswered = lost });
        }

        bool End(Json body, Error e)
        {
            Dispose();
            var tell = done;
            done = null;
            tell(body, e);
            return true;
        }
    }
}
