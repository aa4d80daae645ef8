// Searches a match, and after a crash goes on with the same search or match, which a file remembers:
// MM_TOKEN=$(mm token player ada) mono reconnect.exe search.json
using System;
using System.Collections.Generic;
using Matchmaking;

static class Reconnect
{
    static void Main(string[] args)
    {
        var matchmaker = new Matchmaker(new Options
        {
            Url = Environment.GetEnvironmentVariable("MM_URL"),
            Project = Environment.GetEnvironmentVariable("MM_PROJECT"),
            Token = (why, reply) => reply(Environment.GetEnvironmentVariable("MM_TOKEN"), null), // a game asks its backend
            Transport = new HttpTransport(),
            Storage = new FileStorage(args[0]),
        });
        Search search = null;
        matchmaker.Restore(r =>
        {
            var attributes = new Dictionary<string, double> { ["skill"] = 1200 };
            search = r.Value ?? matchmaker.Search(new SearchOptions { Attributes = attributes });
            search.OnUpdate(u => Console.WriteLine(u.State.ToString().ToLowerInvariant()));
        });
        while (search == null || !search.Current.Ended) matchmaker.Pump(20);
        Console.WriteLine("connection " + search.Current.Match?.Connection);
        // When the match is over: matchmaker.Forget()
        Environment.Exit(0); // at the end of Main, Mono may wait for its network threads
    }
}
