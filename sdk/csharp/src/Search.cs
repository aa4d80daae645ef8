using System;
using System.Collections.Generic;

namespace Matchmaking
{
    /// <summary>What a ticket, or a member of a party, is asked for with.</summary>
    public class Values
    {
        /// <summary>Numbers that pools and rules query.</summary>
        public Dictionary<string, double> Attributes;
        /// <summary>Values for the match function, in any JSON, by name.</summary>
        public Dictionary<string, Json> Json;
        /// <summary>Bytes for the match function.</summary>
        public Dictionary<string, byte[]> Properties;
        /// <summary>The player's latencies to regions in milliseconds, as rules expect them, and what proves
        /// them.</summary>
        public Dictionary<string, double> Latencies;
        public List<string> Receipts;

        /// <summary>All that is not a number, as requests have it.</summary>
        internal Dictionary<string, string> Carried()
        {
            var to = new Dictionary<string, string>();
            if (Properties != null)
            {
                foreach (var p in Properties) to[p.Key] = Convert.ToBase64String(p.Value);
            }
            var values = new Dictionary<string, Json>(Json ?? new Dictionary<string, Json>());
            if (Latencies != null && !values.ContainsKey("latency"))
            {
                values["latency"] = Matchmaking.Json.Of(Latencies, ms => Matchmaking.Json.Of((double?)ms));
            }
            foreach (var v in values)
            {
                to[v.Key] = Convert.ToBase64String(System.Text.Encoding.UTF8.GetBytes(v.Value.ToString()));
            }
            return to.Count > 0 ? to : null;
        }
    }

    /// <summary>What is searched for.</summary>
    public sealed class SearchOptions : Values
    {
        /// <summary>The queues to wait in. The ticket is matched once.</summary>
        public List<string> Queues;
        /// <summary>A game service's: whom the ticket is for.</summary>
        public List<Api.Player> Players;
        /// <summary>After so many milliseconds the search is cancelled.</summary>
        public double Timeout = Hour;

        internal const double Hour = 3600000;
    }

    /// <summary>Where to play.</summary>
    public sealed class Match
    {
        public string Ticket;
        /// <summary>How to connect to the game server.</summary>
        public string Connection;
        /// <summary>The player's seat pass, which the server checks; null if the config has none. It is good for some
        /// minutes.</summary>
        public string Seat;
        /// <summary>A game service's: the passes of all players of the ticket.</summary>
        public Dictionary<string, string> Seats;
        /// <summary>What the match function says for this ticket, and for all.</summary>
        public Dictionary<string, Json> Properties;
        public Dictionary<string, Json> MatchProperties;
    }

    /// <summary>How a search is.</summary>
    public enum SearchState
    {
        Starting,
        /// <summary>The ticket waits, or waits again.</summary>
        Searching,
        /// <summary>A match asks its players.</summary>
        Offered,
        /// <summary>There is a match, and a server is asked for.</summary>
        Preparing,
        // The end:
        Matched, Cancelled, Failed,
    }

    /// <summary>How a search is, and what belongs to its state.</summary>
    public sealed class Update
    {
        public SearchState State;
        public string Ticket;
        /// <summary>Searching: for how much longer, if that is known, and the queues that nobody matches.</summary>
        public Api.Estimate Estimate;
        public List<string> UnservedQueues = new List<string>();
        /// <summary>Offered: the match, until when of the clock Wall to answer, how many players are asked, how many
        /// accepted, and whether the player answered.</summary>
        public string Offer;
        public double Deadline;
        public long Players;
        public long Accepted;
        public bool Answered;
        /// <summary>Matched.</summary>
        public Match Match;
        /// <summary>Failed.</summary>
        public Error Error;

        public bool Ended => State >= SearchState.Matched;
    }

    /// <summary>What became of a cancel: it was cancelled, it was too late and there is a match, or the service did not
    /// answer.</summary>
    public sealed class Cancelled
    {
        public bool IsCancelled => Late == null && Error == null;
        public Match Late;
        public Error Error;
    }

    /// <summary>Creates a ticket, or knows it. After tries it is not tried again.</summary>
    delegate void Begin(Life life, Life tries, Action<string, Error> done);

    /// <summary>A search for a match. It goes on if the game lets go of it.</summary>
    public sealed class Search : IJob, IFollowed
    {
        readonly Connection c;
        readonly double until;
        readonly Life life = new Life();
        readonly Life tries = new Life();
        readonly List<Action<Cancelled>> cancels = new List<Action<Cancelled>>();
        Action<Update> on;
        bool unheard;
        bool running;
        string said;
        string id = "";
        Error createError;
        /// <summary>There is a ticket, or there is none.</summary>
        bool known;
        bool cancelling;
        bool deleting;
        bool late;

