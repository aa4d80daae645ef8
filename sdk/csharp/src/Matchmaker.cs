using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;

namespace Matchmaking
{
    /// <summary>Keeps a text over a crash of the game.</summary>
    public interface IStorage
    {
        /// <summary>null if there is none.</summary>
        string Load();
        /// <summary>null: there is nothing to keep any more.</summary>
        void Save(string text);
    }

    /// <summary>A file. One that cannot be written is no reason to end a search. A new text is written beside the last
    /// one before that is removed, so that a crash leaves one of them.</summary>
    public sealed class FileStorage : IStorage
    {
        readonly string path;

        string Fresh => path + ".new";

        public FileStorage(string path)
        {
            this.path = path;
        }

        public string Load()
        {
            try
            {
                return File.ReadAllText(File.Exists(path) ? path : Fresh);
            }
            catch (SystemException)
            {
                return null;
            }
        }

        public void Save(string text)
        {
            try
            {
                if (text == null) File.Delete(Fresh);
                else File.WriteAllText(Fresh, text, new UTF8Encoding(false));
                File.Delete(path);
                if (text != null) File.Move(Fresh, path);
            }
            catch (SystemException)
            {
                // It cannot be gone on with after a crash.
            }
        }
    }

    public sealed class Options
    {
        /// <summary>Scheme, host, port, and a path if the service is below one: https://matchmaker.example</summary>
        public string Url;
        public string Project;
        public TokenSource Token;
        /// <summary>The player for whom a game service acts. A player's token names its player itself.</summary>
        public string Player;
        /// <summary>HttpTransport, or an engine's.</summary>
        public ITransport Transport;
        /// <summary>Keeps what Restore goes on with after a crash; may be null.</summary>
        public IStorage Storage;
        /// <summary>For tests.</summary>
        public IClock Clock;
        /// <summary>From 0 to below 1, for tests.</summary>
        public Func<double> Random;
    }

    /// <summary>The service, for one player. It asks nothing before it is told to. Everything happens within Pump, which a
    /// game calls each frame: it is the only place where callbacks are called. Times are in milliseconds.</summary>
    public sealed class Matchmaker : IDisposable
    {
        /// <summary>How many networks are remembered.</summary>
        const int MaxNetworks = 8;

        internal readonly Connection Connection;
        readonly List<Measurement> measured = new List<Measurement>();

        public Matchmaker(Options o)
        {
            Connection = new Connection(o);
        }

        /// <summary>Ends all requests. Tickets wait on.</summary>
        public void Dispose() => Connection.Close();

        /// <summary>Goes on with everything, and calls callbacks. It waits for the network for so many milliseconds at
        /// most. Within a callback it does nothing.</summary>
        public void Pump(int wait = 0) => Connection.Pump(wait);

        /// <summary>Searches a match. What goes wrong is the search's end.</summary>
        public Search Search(SearchOptions o = null)
        {
            o = o ?? new SearchOptions();
            var body = new Api.CreateTicket
            {
                Attributes = o.Attributes, Properties = o.Carried(), Queues = o.Queues, Players = o.Players, Receipts = o.Receipts,
            };
            return new Search(Connection, (life, tries, done) => Connection.WhoIs(e =>
            {
                if (e != null) done(null, e);
                else Create(body, life, tries, done);
            }), o.Timeout);
        }

        /// <summary>Goes on with a search that the game does not know any more, since it crashed or was closed: the one in
        /// the storage, or else the player's newest ticket, if the project lists them. The value is null if there is none.
        ///
        /// It may have a match already, and that match may be over: when the game server does not know the player,
        /// search.</summary>
        public void Restore(Action<Result<Search>> done) => Connection.WhoIs(e =>
        {
            if (e != null)
            {
                done(new Result<Search>(null, e));
                return;
            }
            var saved = Connection.Load();
            Left(saved, (ticket, error) =>
            {
                if (error == null) Connection.Replace(saved["ticket"].String, saved["key"].String, ticket);
                Search search = null;
                if (ticket != null)
                {
                    search = new Search(Connection, (life, tries, known) => known(ticket, null), SearchOptions.Hour);
                }
                done(new Result<Search>(search, error));
            });
        });

        /// <summary>The match is over: there is nothing to go on with.</summary>
        public void Forget() => Connection.Save(null);

        /// <summary>Makes a party, which the player leads. size is how many members it may have.</summary>
        public void CreateParty(MemberOptions o, long? size, Action<Result<Party>> done)
        {
            var m = (o ?? new MemberOptions()).Membership();
            var body = new Api.CreateParty
            {
                Attributes = m.Attributes, Properties = m.Properties, Ready = m.Ready, Receipts = m.Receipts, Size = size,
            };
            Enter(Api.Requests.CreateParty(body), done, error =>
            {
                if (!error.Unanswered)
                {
                    done(new Result<Party>(null, error));
                    return;
                }
                Connection.Ask(Api.Requests.MyParty(), new SendOptions(), (p, e) =>
                {
                    var own = e == null && p.Leader == Connection.Player && p.Members.Count == 1;
                    done(own ? new Result<Party>(new Party(Connection, p)) : new Result<Party>(null, error)); // its answer was lost
                });
            });
        }

