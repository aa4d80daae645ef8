// Package block is the binary format between a runner and a match function:
// the request of one run and its answer, each one contiguous block of columns
// that both sides use in place. FORMAT.md describes it byte by byte, for
// authors of functions in other languages; testdata holds vectors.
//
// The runner writes requests with [RequestBuilder] and reads answers with
// [AnswerReader], which believes nothing. The function side is [ParseRequest]
// and [AnswerBuilder]; authors in Go use them through package matchfn.
package block

import "matchmaker.dev/pkg/matchfn/internal/message"

// Version is the only version of the format there is.
const Version = 1

// Limits of a block. FORMAT.md names them too.
const (
	// MaxRequest is the greatest length of a request, in bytes: what the
	// largest allowed instance could address.
	MaxRequest = 1 << 30
	// MaxSections bounds the section table of an answer.
	MaxSections = 64
	// MaxText bounds connection, region, fleet, profile and the names of
	// teams, attributes and properties, in bytes.
	MaxText = 256
	// MaxError bounds an assignment error and the error of a run, in bytes.
	MaxError = 4096
	// MaxValue bounds each JSON object and each property of an answer, in bytes.
	MaxValue = 64 << 10
)

// MaxAnswer is the greatest length of an answer to a request with that many
// tickets and backfill tickets, in bytes: a mebibyte and a kibibyte for each
// of them, but no more than 256 MiB.
func MaxAnswer(tickets, backfills int) int {
	const ceiling = 256 << 20
	if tickets+backfills >= ceiling>>10 {
		return ceiling
	}
	return min(1<<20+(tickets+backfills)<<10, ceiling)
}

const (
	requestMagic = "MMRQ"
	answerMagic  = "MMAN"

	headerSize = 24
	entrySize  = 24
	metaSize   = 32
	partSize   = 24

	// absent is the start of a value that is not there.
	absent = 1<<32 - 1
)

// The kinds of sections of a request.
const (
	kindMeta = iota + 1
	kindConfig
	kindCreated
	kindWait
	kindAttribute
	kindProperty
	kindPool
	kindBackfillCreated
	kindBackfillVersion
	kindBackfillConnection
	kindBackfillAttribute
	kindBackfillProperty
	kindBackfillPool
)

// The kinds of sections of an answer.
const (
	kindTeams = iota + 1
	kindProposals
	kindTickets
	kindScores
	kindParts
	kindData
	kindError
	kinds // how many kinds there may be, 0 among them
)

// Field says what a part of a proposal is.
type Field uint32

// The fields of a proposal that has more than tickets and a score. The subject
// of a part is 0 and its name empty where nothing else is said.
const (
	// FieldTeamName is the name of the team whose number within the proposal is the subject.
	FieldTeamName Field = iota + 1
	// FieldConnection overrides the assignment's connection.
	FieldConnection
	// FieldError resolves the tickets with this assignment error.
	FieldError
	// FieldAssignmentProperties is a JSON object for every ticket (older form).
	FieldAssignmentProperties
	// FieldMatchProperties is a JSON object for every ticket and the game server.
	FieldMatchProperties
	// FieldTicketProperties is a JSON object for the ticket that is the subject.
	FieldTicketProperties
	// FieldRegion overrides the region of the game server.
	FieldRegion
	// FieldFleet overrides the fleet of the game server.
	FieldFleet
	// FieldProfile overrides the profile of the game server.
	FieldProfile
	// FieldBackfillCreate asks for a backfill ticket for the match's server. No value.
	FieldBackfillCreate
	// FieldBackfillUpdate gives the tickets to the backfill ticket that is the
	// subject, provided that it still has the version of the request. No value.
	FieldBackfillUpdate
	// FieldBackfillAttribute sets the named attribute of the created or updated
	// backfill ticket: 8 bytes, a float64; NaN removes it.
	FieldBackfillAttribute
	// FieldBackfillProperty sets the named property of the backfill ticket.
	FieldBackfillProperty
	// FieldBackfillRemove removes the named property of the backfill ticket. No value.
	FieldBackfillRemove
)

// String names a field in error messages.
func (f Field) String() string {
	names := [...]string{
		FieldTeamName:             "team name",
		FieldConnection:           "connection",
		FieldError:                "error",
		FieldAssignmentProperties: "assignment properties",
		FieldMatchProperties:      "match properties",
		FieldTicketProperties:     "ticket properties",
		FieldRegion:               "region",
		FieldFleet:                "fleet",
		FieldProfile:              "profile",
		FieldBackfillCreate:       "backfill create",
		FieldBackfillUpdate:       "backfill update",
		FieldBackfillAttribute:    "backfill attribute",
		FieldBackfillProperty:     "backfill property",
		FieldBackfillRemove:       "backfill remove",
	}
	if int64(f) >= int64(len(names)) || names[f] == "" {
		return message.Sprintf("field %d", uint32(f))
	}
	return names[f]
}
