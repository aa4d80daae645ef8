using System.Collections.Generic;
using System.Text;
using UnityEngine.Networking;

namespace Matchmaking.Unity
{
    /// <summary>Requests by UnityWebRequest, on the main thread.</summary>
    public sealed class UnityTransport : ITransport
    {
        /// <summary>Whether an answer can be read before it is whole. Where it cannot, streams are refused, and the
        /// client goes on with held requests at once.</summary>
        readonly bool streams;
        readonly Dictionary<long, Call> calls = new Dictionary<long, Call>();
        readonly List<long> ids = new List<long>();
        long last;

        /// <summary>Unity's WebGL may keep an answer back until it is whole.</summary>
        public UnityTransport() : this(
#if UNITY_WEBGL && !UNITY_EDITOR
            false
#else
            true
#endif
        )
        {
        }

        public UnityTransport(bool streams)
        {
            this.streams = streams;
        }

        sealed class Call
        {
            internal IHttpListener Listener;
            internal UnityWebRequest Request; // null: refused here
            internal readonly Received Body = new Received();
            internal bool Head;
        }

        /// <summary>What came and was not told yet.</summary>
        sealed class Received : DownloadHandlerScript
        {
            internal readonly List<byte> Bytes = new List<byte>();

            internal Received() : base(new byte[16 << 10])
            {
            }

            protected override bool ReceiveData(byte[] data, int dataLength)
            {
                for (var i = 0; i < dataLength; i++) Bytes.Add(data[i]);
                return true;
            }
        }

        public long Start(HttpCall call, IHttpListener listener)
        {
            var of = new Call { Listener = listener };
            calls[++last] = of;
            if (!streams && call.Headers.Exists(h => h.Value.StartsWith("text/event-stream"))) return last;
            of.Request = new UnityWebRequest(call.Url, call.Method) { downloadHandler = of.Body, redirectLimit = 0 };
            if (!string.IsNullOrEmpty(call.Body))
            {
                of.Request.uploadHandler = new UploadHandlerRaw(Encoding.UTF8.GetBytes(call.Body));
            }
            foreach (var h in call.Headers) of.Request.SetRequestHeader(h.Key, h.Value);
            of.Request.SendWebRequest();
            return last;
        }

        public void Cancel(long id)
        {
            if (!calls.TryGetValue(id, out var call)) return;
            calls.Remove(id);
            if (call.Request == null) return;
            call.Request.Abort();
            call.Request.Dispose();
        }

        /// <summary>Tells listeners. It does not wait: what comes is received between two frames.</summary>
        public void Pump(int wait)
        {
            ids.Clear();
            ids.AddRange(calls.Keys); // listeners may start and cancel others
            foreach (var id in ids)
            {
                if (calls.TryGetValue(id, out var call)) Tell(id, call);
            }
        }

        void Tell(long id, Call call)
        {
            var request = call.Request;
            var over = request == null || request.isDone;
            var headers = call.Head ? null : request?.GetResponseHeaders(); // Unity copies them
            if (!call.Head && (request == null || request.responseCode > 0 && (over || headers != null)))
            {
                call.Head = true;
                var names = new Dictionary<string, string>();
                if (headers != null)
                {
                    foreach (var h in headers) names[h.Key.ToLowerInvariant()] = h.Value;
                }
                call.Listener.OnHead(request == null ? 406 : (int)request.responseCode, names);
            }
            if (call.Body.Bytes.Count > 0 && calls.ContainsKey(id))
            {
                var bytes = call.Body.Bytes.ToArray();
                call.Body.Bytes.Clear();
                call.Listener.OnData(bytes, bytes.Length);
            }
            if (!over || !calls.Remove(id)) return;
            // A redirect that is not followed is an error to Unity, and an answer to the client.
            var whole = request == null || request.result == UnityWebRequest.Result.Success
                || request.result == UnityWebRequest.Result.ProtocolError || request.responseCode / 100 == 3;
            var failure = whole ? null : string.IsNullOrEmpty(request.error) ? "the answer is not whole" : request.error;
            request?.Dispose();
            call.Listener.OnEnd(failure);
        }
    }
}