        /// <summary>How the search is now.</summary>
        public Update Current { get; private set; }

        internal Search(Connection c, Begin begin, double timeout)
        {
            this.c = c;
            until = c.Clock.Steady + timeout;
            Current = new Update();
            Again();
            begin(life, tries, Created);
        }

        /// <summary>Is told of updates; of the one that is now, too.</summary>
        public void OnUpdate(Action<Update> f)
        {
            on = f;
            unheard = true;
            Again();
        }

        /// <summary>Ends the search, unless it is too late: then there is the match.</summary>
        public void Cancel(Action<Cancelled> done = null)
        {
            if (done != null) cancels.Add(done);
            tries.On = false;
            if (cancelling) return;
            cancelling = true;
            deleting = false;
            Again();
        }

        /// <summary>Accepts the match that was offered last.</summary>
        public void Accept(Action<Error> done = null) => Answer(true, done);

        /// <summary>Declines it: the search ends.</summary>
        public void Decline(Action<Error> done = null) => Answer(false, done);

        /// <summary>For how much longer tickets like this one wait; null if that is not known. Ask every ten seconds at
        /// most.</summary>
        public void Estimate(Action<Result<Api.Estimate>> done) =>
            Read(true, null, null, (t, e) => done(new Result<Api.Estimate>(Api.Ticket.Read(t ?? Json.Null)?.Estimate, e)));

        /// <summary>A new seat pass, to reconnect with.</summary>
        public void Seat(Action<Result<string>> done) => Read(false, null, null, (t, e) =>
        {
            var assignment = Api.Ticket.Read(t ?? Json.Null)?.Assignment;
            done(new Result<string>(assignment == null ? null : MatchOf(assignment).Seat, e));
        });

        /// <summary>Ends the following. The ticket waits on: Cancel ends it, Restore goes on with it.</summary>
        public void Abandon() => life.On = false;

        bool IJob.Step()
        {
            if (unheard) Say();
            if (!life.On && !known)
            {
                Created("", new Error(Code.Cancelled, "the following was ended") { Unanswered = true });
            }
            if (!Current.Ended && life.On && !late && c.Clock.Steady > until)
            {
                late = true;
                Cancel();
            }
            if (cancelling && known && !deleting) Remove();
            running = !Current.Ended && life.On || cancelling || unheard;
            return !running;
        }

        AnyRequest IFollowed.Events(string last) => Api.Requests.FollowTicket(id, lastEventId: last);

        void IFollowed.Poll(string prefer, Action<Error, bool> done) => Look(true, prefer, life, done);

        void IFollowed.Lost(Error error) => Fail(error);

        /// <summary>Takes an event of the stream, or how the ticket is, and returns whether the search has
        /// ended.</summary>
        bool IFollowed.Take(string kind, Json told) => Take(kind, told);

        bool Take(string kind, Json told)
        {
            if (Current.Ended) return true;
            var t = Api.Ticket.Read(told);
            if (t.Assignment != null) Assigned(t.Assignment);
            else if (kind == "ended")
            {
                var reason = told["reason"].String ?? "gone";
                if (cancelling) EndCancelled();
                else Fail(new Error(Code.Ended, "the ticket ended: " + reason) { Reason = reason });
            }
            else if (t.Acceptance != null) Offered(t.Acceptance);
            else if (kind == "matched") Tell(kind, Next(SearchState.Preparing));
            else if (kind == "waiting" || kind == "") Waits(t); // else it is an event of a later version
            return Current.Ended;
        }

        void Again()
        {
            if (running) return;
            running = true;
            c.Add(this);
        }

        void Created(string ticket, Error error)
        {
            known = true;
            id = ticket ?? "";
            createError = error;
            if (Current.Ended || !life.On) return;
            if (error == null) c.Add(new Follow(c, this, life));
            else if (cancelling && !error.Unanswered) EndCancelled();
            else Fail(error);
        }

        void Remove()
        {
            deleting = true;
            if (createError != null || Current.Ended)
            {
                // Without an answer there may be a ticket.
                CancelEnds(createError != null && createError.Unanswered ? createError : null);
                return;
            }
            c.Send(Api.Requests.DeleteTicket(id, unlessAssigned: true), new SendOptions(), (json, error) =>
            {
                if (error == null || Current.Ended) CancelEnds(null);
                else if (!error.Missing && error.Status != 409) CancelEnds(error);
                else Look(false, null, null, (e, ended) => CancelEnds(e ?? (ended ? null : error)));
            });
        }

