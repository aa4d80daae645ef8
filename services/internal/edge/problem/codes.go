// Code generated from openapi.yaml. DO NOT EDIT.

package problem

// The codes. The first of each status is the kind of the others.
const (
	Internal Code = iota
	Invalid
	Unauthenticated
	Forbidden
	NotFound
	MethodNotAllowed
	NotAcceptable
	Conflict
	TooLarge
	Unsupported
	IdempotencyKeyReused
	Limited
	Unavailable
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
	EtagMismatch
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
)

var definitions = [...]Definition{
	{"internal", 500, false, "The service failed. Its log has the cause under the correlation id.", "Something went wrong."},
	{"invalid", 400, false, "`detail` names the member, parameter or header that is wrong.", "Something went wrong."},
	{"unauthenticated", 401, false, "There is no token, or not a good one.", "Please sign in again."},
	{"forbidden", 403, false, "The token is good, but not for this: another kind, role or scope is needed.", "You cannot do this."},
	{"notFound", 404, false, "There is no such thing, or no such path.", "This is not there any more."},
	{"methodNotAllowed", 405, false, "The path does not take the method.", "Something went wrong."},
	{"notAcceptable", 406, false, "`Accept` admits no representation that there is.", "Something went wrong."},
	{"conflict", 409, false, "What there is does not allow this; `detail` says what.", "This is not possible right now."},
	{"tooLarge", 413, false, "The body or the headers are too large.", "Something went wrong."},
	{"unsupported", 415, false, "The content type, or an encoding, is not one that the service reads.", "Something went wrong."},
	{"idempotencyKeyReused", 422, false, "Another request was sent with this `Idempotency-Key`.", "Something went wrong."},
	{"limited", 429, true, "Too much is done at the same time, or this was done too often.", "Please wait a moment and try again."},
	{"unavailable", 503, true, "Something that the service depends on did not answer, or is full.", "The service cannot be reached right now. Please try again later."},
	{"queueUnserved", 400, false, "No config serves the queues of the ticket.", "This game mode is not available right now."},
	{"tokenExpired", 401, false, "The token has expired: send the request again with a new one.", "Please sign in again."},
	{"wrongProject", 403, false, "The token is for other projects.", "You cannot do this."},
	{"notLeader", 403, false, "Only the leader of the party does this.", "Only the leader of the party can do this."},
	{"allocationEnded", 403, false, "The allocation of the game server has ended: its token is not renewed.", "The match is over."},
	{"ticketNotFound", 404, false, "There is no such ticket, no longer, or it is another player's.", "Your search has ended."},
	{"partyNotFound", 404, false, "The player is in no party, or not in this one.", "You are not in this party."},
	{"partyCodeUnknown", 404, false, "No party can be joined with the code.", "This code does not work. Please ask for the current one."},
	{"memberNotFound", 404, false, "The player is no member of the party.", "This player is not in the party."},
	{"backfillNotFound", 404, false, "There is no such backfill ticket, or no longer: create another one.", "This is not there any more."},
	{"configNotFound", 404, false, "There is no such config.", "This is not there any more."},
	{"functionNotFound", 404, false, "There is no such match function.", "This is not there any more."},
	{"etagMismatch", 409, false, "It is not what `If-Match` or `If-None-Match` wants, or was changed meanwhile: get it again.", "Someone else has changed this."},
	{"playerHasTicket", 409, false, "A player of the ticket has as many tickets as the project allows.", "You are in a search already."},
	{"ticketMatched", 409, false, "The ticket has its result already: get it.", "It is too late to cancel: your match is ready."},
	{"playerSilent", 409, false, "A player missed a match, and was not heard of since.", "A player of your party is away."},
	{"ticketsNotListed", 409, false, "The settings of the project list no tickets of players.", "Something went wrong."},
	{"acceptanceOpen", 409, true, "A match asks the players of the party whether they accept it: join when they have answered.", "This party is about to get a match. Please try again in a moment."},
	{"acceptanceOver", 409, false, "The match does not ask the players of the ticket, or no longer.", "It is too late to answer."},
	{"alreadyInParty", 409, false, "The player is in a party, and must leave it first.", "You are in a party already. Please leave it first."},
	{"partyFull", 409, false, "The party has as many members as it may.", "The party is full."},
	{"memberNotReady", 409, false, "A member of the party is not ready.", "Not everyone in the party is ready."},
	{"membershipOutdated", 409, false, "A member must send its attributes and properties again: the settings have changed, or its token has expired.", "Not everyone in the party is ready."},
	{"tooManyKicks", 409, false, "The party has removed as many players as it may: end it and make another one.", "This party can remove nobody else. Please make a new one."},
	{"playerLimited", 429, true, "The player, or the caller, does this too often.", "Please wait a moment and try again."},
	{"projectLimited", 429, true, "The project does this too often.", "Many players are here right now. Please try again in a moment."},
	{"tooManyTickets", 429, true, "Too many tickets of the project are stored, or they take too much memory.", "Many players are here right now. Please try again in a moment."},
	{"tooManyParties", 429, true, "The project has as many parties as it may.", "Many players are here right now. Please try again in a moment."},
	{"tooManyStreams", 429, true, "Too many streams are open: go on with the requests that `detail` names.", "Please wait a moment and try again."},
	{"paused", 429, true, "A player declined a match, or did not answer it, and gets no ticket until `Retry-After` is over.", "You, or a member of your party, missed a match. Please wait before you search again."},
	{"matchUnknown", 404, false, "No result of this match is awaited: its config asks for none, it has not begun, or it was over long ago.", "This is not there any more."},
	{"resultFinal", 409, false, "The first result of the match is more than a day old: it cannot be corrected any more.", "Something went wrong."},
	{"playerInMatch", 409, false, "The player is in a match without a result, and the project's settings refuse another search (`tickets.running`). `detail` names the match.", "You are still in a match. Please go back to it."},
}
