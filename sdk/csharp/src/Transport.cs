using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Matchmaking
{
    /// <summary>What is asked of the service.</summary>
    public class AnyRequest
    {
        public readonly string Method;
        /// <summary>Below {url}/{project}/matchmaking/api/.</summary>
        public readonly string Path;
        /// <summary>To send it twice has the same effect as to send it once.</summary>
        public readonly bool Repeatable;
        public readonly List<KeyValuePair<string, string>> Query = new List<KeyValuePair<string, string>>();
        public readonly List<KeyValuePair<string, string>> Headers = new List<KeyValuePair<string, string>>();
        public string Body;

        public AnyRequest(string method, string path, bool repeatable)
        {
            Method = method;
            Path = path;
            Repeatable = repeatable;
        }

        /// <summary>A value as one element of a path. One that would name another resource makes the request
        /// invalid.</summary>
        public static string Segment(string value) => value == null || value == "." || value == ".." ? "" : Escaped(value);

        /// <summary>A text in an address.</summary>
        public static string Escaped(string text)
        {
            // Uri.EscapeDataString throws at half of a pair, which becomes U+FFFD here, and at long texts.
            var to = new StringBuilder();
            foreach (var b in Encoding.UTF8.GetBytes(text))
            {
                var letter = (b | 32) >= 'a' && (b | 32) <= 'z';
                if (letter || b >= '0' && b <= '9' || b == '-' || b == '.' || b == '_' || b == '~') to.Append((char)b);
                else to.Append('%').Append(b.ToString("X2", CultureInfo.InvariantCulture));
            }
            return to.ToString();
        }

        /// <summary>The header with a player's id.</summary>
        public const string ActsFor = "X-On-Behalf-Of";

        public static void Put(List<KeyValuePair<string, string>> to, string name, string value)
        {
            if (value != null) to.Add(new KeyValuePair<string, string>(name, name == ActsFor ? Ascii(value) : value));
        }

        /// <summary>A player's id as a header has it: RFC 8187 if it is not ASCII, or looks like that.</summary>
        static string Ascii(string id)
        {
            var looks = id.StartsWith("UTF-8'", StringComparison.OrdinalIgnoreCase);
            return !looks && Printable(id) ? id : "UTF-8''" + Escaped(id);
        }

        /// <summary>A header can have the text, which is ASCII.</summary>
        internal static bool Printable(string text)
        {
            foreach (var ch in text)
            {
                if (ch < ' ' || ch > '~') return false;
            }
            return true;
        }

        public static void Put(List<KeyValuePair<string, string>> to, string name, bool? value)
        {
            if (value.HasValue) Put(to, name, value.Value ? "true" : "false");
        }

        public static void Put(List<KeyValuePair<string, string>> to, string name, long? value)
        {
            if (value.HasValue) Put(to, name, value.Value.ToString(CultureInfo.InvariantCulture));
        }
    }

    /// <summary>A request that is answered with a T.</summary>
    public sealed class Request<T> : AnyRequest
    {
        public readonly Func<Json, T> Read;

        public Request(string method, string path, bool repeatable, Func<Json, T> read) : base(method, path, repeatable)
        {
            Read = read;
        }
    }

    /// <summary>A request as it goes over the network.</summary>
    public sealed class HttpCall
    {
        public string Method;
        public string Url;
        public List<KeyValuePair<string, string>> Headers = new List<KeyValuePair<string, string>>();
        public string Body;
    }

    /// <summary>What becomes of a request.</summary>
    public interface IHttpListener
    {
        /// <summary>The names of headers are in lower case.</summary>
        void OnHead(int status, Dictionary<string, string> headers);
        void OnData(byte[] bytes, int count);
        /// <summary>Nothing comes any more. failure says why the answer is not whole; it is null if it is.</summary>
        void OnEnd(string failure);
    }

    /// <summary>Sends requests. It follows no redirects, keeps no cookies, and waits as long as it is not told to
    /// cancel. An engine's own HTTP goes below it.</summary>
    public interface ITransport
    {
        /// <summary>Sends a request. Its listener is called within Pump, on that thread.</summary>
        long Start(HttpCall call, IHttpListener listener);
        /// <summary>Ends a request: its listener is not called any more.</summary>
        void Cancel(long id);
        /// <summary>Does what there is to do, and waits for more for so many milliseconds at most.</summary>
        void Pump(int wait);
    }
}
