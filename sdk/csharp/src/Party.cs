using System;

namespace Matchmaking
{
    /// <summary>What a member says of itself.</summary>
    public sealed class MemberOptions : Values
    {
        /// <summary>Whether the search may begin as far as the member is concerned.</summary>
        public bool Ready = true;

        internal Api.PartyMembership Membership() => new Api.PartyMembership
        {
            Attributes = Attributes, Properties = Carried(), Ready = Ready, Receipts = Receipts,
        };
    }

    public enum PartyState
    {
        Party,
        /// <summary>The leader has begun a search. Each member follows it.</summary>
        Search,
        /// <summary>The end for the player.</summary>
        Left,
    }

    /// <summary>What happens to a party.</summary>
    public sealed class PartyUpdate
    {
        public PartyState State;
        public Api.Party Party;
        public Search Search;
        /// <summary>Why it was left: left, kicked, disbanded, silent or gone.</summary>
        public string Reason;
        public Error Error;
    }

    /// <summary>Players who search together. It is followed until the player leaves.</summary>
    public sealed class Party : IJob, IFollowed
    {
        readonly Connection c;
        readonly Life life = new Life();
        Action<PartyUpdate> on;
        PartyUpdate last;
        bool unheard = true;
        bool running;
        bool leaving;
        string ticket = "";

        /// <summary>The party as it is known.</summary>
        public Api.Party State { get; private set; }
        /// <summary>The last search, null if there was none since the members are these.</summary>
        public Search Search { get; private set; }
        public bool Leads => State.Leader == c.Player;

        internal Party(Connection c, Api.Party state)
        {
            this.c = c;
            State = state;
            last = new PartyUpdate { Party = state };
            Again();
            c.Add(new Follow(c, this, life));
            if (Searched()) TellSearch();
        }

        /// <summary>Is told of updates; of the last one, too.</summary>
        public void OnUpdate(Action<PartyUpdate> f)
        {
            on = f;
            unheard = true;
            Again();
        }

        /// <summary>Says anew what the player carries, and whether it is ready.</summary>
        public void Update(MemberOptions o, Action<Error> done = null) =>
            Change(Api.Requests.UpdatePartyMember(State.Id, c.Player, o.Membership()), done);

        /// <summary>The leader searches a match for all, when all are ready.</summary>
        public void Start(SearchOptions o, Action<Error> done = null)
        {
            var body = new Api.StartPartySearch
            {
                Attributes = o.Attributes, Properties = o.Carried(), Queues = o.Queues,
            };
            Change(Api.Requests.StartPartySearch(State.Id, body), done);
        }

        /// <summary>The leader ends the search.</summary>
        public void Stop(Action<Error> done = null) => Change(Api.Requests.StopPartySearch(State.Id), done);

        /// <summary>The leader hands over.</summary>
        public void Promote(string player, Action<Error> done = null) =>
            Change(Api.Requests.SetPartyLeader(State.Id, new Api.SetPartyLeader { Player = player }), done);

        /// <summary>The leader removes a member, who cannot join again. The party has another code then.</summary>
        public void Kick(string player, Action<Error> done = null) =>
            Change(Api.Requests.LeaveParty(State.Id, player), done);

        /// <summary>The leader gives the party another code.</summary>
        public void RenewCode(Action<Error> done = null) => Change(Api.Requests.RenewPartyCode(State.Id), done);

        /// <summary>The player leaves.</summary>
        public void Leave(Action<Error> done = null) => GoAway(Api.Requests.LeaveParty(State.Id, c.Player), "left", done);

        /// <summary>The leader ends the party.</summary>
        public void Disband(Action<Error> done = null) => GoAway(Api.Requests.DisbandParty(State.Id), "disbanded", done);

        bool IJob.Step()
        {
            if (unheard && on != null)
            {
                if (last.State == PartyState.Search) on(new PartyUpdate { Party = State });
                unheard = false;
                on(last);
            }
            running = life.On;
            return !running;
        }

        AnyRequest IFollowed.Events(string from) => Api.Requests.FollowParty(State.Id, lastEventId: from);

        bool IFollowed.Take(string kind, Json data)
        {
            if (kind == "party") See(data);
            else if (kind == "ended") End(data["reason"].String ?? "gone");
            return !life.On;
        }

        void IFollowed.Poll(string prefer, Action<Error, bool> done)
        {
            var request = Api.Requests.GetParty(State.Id, ifNoneMatch: "\"" + State.Revision + "\"", prefer: prefer);
            c.Send(request, new SendOptions { Life = life, Unchanged = true }, (json, error) =>
            {
                var gone = error != null && error.Missing;
                try
                {
                    if (error == null) See(json);
                    else if (gone && !leaving) End("gone");
                }
                finally
                {
                    done(gone ? null : error, !life.On); // a callback may throw
                }
            });
        }

        void IFollowed.Lost(Error error) => End("gone", error);

        void Again()
        {
            if (running) return;
            running = true;
            c.Add(this);
        }

        /// <summary>Sends a request that is answered with the party.</summary>
        void Change(AnyRequest request, Action<Error> done) => c.Send(request, new SendOptions(), (json, error) =>
        {
            if (error == null) See(json);
            done?.Invoke(error);
        });

        void GoAway(AnyRequest request, string reason, Action<Error> done)
        {
            leaving = true;
            c.Send(request, new SendOptions(), (json, error) =>
            {
                leaving = false;
                if (error != null && error.Missing) error = null;
                if (error == null) End(reason);
                done?.Invoke(error);
            });
        }

        /// <summary>Learns how the party is. What is older than what is known is left out.</summary>
        void See(Json told)
        {
            if (!life.On || told["revision"].Kind != JsonKind.Number) return;
            var party = Api.Party.Read(told);
            var known = State.Revision;
            if (party.Revision < known) return;
            State = party;
            var begun = Searched(); // so that the game does not begin another search when it is told of the party
            if (party.Revision > known) Tell(new PartyUpdate());
            if (begun) TellSearch();
        }

        void TellSearch() => Tell(new PartyUpdate { State = PartyState.Search, Search = Search });

        /// <summary>Follows the party's search, and returns whether it is another one.</summary>
        bool Searched()
        {
            var now = State.Search?.Ticket ?? "";
            if (now == ticket) return false;
            ticket = now;
            Search = null;
            if (now == "") return false;
            Begin begin = (life, tries, done) =>
            {
                c.Save(now);
                done(now, null);
            };
            Search = new Search(c, begin, SearchOptions.Hour);
            return true;
        }

        void End(string reason, Error error = null)
        {
            if (!life.On) return;
            life.On = false;
            Tell(new PartyUpdate { State = PartyState.Left, Reason = reason, Error = error });
        }

        void Tell(PartyUpdate u)
        {
            u.Party = State;
            last = u;
            unheard = on == null;
            on?.Invoke(u);
        }
    }
}
