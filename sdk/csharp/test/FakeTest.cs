// What games do with the service in memory.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using System.Text;
using System.Threading;
using Matchmaking;

static class FakeTest
{
    /// <summary>A player of a game.</summary>
    sealed class Player
    {
        internal readonly Matchmaker Matchmaker;
        internal Search Search;
        internal Party Party;
        internal Update Update = new Update();
        internal string Left;

        internal Player(FakeService fake, string name, IStorage storage = null)
        {
            var options = fake.Options(name);
            options.Storage = storage;
            Matchmaker = new Matchmaker(options);
        }

        internal void Follow(Search of)
        {
            Search = of;
            Search.OnUpdate(u => Update = u);
        }

        internal void Enter(Result<Party> r)
        {
            Check(r.Error == null, "a party");
            Party = r.Value;
            Party.OnUpdate(u =>
            {
                Check(u.Party.Search == null == (Party.Search == null), "the search is known as soon as the party is");
                if (u.State == PartyState.Search) Follow(u.Search);
                if (u.State == PartyState.Left) Left = u.Reason;
            });
        }

        internal bool Is(SearchState state) => Update.State == state;
    }

    static void Check(bool ok, string what)
    {
        if (ok) return;
        Console.Error.WriteLine("failed: " + what);
        Environment.Exit(1);
    }

    /// <summary>Pumps until something holds.</summary>
    static void Until(string what, Func<bool> holds, params Player[] players)
    {
        for (var i = 0; i < 20000 && !holds(); i++)
        {
            foreach (var p in players) p.Matchmaker.Pump(1);
        }
        Check(holds(), what);
    }

    /// <summary>A game may have a decimal comma, or a language in which i is not the small I.</summary>
    static void Main()
    {
        foreach (var culture in new[] { "de-DE", "tr-TR" })
        {
            CultureInfo.CurrentCulture = CultureInfo.DefaultThreadCurrentCulture = new CultureInfo(culture);
            Check((1.5).ToString() == "1,5", "a decimal comma");
            Check(Json.Of(1234567.5).ToString() == "1234567.5", "a number is written with a dot");
            Check(Json.Parse("1234567.5").Number == 1234567.5 && Json.Parse("1,5") == null, "and read with a dot");
            Check(AnyRequest.Segment("\ud800 /~I\U0001F600") == "%EF%BF%BD%20%2F~I%F0%9F%98%80", "any text is in an address");
            Check(AnyRequest.Escaped(new string('/', 70000)).Length == 210000, "and a long one");
            foreach (var player in new[] { "zoë", "utf-8'x", "李" })
            {
                var header = Matchmaking.Api.Requests.MyParty(onBehalfOf: player).Headers.Single().Value;
                Check(header == "UTF-8''" + Uri.EscapeDataString(player), "a request names any player");
            }
            Check(new Error(Code.Invalid, "").Name == "invalid", "a code is the same word");
            All();
        }
    }

    static void All()
    {
        Searches();
        DeclinesCancelsAndErrors();
        Parties();
        Restores();
        LeavesWhatANewerSearchKeeps();
        LeavesAnOlderSearchWhereItIsRefused();
        KeepsAFileOverACrash();
        Fills();
        LeavesAnErrorWithoutEnd();
        LeavesALookUpThatTakesLong();
        MeasuresByTheOtherFamily();
        RenewsAServersToken();
        ActsForOnePlayer();
        DisposesWithinACallback();
        CallbacksThrowAndPump();
    }

    static void Searches()
    {
        var fake = new FakeService(100);
        Player ada = new Player(fake, "ada"), bob = new Player(fake, "bob");
        ada.Follow(ada.Matchmaker.Search());
        bob.Follow(bob.Matchmaker.Search());
        Until("both search", () => ada.Is(SearchState.Searching) && bob.Is(SearchState.Searching), ada, bob);
        fake.Ask(new[] { "ada", "bob" }, 2000);
        Until("both are asked", () => ada.Is(SearchState.Offered) && bob.Is(SearchState.Offered), ada, bob);
        Check(ada.Update.Players == 2 && !ada.Update.Answered, "two are asked");
        ada.Search.Accept();
        Until("one accepted", () => bob.Update.Accepted == 1, ada, bob);
        fake.Cut();
        bob.Search.Accept();
        Until("both are matched", () => ada.Is(SearchState.Matched) && bob.Is(SearchState.Matched), ada, bob);
        Check(ada.Update.Match.Seat == "seat of ada", "a seat");
        var late = false;
        ada.Search.Cancel(c => late = c.Late != null && !c.IsCancelled);
        Until("it is too late", () => late, ada);
    }

