using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Threading;
using System.Threading.Tasks;

namespace Matchmaking
{
    /// <summary>What was measured of a region.</summary>
    public sealed class Latency
    {
        public string Region;
        /// <summary>The median of the round trips in milliseconds; null when no probe was answered. Where a region answers
        /// by IPv4 and by IPv6, it is the shorter one. By HTTP, which waits for frames, it is the shortest round
        /// trip.</summary>
        public double? Rtt;
        /// <summary>How many probes were sent, and how many of them were not answered in time.</summary>
        public int Sent;
        public int Lost;
        /// <summary>They prove the round trips to the service. A region that is no beacon gives none.</summary>
        public readonly List<string> Receipts = new List<string>();

        // The datagrams of beacons.
        static readonly byte[] Magic = { (byte)'m', (byte)'m', (byte)'b', 1 };
        const int QuestionSize = 104;
        const int NonceAt = 8;
        const int EchoEnd = 48;
        const int ReceiptAt = 24;
        const int RttAt = 10;
        const int ShortestGrant = 64;
        static readonly string[] Protocols = { "beacon", "playfab", "echo" };
        const byte Asks = 1, Greets = 2, Proves = 3, Grants = 4;

        /// <summary>Asks each region by UDP alone, four at once, and waits for the answers: up to (2 * probes + 3) times
        /// timeout (in milliseconds) for each four regions. Call it on a thread that may wait; Matchmaker.Measure does, and
        /// keeps what was measured.</summary>
        public static List<Latency> Measure(IEnumerable<Api.Region> regions, int probes = 5, int timeout = 1000)
        {
            var list = regions.ToList();
            var all = new Latency[list.Count];
            var four = new ParallelOptions { MaxDegreeOfParallelism = 4 };
            Parallel.For(0, list.Count, four, i =>
                all[i] = Of(list[i], Math.Min(probes, 20), Math.Max(1, Math.Min(timeout, 2000)), CancellationToken.None));
            return all.ToList();
        }

        internal static Latency Of(Api.Region region, int probes, int timeout, CancellationToken ends)
        {
            var l = new Latency { Region = region.Name };
            var colon = (region.Udp ?? "").LastIndexOf(':');
            if (colon < 0 || !Protocols.Contains(region.Protocol)) return l;
            if (!ushort.TryParse(region.Udp.Substring(colon + 1), out var port)) return l;
            var found = Addresses(region.Udp.Substring(0, colon).Trim('[', ']'), 3 * timeout);
            foreach (var family in new[] { AddressFamily.InterNetwork, AddressFamily.InterNetworkV6 })
            {
                var address = found.FirstOrDefault(a => a.AddressFamily == family);
                try
                {
                    if (address != null) l.Add(region.Protocol, new IPEndPoint(address, port), probes, timeout, ends);
                }
                catch (SocketException)
                {
                    // It cannot be reached, as IPv4 from a network that has IPv6 alone: the other family may.
                }
            }
            return l;
        }

        /// <summary>Looks a name up. Tests have others, which wait.</summary>
        static Func<string, IPAddress[]> resolve = Dns.GetHostAddresses;

        /// <summary>The addresses of a host: none if the look-up takes too long, which then goes on alone.</summary>
        static IPAddress[] Addresses(string host, int wait)
        {
            if (IPAddress.TryParse(host, out var literal)) return new[] { literal };
            var found = Task.Factory.StartNew(() => resolve(host), CancellationToken.None,
                TaskCreationOptions.LongRunning, TaskScheduler.Default);
            try
            {
                return found.Wait(wait) ? found.Result : new IPAddress[0];
            }
            catch (AggregateException)
            {
                return new IPAddress[0];
            }
        }

        /// <summary>Sends the probes to an address, and adds their median.</summary>
        void Add(string protocol, IPEndPoint to, int probes, int timeout, CancellationToken ends)
        {
            var trips = new List<Trip>();
            using (var socket = new Socket(to.AddressFamily, SocketType.Dgram, ProtocolType.Udp))
            {
                socket.Connect(to);
                for (var i = 0; i < probes && !ends.IsCancellationRequested; i++)
                {
                    Sent++;
                    try
                    {
                        trips.Add(protocol == "beacon" ? Beacon(socket, timeout) : Echo(socket, protocol, timeout));
                    }
                    catch (SocketException)
                    {
                        Lost++;
                    }
                }
            }
            Add(trips, (trips.Count - 1) / 2);
        }

