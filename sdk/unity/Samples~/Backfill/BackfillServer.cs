using Matchmaking;
using Matchmaking.Unity;
using System.Collections.Generic;
using UnityEngine;

/// <summary>A game server keeps its game filled. The token is the server's.</summary>
public sealed class BackfillServer : MonoBehaviour
{
    public string url = "http://127.0.0.1:8080";
    public string project = "demo";
    public string token;
    public string connection = "127.0.0.1:7777";
    public int open = 1;

    Filler filler;

    void Start()
    {
        var renew = Matchmaking.Api.Requests.RenewServerToken();
        Matchmaker matchmaker = null;
        matchmaker = MatchmakerBehaviour.Create(new Options
        {
            Url = url,
            Project = project,
            Token = (why, reply) =>
            {
                if (why == Why.First) reply(token, null); // its allocation's
                else matchmaker.Send(renew, r => reply(r.Value?.Token, r.Error?.Message));
            },
        }).Matchmaker;
        filler = new Filler(matchmaker, new FillOptions
        {
            State = () => new Matchmaking.Api.BackfillRequest
            {
                Connection = connection,
                Queue = "games",
                Attributes = new Dictionary<string, double> { ["open"] = open, ["skill"] = 1200 },
            },
            Join = tickets =>
            {
                open -= tickets.Count;
                if (open == 0) filler.End(); // it is full
            },
            Failed = e => Debug.LogWarning(e),
        });
    }

    /// <summary>A player has left.</summary>
    public void Left()
    {
        open++;
        filler.Changed();
    }
}