    static void DeclinesCancelsAndErrors()
    {
        var fake = new FakeService(100);
        Player ada = new Player(fake, "ada"), bob = new Player(fake, "bob");
        ada.Follow(ada.Matchmaker.Search());
        bob.Follow(bob.Matchmaker.Search());
        Until("both wait", () => fake.Waiting.Count == 2, ada, bob);
        fake.Ask(new[] { "ada", "bob" }, 2000);
        Until("she is asked", () => ada.Is(SearchState.Offered), ada, bob);
        ada.Search.Decline();
        Until("she declined", () => ada.Update.Ended && bob.Is(SearchState.Searching), ada, bob);
        Check(ada.Update.Error.PlayerMessage == "You declined the match.", "what she is told");
        ada.Follow(ada.Matchmaker.Search());
        Until("both wait again", () => fake.Waiting.Count == 2, ada, bob);
        fake.Ask(new[] { "ada", "bob" }, 2000);
        Until("he is asked", () => bob.Is(SearchState.Offered), ada, bob);
        ada.Search.Cancel();
        Until("she cancelled, and he waits", () => ada.Is(SearchState.Cancelled) && bob.Is(SearchState.Searching), ada, bob);
        bob.Search.Cancel();
        Until("he cancelled", () => bob.Is(SearchState.Cancelled) && fake.Waiting.Count == 0, bob);
        fake.Full = 1;
        ada.Follow(ada.Matchmaker.Search());
        Until("it is full", () => ada.Update.Ended && ada.Update.Error?.Code == Code.Busy, ada);
        fake.Full = 0;
        fake.Gone = true;
        ada.Follow(ada.Matchmaker.Search());
        Until("it is gone", () => ada.Update.Ended && ada.Update.Error?.Code == Code.Offline, ada);
    }

    static void Parties()
    {
        var fake = new FakeService(100);
        Player ada = new Player(fake, "ada"), bob = new Player(fake, "bob");
        ada.Matchmaker.CreateParty(null, 2, ada.Enter);
        Until("a party", () => ada.Party != null, ada);
        bob.Matchmaker.JoinParty(ada.Party.State.Code, null, bob.Enter);
        Until("two members", () => bob.Party != null && ada.Party.State.Members.Count == 2, ada, bob);
        ada.Party.Start(new SearchOptions());
        Until("both search", () => ada.Is(SearchState.Searching) && bob.Is(SearchState.Searching), ada, bob);
        fake.Match(new[] { "bob" });
        Until("both are matched", () => ada.Is(SearchState.Matched) && bob.Is(SearchState.Matched), ada, bob);
        ada.Party.Start(new SearchOptions());
        Until("both search again", () => ada.Is(SearchState.Searching) && bob.Is(SearchState.Searching), ada, bob);
        ada.Party.Kick("bob");
        Until("he is kicked", () => bob.Left == "kicked", ada, bob);
        ada.Party.Leave();
        Until("she left", () => ada.Left == "left", ada);
    }

    static void Restores()
    {
        var fake = new FakeService(100);
        var ada = new Player(fake, "ada");
        ada.Follow(ada.Matchmaker.Search());
        Until("she searches", () => ada.Is(SearchState.Searching), ada);
        ada.Matchmaker.Dispose();
        var again = new Player(fake, "ada");
        again.Matchmaker.Restore(r => again.Follow(r.Value));
        Until("she searches again", () => again.Is(SearchState.Searching), again);
        fake.Match(new[] { "ada" });
        Until("she is matched", () => again.Is(SearchState.Matched), again);
    }

    /// <summary>Another search keeps its ticket as soon as the create of this one is sent.</summary>
    sealed class Shared : IStorage
    {
        internal const string Newer = "{\"ticket\":\"newer\"}";
        string kept;
        public string Load() => kept;
        public void Save(string text) => kept = text != null && text.Contains("\"key\":\"") ? Newer : text;
    }

