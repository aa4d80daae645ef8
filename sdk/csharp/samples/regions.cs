// Measures how far the regions are, lets the player pick one, and searches a match in its queue:
// MM_TOKEN=$(mm token player ada) mono regions.exe eu-west
using System;
using System.Collections.Generic;
using System.Linq;
using Matchmaking;

static class RegionPicker
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
        Result<List<Latency>> measured = null;
        matchmaker.Measure(null, r => measured = r); // kept: another call measures only when they are old
        while (measured == null) matchmaker.Pump(20);
        if (measured.Error != null)
        {
            Console.Error.WriteLine(measured.Error.PlayerMessage);
            return;
        }
        foreach (var l in measured.Value) Console.WriteLine("region {0} {1} {2} of {3} lost", l.Region, l.Rtt, l.Lost, l.Sent);
        if (args.Length == 0) return;
        var search = matchmaker.Search(new SearchOptions
        {
            Queues = new List<string> { args[0] },
            Attributes = new Dictionary<string, double> { ["skill"] = 1200 },
            Receipts = measured.Value.SelectMany(l => l.Receipts).ToList(),
        });
        while (!search.Current.Ended) matchmaker.Pump(20);
        Console.WriteLine("connection " + search.Current.Match?.Connection);
        Environment.Exit(0); // at the end of Main, Mono may wait for its network threads
    }
}
