namespace Matchmaking
{
    /// <summary>What went wrong, for a game to act on. The set is closed.</summary>
    public enum Code
    {
        /// <summary>No answer came, and the tries are used up.</summary>
        Offline,
        /// <summary>There are too many requests or too few servers, and the tries are used up.</summary>
        Busy,
        /// <summary>There is no token, or the service refused a new one.</summary>
        Token,
        /// <summary>As the service says in Detail; Problem tells conflicts apart.</summary>
        Forbidden,
        NotFound,
        Conflict,
        /// <summary>The game asks for what cannot be.</summary>
        Invalid,
        /// <summary>What came is not the service's answer, or the service failed.</summary>
        Unexpected,
        /// <summary>The search ended without a match; Reason is the service's.</summary>
        Ended,
        /// <summary>The match has an error instead of a connection, which is in Detail.</summary>
        Failed,
        /// <summary>The game cancelled the search.</summary>
        Cancelled,
        /// <summary>The search took longer than the game allows.</summary>
        Timeout,
    }

    /// <summary>Why something failed. Message is for developers, PlayerMessage what the player may be told.</summary>
    public sealed class Error
    {
        public readonly Code Code;
        public readonly string Message;
        /// <summary>The HTTP status, 0 when there was no answer.</summary>
        public int Status;
        /// <summary>The service's text for developers.</summary>
        public string Detail = "";
        /// <summary>The service's own code of the problem, which is finer than Code; empty if it has none.</summary>
        public string Problem = "";
        /// <summary>Why a search ended, or the player left a party, in the service's words.</summary>
        public string Reason = "";
        /// <summary>In how many milliseconds to try again, if that is known.</summary>
        public double? RetryAfter;
        /// <summary>It finds the request in the service's logs.</summary>
        public string CorrelationId = "";
        /// <summary>A try may have been carried out, and no answer said so.</summary>
        public bool Unanswered;

        public Error(Code code, string message)
        {
            Code = code;
            Message = message;
        }

        public override string ToString() => Message;

        /// <summary>The service has no such thing, or no longer; a 404 of something in between does not say
        /// that.</summary>
        internal bool Missing => Status == 404 && Problem != "" && Problem != "notFound";

        /// <summary>The code as a word: offline, busy, not_found, …</summary>
        public string Name => Code == Code.NotFound ? "not_found" : Code.ToString().ToLowerInvariant();

        public string PlayerMessage
        {
            get
            {
                var known = Api.PlayerMessages.Of(Problem);
                if (known != null) return known;
                switch (Code)
                {
                    case Code.Offline: return "The service cannot be reached. Please check your connection and try again.";
                    case Code.Busy: return "Many players are here right now. Please try again in a moment.";
                    case Code.Token: return "Please sign in again.";
                    case Code.Forbidden: return "You cannot do this.";
                    case Code.NotFound: return "This is not there any more.";
                    case Code.Conflict: return "This is not possible right now.";
                    case Code.Ended:
                        if (Reason == "declined") return "You declined the match.";
                        if (Reason == "silent") return "You did not accept the match in time.";
                        if (Reason == "unserved") return "This game mode is not available right now.";
                        return "The search has ended. Please search again.";
                    case Code.Failed: return "No match could be made. Please search again.";
                    case Code.Cancelled: return "The search was cancelled.";
                    case Code.Timeout: return "No match was found in time. Please search again.";
                    case Code.Unexpected: return "Something went wrong. Please try again later.";
                    default: return "Something went wrong.";
                }
            }
        }
    }

    /// <summary>A value, or an error.</summary>
    public sealed class Result<T>
    {
        public readonly T Value;
        public readonly Error Error;

        public Result(T value, Error error = null)
        {
            Value = value;
            Error = error;
        }
    }
}
