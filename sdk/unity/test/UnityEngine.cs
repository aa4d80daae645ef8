// What the package uses of Unity, for tests without it. UnityWebRequest is real below: it sends by HttpTransport, and
// calls its handler between two frames, on the main thread, as Unity does.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using Matchmaking;

namespace UnityEngine
{
    /// <summary>The player loop.</summary>
    public static class Frame
    {
        internal static readonly HttpTransport Network = new HttpTransport();
        internal static readonly List<GameObject> Objects = new List<GameObject>();

        public static void Run(int wait)
        {
            Network.Pump(wait);
            foreach (var of in Objects.ToList()) of.SendMessage("Update");
        }
    }

    public class Object
    {
        public static void DontDestroyOnLoad(Object of)
        {
        }

        public static void DestroyImmediate(Object of)
        {
            if (Frame.Objects.Remove((GameObject)of)) ((GameObject)of).SendMessage("OnDestroy");
        }
    }

    public sealed class GameObject : Object
    {
        readonly List<MonoBehaviour> components = new List<MonoBehaviour>();

        public GameObject(string name)
        {
            Frame.Objects.Add(this);
        }

        public T AddComponent<T>() where T : MonoBehaviour, new()
        {
            var component = new T { gameObject = this };
            components.Add(component);
            return component;
        }

        public void SendMessage(string name, object value = null)
        {
            foreach (var c in components)
            {
                var of = c.GetType().GetMethod(name, BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public);
                of?.Invoke(c, value == null ? new object[0] : new[] { value });
            }
        }
    }

    public class MonoBehaviour : Object
    {
        public GameObject gameObject { get; internal set; }
        public void SendMessage(string name, object value) => gameObject.SendMessage(name, value);
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class DisallowMultipleComponent : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class TooltipAttribute : Attribute
    {
        public TooltipAttribute(string text)
        {
        }
    }

    public static class Debug
    {
        public static void Log(object message) => Console.WriteLine(message);
        public static void LogWarning(object message) => Console.Error.WriteLine(message);
    }

    public static class Application
    {
        public static string persistentDataPath => Path.GetTempPath();
    }

    public static class PlayerPrefs
    {
        static readonly Dictionary<string, string> values = new Dictionary<string, string>();

        public static bool HasKey(string key) => values.ContainsKey(key);
        public static string GetString(string key) => values[key];
        public static void SetString(string key, string value) => values[key] = value;
        public static void DeleteKey(string key) => values.Remove(key);

        public static void Save()
        {
        }
    }
}

namespace UnityEngine.Networking
{
    public sealed class UnityWebRequestAsyncOperation
    {
    }

    public class DownloadHandlerScript
    {
        readonly byte[] buffer;

        protected DownloadHandlerScript(byte[] preallocated)
        {
            buffer = preallocated;
        }

        protected virtual bool ReceiveData(byte[] data, int dataLength) => true;

        /// <summary>Unity uses the same buffer again and again.</summary>
        internal void Give(byte[] bytes, int count)
        {
            for (var at = 0; at < count; at += buffer.Length)
            {
                var n = Math.Min(buffer.Length, count - at);
                Array.Copy(bytes, at, buffer, 0, n);
                ReceiveData(buffer, n);
            }
        }
    }

    public sealed class UploadHandlerRaw
    {
        internal readonly byte[] Data;

        public UploadHandlerRaw(byte[] data)
        {
            Data = data;
        }
    }

    public sealed class UnityWebRequest : IDisposable
    {
        public enum Result { InProgress, Success, ConnectionError, ProtocolError, DataProcessingError }

        readonly HttpCall call = new HttpCall();
        Dictionary<string, string> headers;
        long id;
        bool disposed;

        public UnityWebRequest(string url, string method)
        {
            call.Url = url;
            call.Method = method;
        }

        public DownloadHandlerScript downloadHandler { get; set; }
        public UploadHandlerRaw uploadHandler { get; set; }
        public int redirectLimit { get; set; } = 32;
        public bool isDone { get; private set; }
        public Result result { get; private set; }
        public string error { get; private set; }
        public long responseCode { get; private set; }

        public void SetRequestHeader(string name, string value) =>
            call.Headers.Add(new KeyValuePair<string, string>(name, value));

        public Dictionary<string, string> GetResponseHeaders()
        {
            if (disposed) throw new NullReferenceException("the request is disposed");
            return headers;
        }

        public UnityWebRequestAsyncOperation SendWebRequest()
        {
            if (uploadHandler != null) call.Body = System.Text.Encoding.UTF8.GetString(uploadHandler.Data);
            id = Frame.Network.Start(call, new Listener { Of = this });
            return new UnityWebRequestAsyncOperation();
        }

        public void Abort() => Frame.Network.Cancel(id);

        public void Dispose()
        {
            if (!isDone) Abort();
            disposed = true;
        }

        void End(string failure)
        {
            isDone = true;
            var redirects = responseCode / 100 == 3 && redirectLimit == 0;
            error = failure ?? (redirects ? "Redirect limit exceeded" : responseCode >= 400 ? "HTTP/1.1 " + responseCode : null);
            if (failure != null || redirects) result = Result.ConnectionError;
            else result = responseCode >= 400 ? Result.ProtocolError : Result.Success;
        }

        sealed class Listener : IHttpListener
        {
            internal UnityWebRequest Of;

            public void OnHead(int status, Dictionary<string, string> answer)
            {
                Of.responseCode = status;
                Of.headers = answer.ToDictionary(h => h.Key.Substring(0, 1).ToUpperInvariant() + h.Key.Substring(1), h => h.Value);
            }

            public void OnData(byte[] bytes, int count) => Of.downloadHandler.Give(bytes, count);
            public void OnEnd(string failure) => Of.End(failure);
        }
    }
}
