using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Matchmaking.Unity
{
    /// <summary>Why an awaited call failed.</summary>
    public sealed class MatchmakingException : Exception
    {
        public readonly Error Error;

        public MatchmakingException(Error error) : base(error.Message)
        {
            Error = error;
        }
    }

    /// <summary>Calls to await, on the main thread. No thread waits for them.</summary>
    public static class Async
    {
        /// <summary>The match of a search; show is told of its updates. To cancel ends the search, unless it is too late:
        /// then there is the match. Cancel on the main thread.</summary>
        public static Task<Match> MatchAsync(this Search search, Action<Update> show = null,
            CancellationToken cancel = default(CancellationToken))
        {
            var ends = new TaskCompletionSource<Match>();
            var asked = cancel.Register(() => search.Cancel());
            search.OnUpdate(u =>
            {
                show?.Invoke(u);
                if (!u.Ended) return;
                asked.Dispose();
                if (u.State == SearchState.Matched) ends.TrySetResult(u.Match);
                else if (u.State == SearchState.Cancelled) ends.TrySetCanceled();
                else ends.TrySetException(new MatchmakingException(u.Error));
            });
            return ends.Task;
        }

        /// <summary>The search that a crash left, or null.</summary>
        public static Task<Search> RestoreAsync(this Matchmaker m) => Of<Search>(m.Restore);

        public static Task<Party> CreatePartyAsync(this Matchmaker m, MemberOptions o = null, long? size = null) =>
            Of<Party>(done => m.CreateParty(o, size, done));

        public static Task<Party> JoinPartyAsync(this Matchmaker m, string code, MemberOptions o = null) =>
            Of<Party>(done => m.JoinParty(code, o, done));

        /// <summary>The player's party, or null.</summary>
        public static Task<Party> PartyAsync(this Matchmaker m) => Of<Party>(m.Party);

        public static Task<List<Latency>> MeasureAsync(this Matchmaker m, MeasureOptions o = null) =>
            Of<List<Latency>>(done => m.Measure(o, done));

        public static Task<T> SendAsync<T>(this Matchmaker m, Request<T> request) => Of<T>(done => m.Send(request, done));

        static Task<T> Of<T>(Action<Action<Result<T>>> ask)
        {
            var ends = new TaskCompletionSource<T>();
            ask(r =>
            {
                if (r.Error == null) ends.TrySetResult(r.Value);
                else ends.TrySetException(new MatchmakingException(r.Error));
            });
            return ends.Task;
        }
    }
}
