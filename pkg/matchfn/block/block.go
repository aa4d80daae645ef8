// Package block is the binary format between a runner and a match function. The request of a run and its answer are one
// contiguous block of columns each, which both sides use in place. FORMAT.md describes every byte for authors of
// functions in other languages; testdata has test vectors.
//
// The runner writes requests with [RequestBuilder] and reads answers with [AnswerReader], which checks everything. The
// function uses [ParseRequest] and [AnswerBuilder]; functions in Go use them through package matchfn.
package block

import "matchmaker.dev/pkg/matchfn/internal/message"

// Version is the version of the format.
const Version = 1

// Limits of a block. FORMAT.md names them too.
const (
	// MaxRequest bounds a request, in bytes: the most that the largest instance can address.
	MaxRequest = 1 << 30
	// MaxSections bounds the section table of an answer.
	MaxSections = 64
	// MaxText bounds connections, regions, fleets, profiles and the names of teams, attributes and properties, in bytes.
	MaxText = 256
	// MaxError bounds an assignment error and the error of a run, in bytes.
	MaxError = 4096
	// MaxValue bounds each JSON object and each property of an answer, in bytes.
	MaxValue = 64 << 10
	// MaxMeasures is how many measures a proposal may have, and MaxMeasureName bounds their names, in bytes.
	MaxMeasures    = 8
	MaxMeasureName = 64
)

// MaxAnswer returns the greatest length of an answer, in bytes, for a request with this many tickets and backfill
// tickets: 1 MiB and 1 KiB for each of them, but at most 256 MiB.
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
	// explanationSize is the length of the record of an explanation.
	explanationSize = 16
	// leftOutSize is what a meta section has more when it says what is left out.
	leftOutSize = 8

	// baseSize is the length of a base section.
	baseSize = 16

	// absent is the start of an absent value.
	absent = 1<<32 - 1
)

// The kinds of sections of a request.
const (
	kindMeta = iota + 1
	kindConfig
	kindCreated
	kindWait
	KindAttribute
	KindProperty
	KindPool
	KindBackfillCreated
	kindBackfillVersion
	KindBackfillConnection
	KindBackfillAttribute
	KindBackfillProperty
	KindBackfillPool
)

// The kinds of sections of a request about tickets that the function keeps.
const (
	kindBase = iota + 64
	kindGone
	kindEnded
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
	kindExplanations
	kindReasons
	kindColumns
	kindCount // with the unused kind 0
)

// Field is the kind of a part of a proposal.
type Field uint32

// The fields of a proposal besides its tickets and its score. Unless a field says otherwise, the subject of its part is
// 0 and the name is empty.
const (
	// FieldTeamName is the name of a team. The subject is the team's number within the proposal.
	FieldTeamName Field = iota + 1
	// FieldConnection overrides the assignment's connection.
	FieldConnection
	// FieldError resolves the tickets with this assignment error.
	FieldError
	// FieldAssignmentProperties is a JSON object for every ticket (older form).
	FieldAssignmentProperties
	// FieldMatchProperties is a JSON object for every ticket and the game server.
	FieldMatchProperties
	// FieldTicketProperties is a JSON object for one ticket. The subject is the ticket.
	FieldTicketProperties
	// FieldRegion overrides the region of the game server.
	FieldRegion
	// FieldFleet overrides the fleet of the game server.
	FieldFleet
	// FieldProfile overrides the profile of the game server.
	FieldProfile
	// FieldBackfillCreate creates a backfill ticket for the match's server. It has no value.
	FieldBackfillCreate
	// FieldBackfillUpdate gives the tickets to a backfill ticket, if that still has the version of the request. The
	// subject is the backfill ticket. It has no value.
	FieldBackfillUpdate
	// FieldBackfillAttribute sets the named attribute of the created or updated backfill ticket. The value is a float64, 8
	// bytes; NaN removes the attribute.
	FieldBackfillAttribute
	// FieldBackfillProperty sets the named property of the backfill ticket.
	FieldBackfillProperty
	// FieldBackfillRemove removes the named property of the backfill ticket. It has no value.
	FieldBackfillRemove
	// FieldMeasure is a number of that name, for people: how good the match is. The value is a finite float64, 8 bytes.
	FieldMeasure
)

// String is the field's name in error messages.
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
		FieldMeasure:              "measure",
	}
	if int64(f) >= int64(len(names)) || names[f] == "" {
		return message.Sprintf("field %d", uint32(f))
	}
	return names[f]
}
