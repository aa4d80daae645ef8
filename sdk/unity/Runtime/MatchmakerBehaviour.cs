using UnityEngine;

namespace Matchmaking.Unity
{
    /// <summary>Pumps a Matchmaker each frame, so that callbacks come on the main thread, and suspends it while the app is
    /// in the background.</summary>
    [DisallowMultipleComponent]
    public sealed class MatchmakerBehaviour : MonoBehaviour
    {
        /// <summary>The service for one player; null after the object is destroyed.</summary>
        public Matchmaker Matchmaker { get; private set; }

        /// <summary>Makes an object that outlives scenes. Where the options name no transport it is UnityWebRequest, where
        /// they name no storage it is a file of the player's.</summary>
        public static MatchmakerBehaviour Create(Options o)
        {
            if (o.Transport == null) o.Transport = new UnityTransport();
            if (o.Storage == null) o.Storage = new UnityStorage();
            var matchmaker = new Matchmaker(o); // what is wrong with the options is thrown before there is an object
            var of = new GameObject("Matchmaker");
            DontDestroyOnLoad(of);
            var behaviour = of.AddComponent<MatchmakerBehaviour>();
            behaviour.Matchmaker = matchmaker;
            return behaviour;
        }

        void Update() => Matchmaker?.Pump();

        void OnApplicationPause(bool paused)
        {
            if (paused) Matchmaker?.Suspend();
            else Matchmaker?.Resume();
        }

        void OnDestroy()
        {
            Matchmaker?.Dispose();
            Matchmaker = null;
        }
    }
}