        /// <summary>Tells what became of a cancel.</summary>
        void CancelEnds(Error e)
        {
            if (e == null) EndCancelled();
            else if (late) Fail(e);
            var outcome = new Cancelled { Error = e, Late = e == null ? Current.Match : null };
            cancelling = false;
            var all = cancels.ToArray();
            cancels.Clear();
            foreach (var done in all) done(outcome);
        }

        void Answer(bool accept, Action<Error> done)
        {
            // Where no match asks, the service says so.
            var body = new Api.MatchAnswer { Match = Current.Offer ?? "", Accept = accept };
            c.Send(Api.Requests.AnswerMatch(id, body), new SendOptions(), (json, error) =>
            {
                // The try before, whose answer was lost, may have been the last answer of all: the updates tell.
                var over = error != null && error.Unanswered && (error.Missing || error.Status == 409);
                done?.Invoke(over ? null : error);
            });
        }

        void Read(bool estimate, string prefer, Life of, Action<Json, Error> done) =>
            c.Send(Api.Requests.GetTicket(id, estimate: estimate ? true : (bool?)null, prefer: prefer),
                new SendOptions { Life = of, Object = true }, done);

        /// <summary>Asks how the ticket is, and whether the search has ended.</summary>
        void Look(bool estimate, string prefer, Life of, Action<Error, bool> done) => Read(estimate, prefer, of, (t, e) =>
        {
            var error = e != null && !e.Missing ? e : null;
            try
            {
                if (error == null) Take(e != null ? "ended" : "", t ?? Json.Object());
            }
            finally
            {
                done(error, error == null && Current.Ended); // a callback may throw
            }
        });

        Update Next(SearchState state) => new Update { State = state, Ticket = id };

        void Waits(Api.Ticket t)
        {
            var u = Next(SearchState.Searching);
            u.UnservedQueues = t.UnservedQueues ?? u.UnservedQueues;
            u.Estimate = t.Estimate ?? Current.Estimate;
            Tell("waiting " + string.Join(" ", u.UnservedQueues) + (u.Estimate == null ? "" : " estimated"), u);
        }

        void Offered(Api.Acceptance a)
        {
            if (Current.State == SearchState.Offered && Current.Offer == a.Match && Current.Accepted > a.Accepted) return; // old
            var u = Next(SearchState.Offered);
            u.Offer = a.Match;
            u.Deadline = c.Clock.Wall + a.Remaining;
            u.Players = a.Players;
            u.Accepted = a.Accepted;
            u.Answered = c.Player != "" && a.Unanswered != null && !a.Unanswered.Contains(c.Player);
            Tell("offered " + a.Match + " " + a.Accepted, u);
        }

        void Assigned(Api.Assignment a)
        {
            if (!string.IsNullOrEmpty(a.Error))
            {
                Fail(new Error(Code.Failed, "the match failed: " + a.Error) { Detail = a.Error });
                return;
            }
            var u = Next(SearchState.Matched);
            u.Match = MatchOf(a);
            End(u);
        }

        Match MatchOf(Api.Assignment a)
        {
            var m = new Match
            {
                Ticket = id,
                Connection = a.Connection,
                Seats = a.Seats ?? new Dictionary<string, string>(),
                Properties = a.Properties ?? new Dictionary<string, Json>(),
                MatchProperties = a.Matchproperties ?? new Dictionary<string, Json>(),
            };
            foreach (var s in m.Seats)
            {
                if (m.Seat == null || s.Key == c.Player) m.Seat = s.Value;
            }
            return m;
        }

        /// <summary>Tells an update that is not told yet.</summary>
        void Tell(string what, Update u)
        {
            if (what == said) return;
            said = what;
            Change(u);
        }

        void Change(Update u)
        {
            Current = u;
            Say();
        }

        void Say()
        {
            unheard = false;
            on?.Invoke(Current);
        }

        void EndCancelled()
        {
            if (late) Fail(new Error(Code.Timeout, "the search took too long"));
            if (Current.Ended) return;
            c.Replace(id, null, null);
            End(Next(SearchState.Cancelled));
        }

        void Fail(Error e)
        {
            if (Current.Ended) return;
            var u = Next(SearchState.Failed);
            u.Error = e;
            if (e.Code == Code.Ended || e.Code == Code.Failed || e.Code == Code.Timeout) c.Replace(id, null, null);
            End(u);
        }

        void End(Update u)
        {
            if (Current.Ended) return;
            life.On = false;
            tries.On = false;
            Change(u);
        }
    }
}
