// Code generated from openapi.yaml. DO NOT EDIT.

package client

// The codes of this version. The first of each status is the general one.
const (
	// CodeInternal, 500: The service failed. Its log has the cause under the correlation id.
	CodeInternal Code = "internal"

	// CodeInvalid, 400: `detail` names the member, parameter or header that is wrong.
	CodeInvalid Code = "invalid"

	// CodeUnauthenticated, 401: There is no token, or not a good one.
	CodeUnauthenticated Code = "unauthenticated"

	// CodeForbidden, 403: The token is good, but not for this: another kind, role or scope is needed.
	CodeForbidden Code = "forbidden"

	// CodeNotFound, 404: There is no such thing, or no such path.
	CodeNotFound Code = "notFound"

	// CodeMethodNotAllowed, 405: The path does not take the method.
	CodeMethodNotAllowed Code = "methodNotAllowed"

	// CodeNotAcceptable, 406: `Accept` admits no representation that there is.
	CodeNotAcceptable Code = "notAcceptable"

	// CodeConflict, 409: What there is does not allow this; `detail` says what.
	CodeConflict Code = "conflict"

	// CodeTooLarge, 413: The body or the headers are too large.
	CodeTooLarge Code = "tooLarge"

	// CodeUnsupported, 415: The content type, or an encoding, is not one that the service reads.
	CodeUnsupported Code = "unsupported"

	// CodeIdempotencyKeyReused, 422: Another request was sent with this `Idempotency-Key`.
	CodeIdempotencyKeyReused Code = "idempotencyKeyReused"

	// CodeLimited, 429: Too much is done at the same time, or this was done too often.
	CodeLimited Code = "limited"

	// CodeUnavailable, 503: Something that the service depends on did not answer, or is full.
	CodeUnavailable Code = "unavailable"

	// CodeQueueUnserved, 400: No config serves the queues of the ticket.
	CodeQueueUnserved Code = "queueUnserved"

	// CodeTokenExpired, 401: The token has expired: send the request again with a new one.
	CodeTokenExpired Code = "tokenExpired"

	// CodeWrongProject, 403: The token is for other projects.
	CodeWrongProject Code = "wrongProject"

	// CodeNotLeader, 403: Only the leader of the party does this.
	CodeNotLeader Code = "notLeader"

	// CodeAllocationEnded, 403: The allocation of the game server has ended: its token is not renewed.
	CodeAllocationEnded Code = "allocationEnded"

	// CodeTicketNotFound, 404: There is no such ticket, no longer, or it is another player's.
	CodeTicketNotFound Code = "ticketNotFound"

	// CodePartyNotFound, 404: The player is in no party, or not in this one.
	CodePartyNotFound Code = "partyNotFound"

	// CodePartyCodeUnknown, 404: No party can be joined with the code.
	CodePartyCodeUnknown Code = "partyCodeUnknown"

	// CodeMemberNotFound, 404: The player is no member of the party.
	CodeMemberNotFound Code = "memberNotFound"

	// CodeBackfillNotFound, 404: There is no such backfill ticket, or no longer: create another one.
	CodeBackfillNotFound Code = "backfillNotFound"

	// CodeConfigNotFound, 404: There is no such config.
	CodeConfigNotFound Code = "configNotFound"

	// CodeFunctionNotFound, 404: There is no such match function.
	CodeFunctionNotFound Code = "functionNotFound"

	// CodeEtagMismatch, 409: It is not what `If-Match` or `If-None-Match` wants, or was changed meanwhile: get it
	// again.
	CodeEtagMismatch Code = "etagMismatch"

	// CodePlayerHasTicket, 409: A player of the ticket has as many tickets as the project allows.
	CodePlayerHasTicket Code = "playerHasTicket"

	// CodeTicketMatched, 409: The ticket has its result already: get it.
	CodeTicketMatched Code = "ticketMatched"

	// CodePlayerSilent, 409: A player missed a match, and was not heard of since.
	CodePlayerSilent Code = "playerSilent"

	// CodeTicketsNotListed, 409: The settings of the project list no tickets of players.
	CodeTicketsNotListed Code = "ticketsNotListed"

	// CodeAcceptanceOpen, 409: A match asks the players of the party whether they accept it: join when they have
	// answered.
	CodeAcceptanceOpen Code = "acceptanceOpen"

	// CodeAcceptanceOver, 409: The match does not ask the players of the ticket, or no longer.
	CodeAcceptanceOver Code = "acceptanceOver"

	// CodeAlreadyInParty, 409: The player is in a party, and must leave it first.
	CodeAlreadyInParty Code = "alreadyInParty"

	// CodePartyFull, 409: The party has as many members as it may.
	CodePartyFull Code = "partyFull"

	// CodeMemberNotReady, 409: A member of the party is not ready.
	CodeMemberNotReady Code = "memberNotReady"

	// CodeMembershipOutdated, 409: A member must send its attributes and properties again: the settings have changed,
	// or its token has expired.
	CodeMembershipOutdated Code = "membershipOutdated"

	// CodeTooManyKicks, 409: The party has removed as many players as it may: end it and make another one.
	CodeTooManyKicks Code = "tooManyKicks"

	// CodePlayerLimited, 429: The player, or the caller, does this too often.
	CodePlayerLimited Code = "playerLimited"

	// CodeProjectLimited, 429: The project does this too often.
	CodeProjectLimited Code = "projectLimited"

	// CodeTooManyTickets, 429: Too many tickets of the project are stored, or they take too much memory.
	CodeTooManyTickets Code = "tooManyTickets"

	// CodeTooManyParties, 429: The project has as many parties as it may.
	CodeTooManyParties Code = "tooManyParties"

	// CodeTooManyStreams, 429: Too many streams are open: go on with the requests that `detail` names.
	CodeTooManyStreams Code = "tooManyStreams"

	// CodePaused, 429: A player declined a match, or did not answer it, and gets no ticket until `Retry-After` is
	// over.
	CodePaused Code = "paused"

	// CodeMatchUnknown, 404: No result of this match is awaited: its config asks for none, it has not begun, or it was
	// over long ago.
	CodeMatchUnknown Code = "matchUnknown"

	// CodeResultFinal, 409: The first result of the match is more than a day old: it cannot be corrected any more.
	CodeResultFinal Code = "resultFinal"

	// CodePlayerInMatch, 409: The player is in a match without a result, and the project's settings refuse another
	// search (`tickets.running`). `detail` names the match.
	CodePlayerInMatch Code = "playerInMatch"
)