    static void LeavesWhatANewerSearchKeeps()
    {
        var fake = new FakeService(100);
        var storage = new Shared();
        var ada = new Player(fake, "ada", storage);
        Action<string> left = when =>
        {
            Until(when, () => ada.Search.Current.Ended, ada);
            Check(storage.Load() == Shared.Newer, "what a newer search keeps, where " + when);
        };
        ada.Follow(ada.Matchmaker.Search());
        Until("she searches", () => ada.Is(SearchState.Searching), ada);
        ada.Search.Cancel();
        left("she cancelled");
        ada.Follow(ada.Matchmaker.Search(new SearchOptions { Timeout = 10000 }));
        left("it took too long");
        fake.Full = 1;
        ada.Follow(ada.Matchmaker.Search());
        left("it is full");
    }

    sealed class Kept : IStorage
    {
        string text = "{\"ticket\":\"older\"}";
        public string Load() => text;
        public void Save(string of) => text = of;
    }

    static void LeavesAnOlderSearchWhereItIsRefused()
    {
        var fake = new FakeService(100) { Full = 1 };
        var storage = new Kept();
        var older = storage.Load();
        var ada = new Player(fake, "ada", storage);
        ada.Follow(ada.Matchmaker.Search());
        Until("it is full", () => ada.Update.Ended, ada);
        Check(storage.Load() == older, "what was kept before");
    }

    static void KeepsAFileOverACrash()
    {
        string path = Path.GetTempFileName(), fresh = path + ".new";
        var storage = new FileStorage(path);
        storage.Save("one");
        File.WriteAllText(fresh, "tw");
        Check(storage.Load() == "one", "a crash while a text is written leaves the one before");
        storage.Save("two");
        File.Move(path, fresh);
        Check(storage.Load() == "two", "a crash before it takes the other one's place leaves it");
        storage.Save(null);
        Check(storage.Load() == null && !File.Exists(path) && !File.Exists(fresh), "nothing is kept any more");
    }

    static void Fills()
    {
        var fake = new FakeService(100);
        Player ada = new Player(fake, "ada"), server = new Player(fake, "server");
        ada.Follow(ada.Matchmaker.Search());
        Until("she searches", () => ada.Is(SearchState.Searching), ada);
        var open = 2;
        var filler = new Filler(server.Matchmaker, new FillOptions
        {
            Join = tickets => open -= tickets.Sum(t => t.Id == ada.Update.Ticket ? 1 : 5),
            State = () => new Matchmaking.Api.BackfillRequest
            {
                Connection = "192.0.2.1:7000", Attributes = new Dictionary<string, double> { ["open"] = open },
            },
        });
        Until("there is a game", () => fake.Games.Count == 1, server);
        fake.Join(new[] { "ada" });
        Until("she is in it", () => ada.Is(SearchState.Matched) && fake.Games[0].Attributes["open"] == 1, ada, server);
        Check(ada.Update.Match.Connection == "192.0.2.1:7000" && fake.Waiting.Count == 0, "where the game is");
        for (var i = 0; i < 100; i++) server.Matchmaker.Pump(1);
        Check(open == 1, "she joins once");
        var ended = false;
        filler.End(e => ended = e == null);
        Until("the game is full", () => ended && fake.Games.Count == 0, server);
        List<Latency> none = null;
        ada.Matchmaker.Measure(null, r => none = r.Value);
        Until("the fake has no regions", () => none != null && none.Count == 0, ada);
    }

    /// <summary>Answers streams with an error that does not end: a byte each time that it is pumped.</summary>
    sealed class Drip : ITransport
    {
        internal FakeService Fake;
        internal IHttpListener To;
        internal bool Left;

        public long Start(HttpCall call, IHttpListener listener)
        {
            if (!call.Headers[0].Value.StartsWith("text/event-stream")) return Fake.Start(call, listener);
            To = listener;
            To.OnHead(503, new Dictionary<string, string>());
            return -1;
        }

        public void Cancel(long id)
        {
            if (id != -1) Fake.Cancel(id);
            else Left = true;
            if (Left) To = null;
        }

        public void Pump(int wait)
        {
            Fake.Pump(wait);
            To?.OnData(new byte[1], 1);
        }
    }

