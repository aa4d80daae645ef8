package problem

import "net/http"

// Code says what sort of failure an error is. Answers have its name, so the codes are a closed set: clients of this
// version know them all.
type Code uint8

// The general codes, one for each HTTP status. Each is the kind of the errors that have it.
const (
	Internal Code = iota // our mistake
	Invalid
	Unauthenticated
	Forbidden
	NotFound
	Method
	Unacceptable
	Conflict
	TooLarge
	Unsupported
	KeyReused
	Limited
	Unavailable

	// The codes for what a client handles, or tells a player, in another way than the general code of the same status.

	QueueUnserved
	TokenExpired
	WrongProject
	NotLeader
	AllocationEnded
	TicketNotFound
	PartyNotFound
	PartyCodeUnknown
	MemberNotFound
	BackfillNotFound
	ConfigNotFound
	FunctionNotFound
	ETagMismatch
	PlayerHasTicket
	TicketMatched
	PlayerSilent
	TicketsNotListed
	AcceptanceOpen
	AcceptanceOver
	AlreadyInParty
	PartyFull
	MemberNotReady
	MembershipOutdated
	TooManyKicks
	PlayerLimited
	ProjectLimited
	TooManyTickets
	TooManyParties
	TooManyStreams
	Paused
	MatchUnknown
	ResultFinal
	PlayerInMatch

	codes // how many there are
)

// Definition is what a code means. The reference, the OpenAPI document and the clients are made from the definitions.
type Definition struct {
	// Name is the code in answers.
	Name   string
	Status int
	// Retry: the same request may succeed later.
	Retry bool
	// When is a sentence for developers, and Player what a player may be told.
	When, Player string
}

// What players are told of what they can do nothing about.
const (
	wrong = "Something went wrong."
	gone  = "This is not there any more."
	busy  = "Many players are here right now. Please try again in a moment."
	wait  = "Please wait a moment and try again."
)