// codes are the codes with their status and what a player may be told.
var codes = [...]struct {
	code   Code
	status int
	player string
}{
	{CodeInternal, 500, "Something went wrong."},
	{CodeInvalid, 400, "Something went wrong."},
	{CodeUnauthenticated, 401, "Please sign in again."},
	{CodeForbidden, 403, "You cannot do this."},
	{CodeNotFound, 404, "This is not there any more."},
	{CodeMethodNotAllowed, 405, "Something went wrong."},
	{CodeNotAcceptable, 406, "Something went wrong."},
	{CodeConflict, 409, "This is not possible right now."},
	{CodeTooLarge, 413, "Something went wrong."},
	{CodeUnsupported, 415, "Something went wrong."},
	{CodeIdempotencyKeyReused, 422, "Something went wrong."},
	{CodeLimited, 429, "Please wait a moment and try again."},
	{CodeUnavailable, 503, "The service cannot be reached right now. Please try again later."},
	{CodeQueueUnserved, 400, "This game mode is not available right now."},
	{CodeTokenExpired, 401, "Please sign in again."},
	{CodeWrongProject, 403, "You cannot do this."},
	{CodeNotLeader, 403, "Only the leader of the party can do this."},
	{CodeAllocationEnded, 403, "The match is over."},
	{CodeTicketNotFound, 404, "Your search has ended."},
	{CodePartyNotFound, 404, "You are not in this party."},
	{CodePartyCodeUnknown, 404, "This code does not work. Please ask for the current one."},
	{CodeMemberNotFound, 404, "This player is not in the party."},
	{CodeBackfillNotFound, 404, "This is not there any more."},
	{CodeConfigNotFound, 404, "This is not there any more."},
	{CodeFunctionNotFound, 404, "This is not there any more."},
	{CodeEtagMismatch, 409, "Someone else has changed this."},
	{CodePlayerHasTicket, 409, "You are in a search already."},
	{CodeTicketMatched, 409, "It is too late to cancel: your match is ready."},
	{CodePlayerSilent, 409, "A player of your party is away."},
	{CodeTicketsNotListed, 409, "Something went wrong."},
	{CodeAcceptanceOpen, 409, "This party is about to get a match. Please try again in a moment."},
	{CodeAcceptanceOver, 409, "It is too late to answer."},
	{CodeAlreadyInParty, 409, "You are in a party already. Please leave it first."},
	{CodePartyFull, 409, "The party is full."},
	{CodeMemberNotReady, 409, "Not everyone in the party is ready."},
	{CodeMembershipOutdated, 409, "Not everyone in the party is ready."},
	{CodeTooManyKicks, 409, "This party can remove nobody else. Please make a new one."},
	{CodePlayerLimited, 429, "Please wait a moment and try again."},
	{CodeProjectLimited, 429, "Many players are here right now. Please try again in a moment."},
	{CodeTooManyTickets, 429, "Many players are here right now. Please try again in a moment."},
	{CodeTooManyParties, 429, "Many players are here right now. Please try again in a moment."},
	{CodeTooManyStreams, 429, "Please wait a moment and try again."},
	{CodePaused, 429, "You, or a member of your party, missed a match. Please wait before you search again."},
	{CodeMatchUnknown, 404, "This is not there any more."},
	{CodeResultFinal, 409, "Something went wrong."},
	{CodePlayerInMatch, 409, "You are still in a match. Please go back to it."},
}
