// A game server with one free place: MM_TOKEN=$(mm token server) mono backfill.exe 127.0.0.1:7000
using System;
using System.Collections.Generic;
using Matchmaking;
using Api = Matchmaking.Api;

static class Backfill
{
    static void Main(string[] args)
    {
        Matchmaker matchmaker = null;
        matchmaker = new Matchmaker(new Options
        {
            Url = Environment.GetEnvironmentVariable("MM_URL"),
            Project = Environment.GetEnvironmentVariable("MM_PROJECT"),
            Token = (why, reply) =>
            {
                // The first is its allocation's: no other is renewed.
                if (why == Why.First) reply(Environment.GetEnvironmentVariable("MM_TOKEN"), null);
                else matchmaker.Send(Api.Requests.RenewServerToken(), r => reply(r.Value?.Token, r.Error?.Message));
            },
            Transport = new HttpTransport(),
        });
        var open = 1;
        var over = false;
        var filler = new Filler(matchmaker, new FillOptions
        {
            State = () => new Api.BackfillRequest
            {
                Connection = args[0],
                Queue = "games",
                Attributes = new Dictionary<string, double> { ["open"] = open, ["skill"] = 1200 },
            },
            Join = tickets =>
            {
                foreach (var t in tickets) Console.WriteLine("joined " + t.Id);
                open -= tickets.Count;
            },
            Failed = e => Console.Error.WriteLine(e),
        });
        while (open > 0) matchmaker.Pump(20);
        filler.End(e => over = true); // it is full
        while (!over) matchmaker.Pump(20);
        Environment.Exit(0); // at the end of Main, Mono may wait for its network threads
    }
}
