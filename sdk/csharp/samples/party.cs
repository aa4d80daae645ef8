// Makes a party of two, or joins it by its code, and searches a match for both:
// MM_TOKEN=$(mm token player ada) mono party.exe and then MM_TOKEN=$(mm token player bob) mono party.exe CODE
using System;
using System.Collections.Generic;
using Matchmaking;

static class PartyOfTwo
{
    static bool over;

    static void Main(string[] args)
    {
        var matchmaker = new Matchmaker(new Options
        {
            Url = Environment.GetEnvironmentVariable("MM_URL"),
            Project = Environment.GetEnvironmentVariable("MM_PROJECT"),
            Token = (why, reply) => reply(Environment.GetEnvironmentVariable("MM_TOKEN"), null), // a game asks its backend
            Transport = new HttpTransport(),
        });
        var own = new MemberOptions { Attributes = new Dictionary<string, double> { ["skill"] = 1200 } };
        if (args.Length > 0) matchmaker.JoinParty(args[0], own, Follow);
        else matchmaker.CreateParty(own, 2, Follow);
        while (!over) matchmaker.Pump(20);
        Environment.Exit(0); // at the end of Main, Mono may wait for its network threads
    }

    static void Follow(Result<Party> r)
    {
        if (r.Error != null)
        {
            Console.Error.WriteLine(r.Error.PlayerMessage);
            over = true;
            return;
        }
        var party = r.Value;
        var ended = false;
        Console.WriteLine("code " + party.State.Code);
        party.OnUpdate(u =>
        {
            if (u.State == PartyState.Left) over = true;
            if (u.State == PartyState.Party && ended && u.Party.Members.Count == 1) party.Leave();
            if (u.State == PartyState.Party && party.Leads && u.Party.Members.Count == 2 && party.Search == null)
            {
                party.Start(new SearchOptions { Attributes = new Dictionary<string, double> { ["skill"] = 1200 } });
            }
            if (u.State != PartyState.Search) return;
            u.Search.OnUpdate(s => // all members follow the same ticket
            {
                if (s.State == SearchState.Matched) Console.WriteLine("connection " + s.Match.Connection);
                ended = s.Ended;
                // The party forgets its search when a member leaves: the leader leaves last, so that all have seen it.
                if (ended && (!party.Leads || party.State.Members.Count == 1)) party.Leave();
            });
        });
    }
}
