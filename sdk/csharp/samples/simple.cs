// Searches a match: MM_TOKEN=$(mm token player ada) mono simple.exe 1200
using System;
using System.Collections.Generic;
using Matchmaking;

static class Simple
{
    static void Main(string[] args)
    {
        var matchmaker = new Matchmaker(new Options
        {
            Url = Environment.GetEnvironmentVariable("MM_URL"),
            Project = Environment.GetEnvironmentVariable("MM_PROJECT"),
            Token = (why, reply) => reply(Environment.GetEnvironmentVariable("MM_TOKEN"), null), // a game asks its backend
            Transport = new HttpTransport(),
        });
        var attributes = new Dictionary<string, double> { ["skill"] = double.Parse(args[0]) };
        var search = matchmaker.Search(new SearchOptions { Attributes = attributes });
        search.OnUpdate(u => Console.WriteLine(u.State.ToString().ToLowerInvariant()));
        Console.CancelKeyPress += (sender, e) =>
        {
            e.Cancel = true;
            search.Cancel();
        };
        while (!search.Current.Ended) matchmaker.Pump(20);
        var end = search.Current;
        if (end.State == SearchState.Failed) Console.Error.WriteLine(end.Error.PlayerMessage);
        if (end.State == SearchState.Matched) Console.WriteLine("connection " + end.Match.Connection);
        Environment.Exit(0); // at the end of Main, Mono may wait for its network threads
    }
}