        /// <summary>Adds the trip that counts: the n-th shortest one.</summary>
        internal void Add(List<Trip> trips, int n)
        {
            if (trips.Count == 0) return;
            var one = trips.OrderBy(t => t.Rtt).ElementAt(n);
            Rtt = Rtt.HasValue ? Math.Min(Rtt.Value, one.Rtt) : one.Rtt;
            if (one.Receipt != null) Receipts.Add(one.Receipt);
        }

        /// <summary>A round trip in milliseconds, and its receipt if there is one.</summary>
        internal struct Trip
        {
            internal double Rtt;
            internal string Receipt;
        }

        /// <summary>The two questions of a beacon. The round trip is what the beacon measured.</summary>
        static Trip Beacon(Socket socket, int timeout)
        {
            var question = new byte[QuestionSize];
            Array.Copy(Magic, question, Magic.Length);
            question[Magic.Length] = Asks;
            Array.Copy(Random(ReceiptAt - NonceAt), 0, question, NonceAt, ReceiptAt - NonceAt);
            Func<byte, int, Func<byte[], bool>> same = (kind, shortest) => a => a.Length >= shortest && a[4] == kind
                && a.Take(4).SequenceEqual(Magic) && a.Skip(NonceAt).Take(16).SequenceEqual(question.Skip(NonceAt).Take(16));
            var greeting = Ask(socket, question, timeout, same(Greets, EchoEnd));
            question[Magic.Length] = Proves;
            Array.Copy(greeting, ReceiptAt, question, ReceiptAt, EchoEnd - ReceiptAt);
            var receipt = Ask(socket, question, timeout, same(Grants, ShortestGrant)).Skip(ReceiptAt).ToArray();
            var rtt = receipt.Skip(RttAt).Take(4).Aggregate(0.0, (n, b) => n * 256 + b) / 1000;
            var text = Convert.ToBase64String(receipt).TrimEnd('=').Replace('+', '-').Replace('/', '_');
            return new Trip { Rtt = rtt, Receipt = text };
        }

        /// <summary>PlayFab's beacons answer with the first two bytes 0, others with what they were asked.</summary>
        static Trip Echo(Socket socket, string protocol, int timeout)
        {
            var question = new byte[2].Concat(Random(32)).ToArray();
            if (protocol == "playfab") question[0] = question[1] = 0xff;
            var watch = Stopwatch.StartNew();
            Ask(socket, question, timeout, a => a.Length == question.Length && a[0] == 0 && a[1] == 0
                && a.Skip(2).SequenceEqual(question.Skip(2)));
            return new Trip { Rtt = watch.Elapsed.TotalMilliseconds };
        }

        /// <summary>Sends a question and returns the answer that belongs to it. Others are late, or forged.</summary>
        static byte[] Ask(Socket socket, byte[] question, int timeout, Func<byte[], bool> isAnswer)
        {
            var watch = Stopwatch.StartNew();
            var bytes = new byte[2048];
            socket.Send(question);
            for (;;)
            {
                var left = timeout - (int)watch.ElapsedMilliseconds;
                if (left <= 0) throw new SocketException((int)SocketError.TimedOut);
                socket.ReceiveTimeout = left;
                byte[] answer;
                try
                {
                    answer = bytes.Take(socket.Receive(bytes)).ToArray();
                }
                catch (SocketException e) when (e.SocketErrorCode == SocketError.MessageSize)
                {
                    continue; // Windows says so of one that is too long
                }
                if (answer.Length <= question.Length && isAnswer(answer)) return answer;
            }
        }

        static byte[] Random(int n)
        {
            var bytes = new byte[n];
            using (var source = RandomNumberGenerator.Create()) source.GetBytes(bytes);
            return bytes;
        }
    }
}
