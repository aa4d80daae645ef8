using Matchmaking;
using Matchmaking.Unity;
using System.Collections.Generic;
using UnityEngine;

/// <summary>Makes a party of two, or joins it by its code, and searches a match for both.</summary>
public sealed class PartySearch : MonoBehaviour
{
    public string url = "http://127.0.0.1:8080";
    public string project = "demo";
    public string token;
    [Tooltip("Empty: a party is made, and its code is logged.")]
    public string code;

    async void Start()
    {
        var matchmaker = MatchmakerBehaviour.Create(new Options
        {
            Url = url, Project = project, Token = (why, reply) => reply(token, null),
        }).Matchmaker;
        var skill = new Dictionary<string, double> { ["skill"] = 1200 };
        var own = new MemberOptions { Attributes = skill };
        try
        {
            var party = code == "" ? await matchmaker.CreatePartyAsync(own, 2) : await matchmaker.JoinPartyAsync(code, own);
            Debug.Log("code " + party.State.Code);
            party.OnUpdate(u =>
            {
                if (u.State == PartyState.Left) Debug.Log("left: " + u.Reason);
                if (u.State == PartyState.Party && party.Leads && u.Party.Members.Count == 2 && party.Search == null)
                {
                    party.Start(new SearchOptions { Attributes = skill });
                }
                if (u.State == PartyState.Search) Play(u.Search); // all members follow the same ticket
            });
        }
        catch (MatchmakingException e)
        {
            Debug.LogWarning(e.Error.PlayerMessage);
        }
    }

    static void Play(Search search) => search.OnUpdate(u =>
    {
        if (u.State == SearchState.Matched) Debug.Log("connection " + u.Match.Connection);
        if (u.State == SearchState.Failed) Debug.LogWarning(u.Error.PlayerMessage);
    });
}