    static void LeavesAnErrorWithoutEnd()
    {
        var fake = new FakeService(1000);
        var drip = new Drip { Fake = fake };
        var options = fake.Options("ada");
        options.Transport = drip;
        var matchmaker = new Matchmaker(options);
        matchmaker.Search();
        for (var end = fake.Steady + 400000; !drip.Left && fake.Steady < end;) matchmaker.Pump(1);
        Check(drip.Left, "an error that does not end is left");
    }

    /// <summary>Keeps the players for whom requests act.</summary>
    sealed class Ear : ITransport
    {
        internal readonly List<string> Heard = new List<string>();

        public long Start(HttpCall call, IHttpListener listener)
        {
            Heard.AddRange(call.Headers.Where(h => h.Key == AnyRequest.ActsFor).Select(h => h.Value));
            return 1;
        }

        public void Cancel(long id) { }
        public void Pump(int wait) { }
    }

    static void ActsForOnePlayer()
    {
        var ear = new Ear();
        var options = new FakeService().Options("ada");
        options.Player = "bob";
        options.Transport = ear;
        var matchmaker = new Matchmaker(options);
        matchmaker.Send(Matchmaking.Api.Requests.MyParty(), r => { });
        for (var i = 0; i < 100 && ear.Heard.Count == 0; i++) matchmaker.Pump(1);
        matchmaker.Send(Matchmaking.Api.Requests.MyParty(onBehalfOf: "cleo"), r => { });
        for (var i = 0; i < 100 && ear.Heard.Count < 2; i++) matchmaker.Pump(1);
        Check(string.Join(" ", ear.Heard) == "bob cleo", "a request's own player is instead of the option's");
    }

    static void LeavesALookUpThatTakesLong()
    {
        var fake = new FakeService();
        var ada = new Player(fake, "ada");
        fake.Regions.Add(new Matchmaking.Api.Region { Name = "eu", Protocol = "echo", Udp = "nowhere.invalid:1" });
        var resolve = typeof(Latency).GetField("resolve", BindingFlags.NonPublic | BindingFlags.Static);
        var usual = resolve.GetValue(null);
        using (var late = new ManualResetEvent(false))
        {
            resolve.SetValue(null, (Func<string, IPAddress[]>)(host =>
            {
                late.WaitOne();
                return new IPAddress[0];
            }));
            List<Latency> all = null;
            ada.Matchmaker.Measure(new MeasureOptions { Timeout = 20 }, r => all = r.Value);
            Until("it is measured", () => all != null, ada);
            Check(all.Count == 1 && all[0].Region == "eu" && !all[0].Rtt.HasValue && all[0].Sent == 0, "nothing is sent");
            late.Set();
        }
        resolve.SetValue(null, usual);
    }

    /// <summary>A network may have IPv6 alone.</summary>
    static void MeasuresByTheOtherFamily()
    {
        if (!Socket.OSSupportsIPv6)
            return;
        var resolve = typeof(Latency).GetField("resolve", BindingFlags.NonPublic | BindingFlags.Static);
        var usual = resolve.GetValue(null);
        var both = new[] { IPAddress.Broadcast, IPAddress.IPv6Loopback };
        resolve.SetValue(null, (Func<string, IPAddress[]>)(host => both));
        using (var echo = new UdpClient(new IPEndPoint(IPAddress.IPv6Loopback, 0)))
        {
            echo.ReceiveAsync().ContinueWith(asked =>
                echo.Send(asked.Result.Buffer, asked.Result.Buffer.Length, asked.Result.RemoteEndPoint));
            var udp = "both.invalid:" + ((IPEndPoint)echo.Client.LocalEndPoint).Port;
            var region = new Matchmaking.Api.Region { Name = "eu", Protocol = "echo", Udp = udp };
            var found = Latency.Measure(new[] { region }, 1, 2000).Single();
            Check(found.Rtt.HasValue && found.Sent == 1 && found.Lost == 0, "IPv6 answers where IPv4 leads nowhere");
        }
        resolve.SetValue(null, usual);
    }

    /// <summary>Gives a game server its next token, and keeps those that requests come with.</summary>
    sealed class Renewing : ITransport, IClock
    {
        internal readonly List<string> Asked = new List<string>();
        /// <summary>Of an answer to a renewal.</summary>
        internal int Status;
        int status;
        IHttpListener answers;