var definitions = [codes]Definition{
	Internal: {"internal", http.StatusInternalServerError, false,
		"The service failed. Its log has the cause under the correlation id.", wrong},
	Invalid: {"invalid", http.StatusBadRequest, false,
		"`detail` names the member, parameter or header that is wrong.", wrong},
	Unauthenticated: {"unauthenticated", http.StatusUnauthorized, false,
		"There is no token, or not a good one.", "Please sign in again."},
	Forbidden: {"forbidden", http.StatusForbidden, false,
		"The token is good, but not for this: another kind, role or scope is needed.", "You cannot do this."},
	NotFound: {"notFound", http.StatusNotFound, false, "There is no such thing, or no such path.", gone},
	Method:   {"methodNotAllowed", http.StatusMethodNotAllowed, false, "The path does not take the method.", wrong},
	Unacceptable: {"notAcceptable", http.StatusNotAcceptable, false,
		"`Accept` admits no representation that there is.", wrong},
	Conflict: {"conflict", http.StatusConflict, false,
		"What there is does not allow this; `detail` says what.", "This is not possible right now."},
	TooLarge: {"tooLarge", http.StatusRequestEntityTooLarge, false, "The body or the headers are too large.", wrong},
	Unsupported: {"unsupported", http.StatusUnsupportedMediaType, false,
		"The content type, or an encoding, is not one that the service reads.", wrong},
	KeyReused: {"idempotencyKeyReused", http.StatusUnprocessableEntity, false,
		"Another request was sent with this `Idempotency-Key`.", wrong},
	Limited: {"limited", http.StatusTooManyRequests, true,
		"Too much is done at the same time, or this was done too often.", wait},
	Unavailable: {"unavailable", http.StatusServiceUnavailable, true,
		"Something that the service depends on did not answer, or is full.",
		"The service cannot be reached right now. Please try again later."},

	QueueUnserved: {"queueUnserved", http.StatusBadRequest, false,
		"No config serves the queues of the ticket.", "This game mode is not available right now."},
	TokenExpired: {"tokenExpired", http.StatusUnauthorized, false,
		"The token has expired: send the request again with a new one.", "Please sign in again."},
	WrongProject: {"wrongProject", http.StatusForbidden, false,
		"The token is for other projects.", "You cannot do this."},
	NotLeader: {"notLeader", http.StatusForbidden, false,
		"Only the leader of the party does this.", "Only the leader of the party can do this."},
	AllocationEnded: {"allocationEnded", http.StatusForbidden, false,
		"The allocation of the game server has ended: its token is not renewed.", "The match is over."},
	TicketNotFound: {"ticketNotFound", http.StatusNotFound, false,
		"There is no such ticket, no longer, or it is another player's.", "Your search has ended."},
	PartyNotFound: {"partyNotFound", http.StatusNotFound, false,
		"The player is in no party, or not in this one.", "You are not in this party."},
	PartyCodeUnknown: {"partyCodeUnknown", http.StatusNotFound, false,
		"No party can be joined with the code.", "This code does not work. Please ask for the current one."},
	MemberNotFound: {"memberNotFound", http.StatusNotFound, false,
		"The player is no member of the party.", "This player is not in the party."},
	BackfillNotFound: {"backfillNotFound", http.StatusNotFound, false,
		"There is no such backfill ticket, or no longer: create another one.", gone},
	ConfigNotFound:   {"configNotFound", http.StatusNotFound, false, "There is no such config.", gone},
	FunctionNotFound: {"functionNotFound", http.StatusNotFound, false, "There is no such match function.", gone},
	ETagMismatch: {"etagMismatch", http.StatusConflict, false,
		"It is not what `If-Match` or `If-None-Match` wants, or was changed meanwhile: get it again.",
		"Someone else has changed this."},
	PlayerHasTicket: {"playerHasTicket", http.StatusConflict, false,
		"A player of the ticket has as many tickets as the project allows.", "You are in a search already."},
	TicketMatched: {"ticketMatched", http.StatusConflict, false,
		"The ticket has its result already: get it.", "It is too late to cancel: your match is ready."},
	PlayerSilent: {"playerSilent", http.StatusConflict, false,
		"A player missed a match, and was not heard of since.", "A player of your party is away."},
	TicketsNotListed: {"ticketsNotListed", http.StatusConflict, false,
		"The settings of the project list no tickets of players.", wrong},
	AcceptanceOpen: {"acceptanceOpen", http.StatusConflict, true,
		"A match asks the players of the party whether they accept it: join when they have answered.",
		"This party is about to get a match. Please try again in a moment."},
	AcceptanceOver: {"acceptanceOver", http.StatusConflict, false,
		"The match does not ask the players of the ticket, or no longer.", "It is too late to answer."},
	AlreadyInParty: {"alreadyInParty", http.StatusConflict, false,
		"The player is in a party, and must leave it first.", "You are in a party already. Please leave it first."},
	PartyFull: {"partyFull", http.StatusConflict, false,
		"The party has as many members as it may.", "The party is full."},
	MemberNotReady: {"memberNotReady", http.StatusConflict, false,
		"A member of the party is not ready.", "Not everyone in the party is ready."},
	MembershipOutdated: {"membershipOutdated", http.StatusConflict, false,
		"A member must send its attributes and properties again: the settings have changed, or its token has expired.",
		"Not everyone in the party is ready."},
	TooManyKicks: {"tooManyKicks", http.StatusConflict, false,
		"The party has removed as many players as it may: end it and make another one.",
		"This party can remove nobody else. Please make a new one."},
	PlayerLimited: {"playerLimited", http.StatusTooManyRequests, true,
		"The player, or the caller, does this too often.", wait},
	ProjectLimited: {"projectLimited", http.StatusTooManyRequests, true,
		"The project does this too often.", busy},
	TooManyTickets: {"tooManyTickets", http.StatusTooManyRequests, true,
		"Too many tickets of the project are stored, or they take too much memory.", busy},
	TooManyParties: {"tooManyParties", http.StatusTooManyRequests, true,
		"The project has as many parties as it may.", busy},
	TooManyStreams: {"tooManyStreams", http.StatusTooManyRequests, true,
		"Too many streams are open: go on with the requests that `detail` names.", wait},
	Paused: {"paused", http.StatusTooManyRequests, true,
		"A player declined a match, or did not answer it, and gets no ticket until `Retry-After` is over.",
		"You, or a member of your party, missed a match. Please wait before you search again."},
	MatchUnknown: {"matchUnknown", http.StatusNotFound, false,
		"No result of this match is awaited: its config asks for none, it has not begun, or it was over long ago.", gone},
	ResultFinal: {"resultFinal", http.StatusConflict, false,
		"The first result of the match is more than a day old: it cannot be corrected any more.", wrong},
	PlayerInMatch: {"playerInMatch", http.StatusConflict, false,
		"The player is in a match without a result, and the project's settings refuse another search (`tickets.running`). " +
			"`detail` names the match.", "You are still in a match. Please go back to it."},
}

// Definitions are what all codes mean, in the order of the codes.
func Definitions() []Definition { return definitions[:] }

// String is the name of a code.
func (c Code) String() string { return definitions[c].Name }

// Status is the HTTP status of a code.
func (c Code) Status() int { return definitions[c].Status }

// Kind is the general code of the same status.
func (c Code) Kind() Code { return OfStatus(c.Status()) }

// OfStatus is the general code of an HTTP status, or of the nearest one that has a code.
func OfStatus(status int) Code {
	for c, d := range definitions {
		if d.Status == status {
			return Code(c)
		}
	}
	switch {
	case status == http.StatusRequestHeaderFieldsTooLarge:
		return TooLarge
	case status == http.StatusExpectationFailed, status == http.StatusNotImplemented,
		status == http.StatusHTTPVersionNotSupported:
		return Unsupported
	case status > http.StatusInternalServerError:
		return Unavailable // a gateway's
	}
	return Invalid
}
