using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Matchmaking
{
    /// <summary>Requests by HttpClient. Its threads put what comes into a queue, which Pump empties.</summary>
    public sealed class HttpTransport : ITransport, IDisposable
    {
        /// <summary>How many parts of an answer wait for Pump; then reading waits, too.</summary>
        const int MaxParts = 16;

        readonly HttpClient client;
        readonly Dictionary<long, Call> calls = new Dictionary<long, Call>();
        readonly Queue<Action> queue = new Queue<Action>();
        long last;

        sealed class Call
        {
            internal IHttpListener Listener;
            internal readonly CancellationTokenSource Cancel = new CancellationTokenSource();
            internal readonly SemaphoreSlim Parts = new SemaphoreSlim(MaxParts);
        }

        public HttpTransport()
        {
            var handler = new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false };
            client = new HttpClient(handler) { Timeout = Timeout.InfiniteTimeSpan };
        }

        public long Start(HttpCall call, IHttpListener listener)
        {
            var of = new Call { Listener = listener };
            calls[++last] = of;
            var id = last;
            // Streams stay open, beside other requests to the same host.
            var service = ServicePointManager.FindServicePoint(new Uri(call.Url));
            service.ConnectionLimit = Math.Max(service.ConnectionLimit, 16);
            Task.Run(() => Send(call, of, id));
            return id;
        }

        public void Cancel(long id)
        {
            if (!calls.TryGetValue(id, out var call)) return;
            calls.Remove(id);
            // The client's threads go on with it, which must not hold up this one.
            Task.Run(() => call.Cancel.Cancel());
        }

        public void Pump(int wait)
        {
            lock (queue)
            {
                if (queue.Count == 0 && wait > 0) Monitor.Wait(queue, wait);
            }
            for (;;)
            {
                Action next;
                lock (queue)
                {
                    if (queue.Count == 0) return;
                    next = queue.Dequeue();
                }
                next();
            }
        }

        public void Dispose()
        {
            foreach (var id in new List<long>(calls.Keys)) Cancel(id);
            client.Dispose();
        }

        async Task Send(HttpCall call, Call of, long id)
        {
            string failure = null;
            try
            {
                using (var request = new HttpRequestMessage(new HttpMethod(call.Method), call.Url))
                {
                    if (!string.IsNullOrEmpty(call.Body))
                    {
                        request.Content = new StringContent(call.Body, new UTF8Encoding(false), "application/json");
                    }
                    request.Headers.ExpectContinue = false;
                    foreach (var h in call.Headers)
                    {
                        if (h.Key != "Content-Type") request.Headers.TryAddWithoutValidation(h.Key, h.Value);
                    }
                    const HttpCompletionOption head = HttpCompletionOption.ResponseHeadersRead;
                    using (var response = await client.SendAsync(request, head, of.Cancel.Token).ConfigureAwait(false))
                    using (of.Cancel.Token.Register(response.Dispose))
                    {
                        await Read(response, of, id).ConfigureAwait(false);
                    }
                }
            }
            catch (Exception e)
            {
                failure = (e.InnerException ?? e).Message;
            }
            Tell(id, l =>
            {
                calls.Remove(id);
                l.OnEnd(failure);
            });
        }

        async Task Read(HttpResponseMessage response, Call of, long id)
        {
            var headers = new Dictionary<string, string>();
            foreach (var h in response.Headers) headers[h.Key.ToLowerInvariant()] = string.Join(", ", h.Value);
            foreach (var h in response.Content.Headers) headers[h.Key.ToLowerInvariant()] = string.Join(", ", h.Value);
            Tell(id, l => l.OnHead((int)response.StatusCode, headers));
            using (var stream = await response.Content.ReadAsStreamAsync().ConfigureAwait(false))
            {
                for (;;)
                {
                    await of.Parts.WaitAsync(of.Cancel.Token).ConfigureAwait(false);
                    var bytes = new byte[16 << 10];
                    var n = await stream.ReadAsync(bytes, 0, bytes.Length, of.Cancel.Token).ConfigureAwait(false);
                    if (n == 0) return;
                    Tell(id, l =>
                    {
                        of.Parts.Release();
                        l.OnData(bytes, n);
                    });
                }
            }
        }

        /// <summary>Has a listener told, if the request is not cancelled by then.</summary>
        void Tell(long id, Action<IHttpListener> what)
        {
            lock (queue)
            {
                queue.Enqueue(() =>
                {
                    if (calls.TryGetValue(id, out var call)) what(call.Listener);
                });
                Monitor.Pulse(queue);
            }
        }
    }
}
