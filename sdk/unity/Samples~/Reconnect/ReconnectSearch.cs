using Matchmaking;
using Matchmaking.Unity;
using System.Collections.Generic;
using UnityEngine;

/// <summary>Searches a match, and after a crash goes on with the same search or match.</summary>
public sealed class ReconnectSearch : MonoBehaviour
{
    public string url = "http://127.0.0.1:8080";
    public string project = "demo";
    public string token;

    Matchmaker matchmaker;

    async void Start()
    {
        matchmaker = MatchmakerBehaviour.Create(new Options
        {
            Url = url, Project = project, Token = (why, reply) => reply(token, null),
        }).Matchmaker;
        try
        {
            var attributes = new Dictionary<string, double> { ["skill"] = 1200 };
            var search = await matchmaker.RestoreAsync() ?? matchmaker.Search(new SearchOptions { Attributes = attributes });
            var match = await search.MatchAsync(u => Debug.Log(u.State));
            Debug.Log("connection " + match.Connection);
        }
        catch (MatchmakingException e)
        {
            Debug.LogWarning(e.Error.PlayerMessage);
        }
    }

    /// <summary>The match is over: there is nothing to go on with.</summary>
    public void Over() => matchmaker.Forget();
}
