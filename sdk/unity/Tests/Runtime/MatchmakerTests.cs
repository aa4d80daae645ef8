using System;
using System.Collections;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Matchmaking.Unity;
using NUnit.Framework;
using UnityEngine;
using UnityEngine.TestTools;

namespace Matchmaking.Tests
{
    /// <summary>The layer between the client and Unity, with the service in memory.</summary>
    public sealed class MatchmakerTests
    {
        readonly List<MatchmakerBehaviour> players = new List<MatchmakerBehaviour>();

        /// <summary>The service in memory, asked by an object of a scene.</summary>
        MatchmakerBehaviour Player(FakeService fake, string name)
        {
            var o = fake.Options(name);
            o.Storage = new PlayerPrefsStorage("test of " + name);
            var player = MatchmakerBehaviour.Create(o);
            players.Add(player);
            return player;
        }

        [TearDown]
        public void End()
        {
            foreach (var p in players)
            {
                p.Matchmaker?.Forget();
                UnityEngine.Object.DestroyImmediate(p.gameObject);
            }
            players.Clear();
        }

        static IEnumerator Until(Func<bool> holds)
        {
            for (var frames = 0; frames < 6000 && !holds(); frames++) yield return null;
            Assert.IsTrue(holds());
        }

        [UnityTest]
        public IEnumerator MatchIsAwaited()
        {
            var fake = new FakeService(100);
            var states = new List<SearchState>();
            var match = Player(fake, "ada").Matchmaker.Search().MatchAsync(u => states.Add(u.State));
            yield return Until(() => fake.Waiting.Count == 1);
            fake.Match(new[] { "ada" }, new FakeMatch { Connection = "192.0.2.1:7000" });
            yield return Until(() => match.IsCompleted);
            Assert.AreEqual("192.0.2.1:7000", match.Result.Connection);
            Assert.Contains(SearchState.Searching, states);
        }

        [UnityTest]
        public IEnumerator TokenCancelsTheSearch()
        {
            var fake = new FakeService(100);
            using (var cancel = new CancellationTokenSource())
            {
                var match = Player(fake, "ada").Matchmaker.Search().MatchAsync(null, cancel.Token);
                yield return Until(() => fake.Waiting.Count == 1);
                cancel.Cancel();
                yield return Until(() => match.IsCompleted);
                Assert.IsTrue(match.IsCanceled);
                Assert.AreEqual(0, fake.Waiting.Count);
            }
        }

        [UnityTest]
        public IEnumerator FailureIsThrown()
        {
            var fake = new FakeService(1000) { Gone = true };
            var party = Player(fake, "ada").Matchmaker.JoinPartyAsync("NONE");
            yield return Until(() => party.IsCompleted);
            var thrown = (MatchmakingException)party.Exception.InnerException;
            Assert.AreEqual(Code.Offline, thrown.Error.Code);
        }

        [UnityTest]
        public IEnumerator NothingIsAskedInTheBackground()
        {
            var fake = new FakeService(100);
            var ada = Player(fake, "ada");
            ada.SendMessage("OnApplicationPause", true);
            ada.Matchmaker.Search();
            for (var frames = 0; frames < 60; frames++) yield return null;
            Assert.AreEqual(0, fake.Waiting.Count);
            ada.SendMessage("OnApplicationPause", false);
            yield return Until(() => fake.Waiting.Count == 1);
        }

        [UnityTest]
        public IEnumerator ObjectMayBeDestroyedWithinACallback()
        {
            var fake = new FakeService(100);
            var ada = Player(fake, "ada");
            ada.Matchmaker.Search().OnUpdate(u =>
            {
                if (u.State == SearchState.Matched) UnityEngine.Object.DestroyImmediate(ada.gameObject);
            });
            yield return Until(() => fake.Waiting.Count == 1);
            fake.Match(new[] { "ada" });
            yield return Until(() => ada.Matchmaker == null);
        }

        [UnityTest]
        public IEnumerator CrashLeavesASearch()
        {
            var fake = new FakeService(100);
            var ada = Player(fake, "ada");
            ada.Matchmaker.Search();
            yield return Until(() => fake.Waiting.Count == 1);
            UnityEngine.Object.DestroyImmediate(ada.gameObject);
            Task<Search> again = Player(fake, "ada").Matchmaker.RestoreAsync();
            yield return Until(() => again.IsCompleted);
            var match = again.Result.MatchAsync();
            fake.Match(new[] { "ada" });
            yield return Until(() => match.IsCompleted);
            Assert.AreEqual("127.0.0.1:7777", match.Result.Connection);
        }

        sealed class Listener : IHttpListener
        {
            internal int Status;
            internal bool Ended;

            public void OnHead(int status, Dictionary<string, string> headers) => Status = status;

            public void OnData(byte[] bytes, int count)
            {
            }

            public void OnEnd(string failure) => Ended = failure == null;
        }

        /// <summary>Where streams are kept back, the client goes on with held requests at once.</summary>
        [UnityTest]
        public IEnumerator StreamsAreRefused()
        {
            var transport = new UnityTransport(false);
            var listener = new Listener();
            var call = new HttpCall { Method = "GET", Url = "http://nowhere.invalid" };
            call.Headers.Add(new KeyValuePair<string, string>("Accept", "text/event-stream, application/problem+json"));
            transport.Start(call, listener);
            Assert.AreEqual(0, listener.Status); // it is told within Pump
            yield return null;
            transport.Pump(0);
            Assert.AreEqual(406, listener.Status);
            Assert.IsTrue(listener.Ended);
        }
    }
}
