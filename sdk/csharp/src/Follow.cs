using System;
using System.Globalization;

namespace Matchmaking
{
    /// <summary>Something that is followed until it ends.</summary>
    interface IFollowed
    {
        /// <summary>The request for its events, behind the last one that is known.</summary>
        AnyRequest Events(string last);
        /// <summary>Takes an event of the stream, and returns whether it was the last one.</summary>
        bool Take(string kind, Json data);
        /// <summary>Asks with a held request; done is told whether it has ended.</summary>
        void Poll(string prefer, Action<Error, bool> done);
        /// <summary>It cannot be followed.</summary>
        void Lost(Error error);
    }

    /// <summary>Tells of something until it ends, over connections that come and go.</summary>
    sealed class Follow : IJob, IDisposable
    {
        enum States { Opening, Reading, Sleeping, Polling }

        // A stream whose first byte does not come is kept back by a proxy. One that was silent for so long is broken: the
        // service sends something every 15 seconds. Clients come back after about Retry.
        const double First = 10000;
        const double Silence = 50000;
        const double Retry = 3000;
        const double MaxRetry = 120000;
        /// <summary>How often a stream that cannot be opened is tried, and how long an event may be.</summary>
        const int MaxTries = 5;
        const int MaxEvent = 1 << 20;
        // A held request is answered after 10 s at the latest. A service that does not hold requests is asked after Soon,
        // then twice as long each time up to Late.
        const string Hold = "wait=10";
        const double Soon = 500;
        const double Late = 5000;

        readonly Connection c;
        readonly IFollowed of;
        readonly Life life;
        States state;
        Exchange exchange;
        string last;
        string text = "";
        double retry;
        int failures;
        int silent;
        bool refused;
        bool polls;
        double until;
        int epoch;
        double interval = Soon;
        double asked;
        bool polled;
        bool ended;

        internal Follow(Connection c, IFollowed of, Life life)
        {
            this.c = c;
            this.of = of;
            this.life = life;
            Open();
        }

        public void Dispose() => exchange?.Dispose();

        public bool Step()
        {
            while (life.On)
            {
                switch (state)
                {
                    case States.Opening:
                        exchange.Step();
                        if (exchange.Streams)
                        {
                            state = States.Reading;
                            failures = 0;
                            refused = false;
                            text = "";
                        }
                        else if (!exchange.Over) return false;
                        else NotOpened();
                        break;
                    case States.Reading:
                        if (!Read() && life.On) return false;
                        break;
                    case States.Sleeping:
                        if (c.Clock.Steady < until && epoch == c.Epoch) return false;
                        if (polls) Poll();
                        else Open();
                        break;
                    case States.Polling:
                        if (!polled) return false;
                        if (ended) return true;
                        Rest();
                        break;
                }
            }
            Dispose();
            return true;
        }

        void Open()
        {
            exchange?.Dispose();
            retry = Retry * (0.5 + c.Random());
            exchange = new Exchange(c, of.Events(last), true, First, Silence);
            state = States.Opening;
        }

        void Sleep(double ms)
        {
            exchange?.Dispose();
            state = States.Sleeping;
            until = c.Clock.Steady + ms;
            epoch = c.Epoch;
        }

        void Lost(Error error)
        {
            of.Lost(error);
            life.On = false;
        }

        /// <summary>The stream says nothing that can be used: goes on with held requests.</summary>
        void NoStream()
        {
            polls = true;
            exchange.Dispose();
            Poll();
        }

        void NotOpened()
        {
            if (exchange.State == Exchange.States.Interrupted)
            {
                Open();
                return;
            }
            if (exchange.State == Exchange.States.Late)
            {
                NoStream();
                return;
            }
            var e = exchange.Failure();
            if (e.Status == 401 && !refused)
            {
                refused = true;
                Open(); // with another token
                return;
            }
            var passes = e.Code == Code.Offline || e.Code == Code.Busy && e.Status != 429;
            if (e.Code == Code.Token || e.Code == Code.Forbidden || passes && ++failures > MaxTries) Lost(e);
            else if (passes) Sleep(Math.Min(e.RetryAfter ?? c.Backoff(failures), MaxRetry));
            else NoStream(); // it is full, or an older service; or what is followed is gone
        }

        /// <summary>Reads events, and returns whether something else begins.</summary>
        bool Read()
        {
            exchange.Step();
            var cut = false;
            text += exchange.Body.ToString().Replace("\r", "");
            exchange.Body.Clear();
            for (int end; !cut && life.On && (end = text.IndexOf("\n\n", StringComparison.Ordinal)) >= 0;)
            {
                var lines = text.Substring(0, end);
                text = text.Substring(end + 2); // a callback may throw
                cut = Take(lines);
            }
            if (text.Length > MaxEvent) Lost(new Error(Code.Unexpected, "an event of the stream is too large"));
            if (!life.On || !cut && !exchange.Over) return false;
            var late = exchange.State == Exchange.States.Late;
            silent = late && exchange.Heard ? silent + 1 : 0;
            if (silent > 1 || late && !exchange.Heard) NoStream();
            else if (exchange.State == Exchange.States.Interrupted) Open();
            else Sleep(retry);
            return true;
        }

        /// <summary>Takes an event, and returns whether the stream is over, though more events will come.</summary>
        bool Take(string lines)
        {
            var kind = "";
            var data = "";
            foreach (var line in lines.Split('\n'))
            {
                var colon = line.IndexOf(':');
                if (colon < 0) continue;
                var value = line.Substring(colon + 1);
                if (value.StartsWith(" ")) value = value.Substring(1);
                switch (line.Substring(0, colon))
                {
                    case "event":
                        kind = value;
                        break;
                    case "data":
                        data += (data == "" ? "" : "\n") + value;
                        break;
                    case "id":
                        if (AnyRequest.Printable(value)) last = value;
                        break;
                    case "retry":
                        const NumberStyles digits = NumberStyles.None;
                        if (!int.TryParse(value, digits, CultureInfo.InvariantCulture, out var ms)) break;
                        if (ms > 0) retry = Math.Min(ms, MaxRetry);
                        break;
                }
            }
            var told = Json.Parse(data);
            if (told == null || told.Kind != JsonKind.Object) return false;
            if (kind == "reconnect")
            {
                if (told["reason"].String == "token") c.Tokens.Expire();
                return true;
            }
            if (of.Take(kind, told)) life.On = false;
            return false;
        }

        void Poll()
        {
            state = States.Polling;
            polled = false;
            asked = c.Clock.Steady;
            of.Poll(Hold, (error, over) =>
            {
                polled = true;
                ended = over || error != null;
                if (error != null) of.Lost(error);
            });
        }

        /// <summary>Between two polls.</summary>
        void Rest()
        {
            var held = c.Clock.Steady - asked;
            if (held >= interval)
            {
                interval = Soon;
                Poll();
                return;
            }
            Sleep((interval - held) * (0.8 + 0.4 * c.Random())); // clients that began together do not stay so
            interval = Math.Min(2 * interval, Late);
        }
    }
}
