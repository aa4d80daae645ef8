using Matchmaking;
using Matchmaking.Unity;
using System.Collections.Generic;
using UnityEngine;

/// <summary>Searches a match as soon as the scene begins.</summary>
public sealed class SimpleSearch : MonoBehaviour
{
    public string url = "http://127.0.0.1:8080";
    public string project = "demo";
    [Tooltip("For trying out: a game asks its own backend.")]
    public string token;

    Search search;

    async void Start()
    {
        var matchmaker = MatchmakerBehaviour.Create(new Options
        {
            Url = url, Project = project, Token = (why, reply) => reply(token, null),
        }).Matchmaker;
        search = matchmaker.Search(new SearchOptions { Attributes = new Dictionary<string, double> { ["skill"] = 1200 } });
        try
        {
            var match = await search.MatchAsync(u => Debug.Log(u.State));
            Debug.Log("connection " + match.Connection); // give match.Seat to the game server
        }
        catch (MatchmakingException e)
        {
            Debug.LogWarning(e.Error.PlayerMessage);
        }
        catch (System.OperationCanceledException)
        {
            Debug.Log("cancelled");
        }
    }

    /// <summary>For a button.</summary>
    public void Cancel() => search?.Cancel();
}
