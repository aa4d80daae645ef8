using Matchmaking;
using Matchmaking.Unity;
using System.Collections.Generic;
using System.Linq;
using UnityEngine;

/// <summary>Measures how far the regions are, and searches a match in the queue of the region that is picked.</summary>
public sealed class RegionPicker : MonoBehaviour
{
    public string url = "http://127.0.0.1:8080";
    public string project = "demo";
    public string token;

    Matchmaker matchmaker;
    List<Latency> measured = new List<Latency>();

    async void Start()
    {
        matchmaker = MatchmakerBehaviour.Create(new Options
        {
            Url = url, Project = project, Token = (why, reply) => reply(token, null),
        }).Matchmaker;
        try
        {
            measured = await matchmaker.MeasureAsync(); // kept: another call measures only when they are old
            foreach (var l in measured) Debug.Log(l.Region + ": " + l.Rtt + " ms");
        }
        catch (MatchmakingException e)
        {
            Debug.LogWarning(e.Error.PlayerMessage);
        }
    }

    /// <summary>For the buttons.</summary>
    public void Pick(string region) => matchmaker.Search(new SearchOptions
    {
        Queues = new List<string> { region },
        Attributes = new Dictionary<string, double> { ["skill"] = 1200 },
        Receipts = measured.SelectMany(l => l.Receipts).ToList(),
    }).OnUpdate(u => Debug.Log(u.State + " " + u.Match?.Connection));
}
