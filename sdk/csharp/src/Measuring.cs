using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Matchmaking
{
    public sealed class MeasureOptions
    {
        /// <summary>A text that changes with the network that the device is on, if the game knows it.</summary>
        public string Network = "";
        /// <summary>Measure, though the latencies of the network are known: the service refused a receipt, or the device
        /// roams.</summary>
        public bool Anew;
        /// <summary>How often each region is asked, up to 20.</summary>
        public int Probes = 5;
        /// <summary>How long an answer may take, in milliseconds, up to 2,000.</summary>
        public int Timeout = 1000;
        /// <summary>Measure by HTTP alone, as WebGL does. Otherwise that is for regions that do not answer by
        /// UDP.</summary>
        public bool Http;
    }

    /// <summary>The latencies of a network, or their measuring, which calls share.</summary>
    sealed class Measurement : IJob, IDisposable
    {
        /// <summary>How many regions are measured at the same time, and how many a service has.</summary>
        const int Parallel = 4;
        const int MaxRegions = 64;

        /// <summary>WebGL has neither sockets nor threads.</summary>
#if UNITY_WEBGL && !UNITY_EDITOR
        static readonly bool Udp = false;
#else
        static readonly bool Udp = true;
#endif

        sealed class Region
        {
            internal Api.Region Of;
            internal Latency Latency;
            internal bool Begun;
            internal bool Over;
            internal Task<Latency> Task;
            internal HttpProbes Http;
        }

        readonly Connection c;
        readonly MeasureOptions o;
        readonly int probes;
        readonly int timeout;
        readonly CancellationTokenSource ends = new CancellationTokenSource();
        List<Region> regions;
        double half;
        double until;

        internal readonly string Network;
        internal readonly List<Action<Result<List<Latency>>>> Waiting = new List<Action<Result<List<Latency>>>>();
        internal bool Running = true;
        internal Result<List<Latency>> Result;

        internal Measurement(Connection c, MeasureOptions o)
        {
            this.c = c;
            this.o = o;
            Network = o.Network ?? "";
            probes = Math.Max(1, Math.Min(o.Probes, 20));
            timeout = Math.Max(1, Math.Min(o.Timeout, 2000));
            c.Ask(Api.Requests.ListRegions(), new SendOptions(), (list, error) =>
            {
                if (error != null) Result = new Result<List<Latency>>(null, error);
                half = (list?.ReceiptSeconds ?? 0) * 1000.0 / 2;
                regions = (list?.All ?? new List<Api.Region>()).Where(r => r != null).Take(MaxRegions)
                    .Select(r => new Region { Of = r, Latency = new Latency { Region = r.Name } }).ToList();
            });
        }

        internal bool Known => Running || Result.Error == null && c.Clock.Steady < until;

        public bool Step()
        {
            if (Running && !Measured()) return false;
            Running = false;
            var told = Waiting.ToList();
            Waiting.Clear();
            foreach (var done in told) done?.Invoke(Result);
            return true;
        }

        public void Dispose()
        {
            ends.Cancel();
            regions?.ForEach(r => r.Http?.Dispose());
        }

        /// <summary>Goes on with the first regions that are not over.</summary>
        bool Measured()
        {
            if (regions == null || c.Suspended) return false;
            var busy = 0;
            foreach (var r in regions)
            {
                r.Over = r.Over || Advance(r);
                if (!r.Over && ++busy == Parallel) break;
            }
            if (busy > 0) return false;
            if (Result == null) Result = new Result<List<Latency>>(regions.Select(r => r.Latency).ToList());
            until = c.Clock.Steady + half;
            return true;
        }

        bool Advance(Region r)
        {
            if (!r.Begun && Udp && !o.Http && r.Of.Udp != null)
            {
                // It waits, so it has a thread of its own: the pool's may be as few as the processors.
                r.Task = Task.Factory.StartNew(() => Latency.Of(r.Of, probes, timeout, ends.Token), CancellationToken.None,
                    TaskCreationOptions.LongRunning, TaskScheduler.Default);
            }
            r.Begun = true;
            if (r.Task != null)
            {
                if (!r.Task.IsCompleted) return false;
                if (r.Task.Status == TaskStatus.RanToCompletion) r.Latency = r.Task.Result;
                r.Task = null;
            }
            var web = Uri.TryCreate(r.Of.Url, UriKind.Absolute, out var url)
                && (url.Scheme == Uri.UriSchemeHttp || url.Scheme == Uri.UriSchemeHttps);
            if (r.Http == null && !r.Latency.Rtt.HasValue && web)
            {
                r.Http = new HttpProbes(c, r.Of.Url, probes, timeout, r.Latency);
            }
            return r.Http == null || r.Http.Step();
        }
    }

    /// <summary>Asks a beacon by HTTP, twice on one connection for a round trip. It gets no token.</summary>
    sealed class HttpProbes : IHttpListener, IDisposable
    {
        const int MaxAnswer = 4 << 10;

        readonly Connection c;
        readonly string url;
        readonly int timeout;
        readonly Latency to;
        readonly List<Latency.Trip> trips = new List<Latency.Trip>();
        readonly List<byte> body = new List<byte>();
        int left;
        /// <summary>How many questions of the probe are asked.</summary>
        int asked;
        double limit;
        long id;
        bool flying;
        int status;

        internal HttpProbes(Connection c, string url, int probes, int timeout, Latency to)
        {
            this.c = c;
            this.url = url.TrimEnd('/') + "/probe";
            this.timeout = timeout;
            this.to = to;
            left = probes;
        }

        internal bool Step()
        {
            for (;;)
            {
                if (flying && c.Clock.Steady <= limit) return false;
                if (asked > 0) Take();
                if (flying) continue;
                if (left == 0)
                {
                    to.Add(trips, 0);
                    return true;
                }
                left--;
                to.Sent++;
                limit = c.Clock.Steady + 3 * timeout; // the connection is made before the beacon takes the time
                Get("");
            }
        }

        /// <summary>Takes an answer, or that there is none, and asks the second question.</summary>
        void Take()
        {
            var second = asked == 2;
            var answer = !flying && status == 200 ? Json.Parse(Encoding.UTF8.GetString(body.ToArray())) ?? Json.Null : Json.Null;
            Dispose();
            var echo = answer["echo"].String;
            if (!second && !string.IsNullOrEmpty(echo))
            {
                Get("?echo=" + AnyRequest.Escaped(echo));
                return;
            }
            asked = 0;
            var receipt = answer["receipt"].String;
            var rtt = answer["rtt"].MaybeNumber;
            if (second && !string.IsNullOrEmpty(receipt) && rtt.HasValue)
            {
                trips.Add(new Latency.Trip { Rtt = rtt.Value, Receipt = receipt });
            }
            else to.Lost++;
        }

        void Get(string query)
        {
            asked++;
            body.Clear();
            status = 0;
            flying = true;
            id = c.Options.Transport.Start(new HttpCall { Method = "GET", Url = url + query }, this);
        }

        public void Dispose()
        {
            if (flying) c.Options.Transport.Cancel(id);
            flying = false;
        }

        public void OnHead(int code, Dictionary<string, string> headers) => status = code;

        public void OnData(byte[] bytes, int count)
        {
            body.AddRange(bytes.Take(count));
            if (body.Count <= MaxAnswer) return;
            Dispose();
            status = 0;
        }

        public void OnEnd(string failure)
        {
            flying = false;
            if (failure != null) status = 0;
        }
    }
}