        public double Wall { get; set; }
        public double Steady => Wall;

        public long Start(HttpCall call, IHttpListener listener)
        {
            Asked.Add(call.Method + " " + call.Headers.Single(h => h.Key == "Authorization").Value);
            status = call.Method == "POST" ? Status : 200;
            answers = listener;
            return 1;
        }

        public void Cancel(long id) => answers = null;

        public void Pump(int wait)
        {
            var to = answers;
            if (to == null) return;
            answers = null;
            var body = Encoding.UTF8.GetBytes("{\"token\":\"next\"}");
            to.OnHead(status, new Dictionary<string, string> { ["content-type"] = "application/json" });
            to.OnData(body, body.Length);
            to.OnEnd(null);
        }
    }

    const string First = "x.eyJpYXQiOjAsImV4cCI6OTB9.x"; // of 90 seconds

    static void RenewsAServersToken()
    {
        RenewsAServersToken(200, "next");
        RenewsAServersToken(401, First);
    }

    static void RenewsAServersToken(int status, string next)
    {
        var host = new Renewing { Status = status };
        var renew = Matchmaking.Api.Requests.RenewServerToken();
        Matchmaker server = null;
        server = new Matchmaker(new Options
        {
            Url = "http://fake.invalid",
            Project = "fake",
            Transport = host,
            Clock = host,
            Token = (why, reply) =>
            {
                if (why == Why.First) reply(First, null);
                else server.Send(renew, r => reply(r.Value?.Token, r.Error?.Message));
            },
        });
        foreach (var now in new[] { 0, 61000 })
        {
            host.Wall = now;
            var done = false;
            server.Send(Matchmaking.Api.Requests.MyParty(), r => done = true);
            for (var i = 0; i < 100 && !done; i++) server.Pump(1);
            Check(done, "an answer at " + now);
        }
        var asked = string.Join(", ", host.Asked);
        Check(asked == "GET Bearer " + First + ", POST Bearer " + First + ", GET Bearer " + next, "it renews: " + asked);
    }

    static void DisposesWithinACallback()
    {
        var fake = new FakeService(100);
        var ada = new Player(fake, "ada");
        ada.Follow(ada.Matchmaker.Search());
        Until("she searches", () => ada.Is(SearchState.Searching), ada);
        ada.Search.OnUpdate(u =>
        {
            ada.Update = u;
            if (u.Ended) ada.Matchmaker.Dispose();
        });
        fake.Match(new[] { "ada" });
        Until("she is matched", () => ada.Is(SearchState.Matched), ada);
        ada.Search.Cancel();
        ada.Matchmaker.Pump();
    }

    static void CallbacksThrowAndPump()
    {
        var fake = new FakeService(100);
        var options = fake.Options("ada");
        options.Token = (why, reply) => throw new InvalidOperationException("no login");
        var matchmaker = new Matchmaker(options);
        var search = matchmaker.Search();
        matchmaker.Pump();
        Check(search.Current.Error?.Code == Code.Token && search.Current.Error.Message.Contains("no login"), "no token");

        var ada = new Player(fake, "ada");
        ada.Follow(ada.Matchmaker.Search());
        Until("she searches", () => ada.Is(SearchState.Searching), ada);
        var told = new List<SearchState>();
        ada.Search.OnUpdate(u =>
        {
            told.Add(u.State);
            for (var i = 0; i < 10; i++) ada.Matchmaker.Pump(1);
            throw new InvalidOperationException("a mistake of the game");
        });
        fake.Ask(new[] { "ada" }, 2000);
        fake.Match(new[] { "ada" });
        int answers = 0, thrown = 0;
        ada.Search.Estimate(r =>
        {
            answers++;
            throw new InvalidOperationException("another one");
        });
        for (var i = 0; i < 300; i++)
        {
            try
            {
                ada.Matchmaker.Pump(1);
            }
            catch (InvalidOperationException)
            {
                thrown++;
            }
        }
        var all = new[] { SearchState.Searching, SearchState.Offered, SearchState.Matched };
        Check(told.SequenceEqual(all), "each update is told once, not " + string.Join(" ", told));
        Check(answers == 1 && thrown == 4, "each callback throws once out of Pump");
    }
}