        /// <summary>Joins the party with a code, as people type it.</summary>
        public void JoinParty(string code, MemberOptions o, Action<Result<Party>> done)
        {
            var m = (o ?? new MemberOptions()).Membership();
            var body = new Api.JoinParty
            {
                Code = code, Attributes = m.Attributes, Properties = m.Properties, Ready = m.Ready, Receipts = m.Receipts,
            };
            Enter(Api.Requests.JoinParty(body), done, error => done(new Result<Party>(null, error)));
        }

        /// <summary>The player's party, null if there is none.</summary>
        public void Party(Action<Result<Party>> done) => Enter(Api.Requests.MyParty(), done,
            error => done(new Result<Party>(null, error.Missing ? null : error)));

        /// <summary>How far each region is from this device. It is measured where that is not known of the network, and
        /// kept for half of the time that the service believes receipts.</summary>
        public void Measure(MeasureOptions o, Action<Result<List<Latency>>> done)
        {
            o = o ?? new MeasureOptions();
            var of = measured.Find(m => m.Network == (o.Network ?? ""));
            var going = of != null && of.Running && !o.Anew;
            if (of == null || o.Anew || !of.Known)
            {
                measured.Remove(of);
                if (measured.Count == MaxNetworks) measured.RemoveAt(0);
                measured.Add(of = new Measurement(Connection, o));
            }
            of.Waiting.Add(done);
            if (!going) Connection.Add(of);
        }

        /// <summary>The app goes to the background: nothing is asked until it comes back.</summary>
        public void Suspend()
        {
            Connection.Suspended = true;
            Connection.Wake();
        }

        /// <summary>The app is back: whatever is awaited is asked for at once.</summary>
        public void Resume()
        {
            Connection.Suspended = false;
            Connection.Wake();
        }

        /// <summary>Sends a request of the API as it is, such as Api.Requests.GetTicket.</summary>
        public void Send<T>(Request<T> request, Action<Result<T>> done = null) =>
            Connection.Send(request, new SendOptions(), (json, error) =>
                done?.Invoke(new Result<T>(error == null ? request.Read(json) : default(T), error)));

        void Enter(Request<Api.Party> request, Action<Result<Party>> done, Action<Error> failed) => Connection.WhoIs(e =>
        {
            if (e != null)
            {
                failed(e);
                return;
            }
            Connection.Ask(request, new SendOptions(), (p, error) =>
            {
                if (error != null) failed(error);
                else done(new Result<Party>(new Party(Connection, p)));
            });
        });

        /// <summary>Creates a ticket. A create whose answer was lost makes one ticket, by its key, which is the player's
        /// own.</summary>
        void Create(Api.CreateTicket body, Life life, Life tries, Action<string, Error> done)
        {
            var key = Guid.NewGuid().ToString("N");
            var before = Connection.Load()["ticket"].String;
            Connection.Save(null, key);
            var request = Api.Requests.CreateTicket(body, idempotencyKey: "\"" + key + "\"");
            Connection.Send(request, new SendOptions { Life = life, Tries = tries, Object = true }, (json, error) =>
            {
                var id = json?["id"].String;
                if (error == null && string.IsNullOrEmpty(id))
                {
                    done(null, new Error(Code.Unexpected, "the answer to the create has no id"));
                }
                else if (error == null) Made(key, id, done);
                else if (error.Unanswered) Find(key, null, life, t => true, (found, e) =>
                {
                    if (found != null)
                    {
                        Made(key, found, done);
                        return;
                    }
                    error.Unanswered = e != null; // else there is no ticket
                    if (e == null) Connection.Replace(null, key, before);
                    done(null, error);
                });
                else
                {
                    Connection.Replace(null, key, before); // the player may have that ticket still
                    done(null, error);
                }
            });
        }

        void Made(string key, string ticket, Action<string, Error> done)
        {
            Connection.Replace(null, key, ticket);
            done(ticket, null);
        }

        static bool GoesOn(Api.Ticket t) => string.IsNullOrEmpty(t.Assignment?.Error);

        /// <summary>The first ticket with a key, or of a player, that is as asked for; null if there is none.</summary>
        void Find(string key, string player, Life life, Func<Api.Ticket, bool> goes, Action<string, Error> done) =>
            Connection.Ask(Api.Requests.GetTicket(key: key, player: player), new SendOptions { Life = life }, (json, error) =>
            {
                var list = error == null ? Api.TicketList.Read(json).Tickets : null;
                done((list ?? new List<Api.Ticket>()).Where(t => t != null).FirstOrDefault(goes)?.Id, error);
            });

        /// <summary>The ticket to go on with; null if there is none.</summary>
        void Left(Json saved, Action<string, Error> done)
        {
            var id = saved["ticket"].String;
            var key = saved["key"].String;
            if (id != null) Connection.Ask(Api.Requests.GetTicket(id), new SendOptions(), (json, error) =>
            {
                var ticket = error == null ? Api.Ticket.Read(json) : null;
                if (ticket != null && GoesOn(ticket)) done(ticket.Id, null);
                else if (error != null && !error.Missing) done(null, error);
                else Newest(done);
            });
            else if (key != null) Find(key, null, null, t => true, (ticket, error) =>
            {
                if (ticket != null || error != null) done(ticket, error);
                else Newest(done);
            });
            else Newest(done);
        }

        /// <summary>The player's newest ticket to go on with, if the project lists them.</summary>
        void Newest(Action<string, Error> done)
        {
            if (Connection.Player == "") done(null, null);
            else Find(null, Connection.Player, null, GoesOn,
                (ticket, error) => done(ticket, error?.Problem == "ticketsNotListed" ? null : error));
        }
    }
}
