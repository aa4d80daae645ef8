using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Matchmaking
{
    public enum JsonKind { Null, Boolean, Number, String, Array, Object }

    /// <summary>A JSON value. What is read of another kind than it has is empty, so any answer can be looked at.</summary>
    public sealed class Json
    {
        // A value takes about a hundred bytes, however short its text is.
        const int MaxDepth = 64;
        const int MaxValues = 1 << 18;
        public static readonly Json Null = new Json(JsonKind.Null);

        readonly bool boolean;
        readonly double number;
        readonly string text;
        readonly List<Json> items;
        readonly Dictionary<string, Json> members;
        public readonly JsonKind Kind;

        Json(JsonKind kind, bool boolean = false, double number = 0, string text = null)
        {
            Kind = kind;
            this.boolean = boolean;
            this.number = number;
            this.text = text;
            if (kind == JsonKind.Array) items = new List<Json>();
            if (kind == JsonKind.Object) members = new Dictionary<string, Json>();
        }

        public static Json Array() => new Json(JsonKind.Array);
        public static Json Object() => new Json(JsonKind.Object);
        public static Json Of(string value) => value == null ? null : new Json(JsonKind.String, text: value);
        public static Json Of(double? value) => value.HasValue ? new Json(JsonKind.Number, number: value.Value) : null;
        public static Json Of(long? value) => Of((double?)value);
        public static Json Of(int value) => Of((double?)value);
        public static Json Of(bool? value) => value.HasValue ? new Json(JsonKind.Boolean, value.Value) : null;

        public static Json Of<T>(List<T> values, Func<T, Json> of)
        {
            if (values == null) return null;
            var to = Array();
            foreach (var v in values) to.Add(of(v));
            return to;
        }

        public static Json Of<T>(Dictionary<string, T> values, Func<T, Json> of)
        {
            if (values == null) return null;
            var to = Object();
            foreach (var v in values) to.Set(v.Key, of(v.Value));
            return to;
        }

        public string String => text;
        public double Number => number;
        public double? MaybeNumber => Kind == JsonKind.Number ? number : (double?)null;
        public long Integer => Math.Abs(number) < 9e15 ? (long)number : 0;
        public long? MaybeInteger => Kind == JsonKind.Number ? Integer : (long?)null;
        public bool Boolean => boolean;
        public bool? MaybeBoolean => Kind == JsonKind.Boolean ? boolean : (bool?)null;
        public IEnumerable<Json> Items => items ?? (IEnumerable<Json>)new Json[0];
        public IEnumerable<KeyValuePair<string, Json>> Members =>
            members ?? (IEnumerable<KeyValuePair<string, Json>>)new KeyValuePair<string, Json>[0];

        public List<T> List<T>(Func<Json, T> of) => items?.ConvertAll(i => of(i));

        public Dictionary<string, T> Map<T>(Func<Json, T> of)
        {
            if (members == null) return null;
            var to = new Dictionary<string, T>();
            foreach (var m in members) to[m.Key] = of(m.Value);
            return to;
        }

        /// <summary>A member of an object, Null if there is none.</summary>
        public Json this[string name] => members != null && members.TryGetValue(name, out var value) ? value : Null;

        /// <summary>Sets a member of an object; one that is null is left out.</summary>
        public Json Set(string name, Json value)
        {
            if (value != null) members[name] = value;
            return this;
        }

        public Json Set(string name, string value) => Set(name, Of(value));
        public void Add(Json value) => items.Add(value ?? Null);

        public override string ToString()
        {
            var to = new StringBuilder();
            Put(to);
            return to.ToString();
        }

        void Put(StringBuilder to)
        {
            var between = "";
            switch (Kind)
            {
                case JsonKind.Null:
                    to.Append("null");
                    break;
                case JsonKind.Boolean:
                    to.Append(boolean ? "true" : "false");
                    break;
                case JsonKind.Number:
                    var finite = !double.IsNaN(number) && !double.IsInfinity(number);
                    to.Append(finite ? number.ToString("R", CultureInfo.InvariantCulture) : "null");
                    break;
                case JsonKind.String:
                    Quote(text, to);
                    break;
                case JsonKind.Array:
                    to.Append('[');
                    foreach (var item in items)
                    {
                        to.Append(between);
                        item.Put(to);
                        between = ",";
                    }
                    to.Append(']');
                    break;
                case JsonKind.Object:
                    to.Append('{');
                    foreach (var m in members)
                    {
                        to.Append(between);
                        Quote(m.Key, to);
                        to.Append(':');
                        m.Value.Put(to);
                        between = ",";
                    }
                    to.Append('}');
                    break;
            }
        }

        static void Quote(string text, StringBuilder to)
        {
            to.Append('"');
            foreach (var c in text)
            {
                if (c == '"' || c == '\\') to.Append('\\').Append(c);
                else if (c < ' ') to.Append("\\u").Append(((int)c).ToString("x4"));
                else to.Append(c);
            }
            to.Append('"');
        }

        /// <summary>The value of a text; null if it is no JSON, is deeper than 64 values, or has more than
        /// 262,144.</summary>
        public static Json Parse(string text)
        {
            var p = new Parser(text ?? "");
            var value = p.Value(0);
            p.Space();
            return value != null && p.AtEnd ? value : null;
        }

        sealed class Parser
        {
            readonly string text;
            int at;
            int values;

            internal Parser(string text)
            {
                this.text = text;
            }

            internal bool AtEnd => at == text.Length;

            internal void Space()
            {
                while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0) at++;
            }

            bool Take(char c)
            {
                Space();
                if (at >= text.Length || text[at] != c) return false;
                at++;
                return true;
            }

            Json Word(string word, Json value)
            {
                if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0) return null;
                at += word.Length;
                return value;
            }

            internal Json Value(int depth)
            {
                Space();
                if (at >= text.Length || depth > MaxDepth || ++values > MaxValues) return null;
                switch (text[at])
                {
                    case '{':
                        var o = Object();
                        return List('}', () =>
                        {
                            var name = Take('"') ? Text() : null;
                            var value = name != null && Take(':') ? Value(depth + 1) : null;
                            o.Set(name ?? "", value);
                            return value != null;
                        }) ? o : null;
                    case '[':
                        var a = Array();
                        return List(']', () =>
                        {
                            var value = Value(depth + 1);
                            a.Add(value);
                            return value != null;
                        }) ? a : null;
                    case '"':
                        at++;
                        return Of(Text());
                    case 't':
                        return Word("true", Of(true));
                    case 'f':
                        return Word("false", Of(false));
                    case 'n':
                        return Word("null", Null);
                    default:
                        var begin = at;
                        while (at < text.Length && "+-.eE0123456789".IndexOf(text[at]) >= 0) at++;
                        var digits = text.Substring(begin, at - begin);
                        const NumberStyles style = NumberStyles.Float & ~NumberStyles.AllowLeadingWhite;
                        return double.TryParse(digits, style, CultureInfo.InvariantCulture, out var number)
                            && !double.IsInfinity(number) ? Of((double?)number) : null;
                }
            }

            bool List(char end, Func<bool> item)
            {
                at++;
                if (Take(end)) return true;
                do
                {
                    if (!item()) return false;
                }
                while (Take(','));
                return Take(end);
            }

            /// <summary>Behind the first quote.</summary>
            string Text()
            {
                var to = new StringBuilder();
                while (at < text.Length)
                {
                    var c = text[at++];
                    if (c == '"') return to.ToString();
                    if (c < ' ') return null;
                    if (c != '\\')
                    {
                        to.Append(c);
                        continue;
                    }
                    if (at >= text.Length) return null;
                    var known = "\"\\/bfnrt".IndexOf(text[at++]);
                    if (known >= 0)
                    {
                        to.Append("\"\\/\b\f\n\r\t"[known]);
                        continue;
                    }
                    if (text[at - 1] != 'u' || at + 4 > text.Length) return null;
                    const NumberStyles hex = NumberStyles.AllowHexSpecifier;
                    if (!ushort.TryParse(text.Substring(at, 4), hex, CultureInfo.InvariantCulture, out var code)) return null;
                    to.Append((char)code);
                    at += 4;
                }
                return null;
            }
        }
    }
}
