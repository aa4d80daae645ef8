package state

import "strings"

// keys builds the keys of one project, or, as the value global, those without a project. doc.go describes them.
type keys string

const global keys = "mm:"

func keysOf(project string) keys { return keys("mm:{" + project + "}:") }

// projects is written before a project's own keys, since they are in different slots of a cluster. A name without a
// project counts against --max-projects, and is harmless otherwise.
func (k keys) projects() string { return string(k) + "projects" }
func (k keys) schema() string   { return string(k) + "schema" }

func (k keys) ticket(id string) string     { return string(k) + "t:" + id }
func (k keys) waiting() string             { return string(k) + "waiting" }
func (k keys) resolved() string            { return string(k) + "resolved" }
func (k keys) largeSizes() string          { return string(k) + "large_sizes" }
func (k keys) outcome(id string) string    { return string(k) + "o:" + id }
func (k keys) outcomes() string            { return string(k) + "outcomes" }
func (k keys) match(id string) string      { return string(k) + "m:" + id }
func (k keys) claims() string              { return string(k) + "claims" }
func (k keys) outbox() string              { return string(k) + "outbox" }
func (k keys) ended() string               { return string(k) + "ended" }
func (k keys) deallocations() string       { return string(k) + "deallocations" }
func (k keys) backfill(id string) string   { return string(k) + "bf:" + id }
func (k keys) joining(id string) string    { return string(k) + "bm:" + id }
func (k keys) joined(id string) string     { return string(k) + "bj:" + id }
func (k keys) backfills() string           { return string(k) + "backfills" }
func (k keys) backfillSizes() string       { return string(k) + "backfill_sizes" }
func (k keys) joins() string               { return string(k) + "joins" }
func (k keys) feed() string                { return string(k) + "feed" }
func (k keys) feedSeq() string             { return string(k) + "feed_seq" }
func (k keys) feedName() string            { return string(k) + "feed_name" }
func (k keys) streamBytes() string         { return string(k) + "stream_bytes" }
func (k keys) results() string             { return string(k) + "results" }
func (k keys) history() string             { return string(k) + "history" }
func (k keys) historySeq() string          { return string(k) + "history_seq" }
func (k keys) published() string           { return string(k) + "published" }
func (k keys) configs() string             { return string(k) + "configs" }
func (k keys) revisions() string           { return string(k) + "revisions" }
func (k keys) configChanges() string       { return string(k) + "config_changes" }
func (k keys) configHistory() string       { return string(k) + "config_history" }
func (k keys) audit() string               { return string(k) + "audit" }
func (k keys) settings() string            { return string(k) + "settings" }
func (k keys) webhooks() string            { return string(k) + "webhooks" }
func (k keys) queues() string              { return string(k) + "queues" }
func (k keys) byPlayer() string            { return string(k) + "by_player" }
func (k keys) idempotency(n string) string { return string(k) + "keys:" + n }   // 0 and 1
func (k keys) pauses(n string) string      { return string(k) + "pauses:" + n } // 0 and 1
func (k keys) functions() string           { return string(k) + "functions" }
func (k keys) unused() string              { return string(k) + "unused" }
func (k keys) lease() string               { return string(k) + "lease" }
func (k keys) unserved() string            { return string(k) + "unserved" }
func (k keys) lastSeen() string            { return string(k) + "last_seen" }
func (k keys) simulation(id string) string { return string(k) + "sim:" + id }
func (k keys) report(span string) string   { return string(k) + "report" + span }
func (k keys) party(id string) string      { return string(k) + "pa:" + id }
func (k keys) parties() string             { return string(k) + "parties" }
func (k keys) partyPlayers() string        { return string(k) + "party_players" }
func (k keys) partyCodes() string          { return string(k) + "party_codes" }
func (k keys) result(id string) string     { return string(k) + "r:" + id }
func (k keys) awaited() string             { return string(k) + "awaited" }
func (k keys) running() string             { return string(k) + "running" }
func (k keys) ratings() string             { return string(k) + "ratings" }
func (k keys) rated() string               { return string(k) + "rated" }
func (k keys) boards() string              { return string(k) + "boards" }
func (k keys) board(name string) string    { return string(k) + "board:" + name }
func (k keys) steps() string               { return string(k) + "steps" }
func (k keys) players(n string) string     { return string(k) + "players:" + n } // 0 and 1

// ids are the ids in the keys of a script's call, by kind.
type ids [6]string

const (
	noID = iota
	ofTicket
	ofMatch
	ofBackfill
	ofParty
	ofSpan
)

// keyName is the end of a key that a script's header names. Most have the name that Redis has.
type keyName struct {
	suffix string
	id     int // which of ids follows
}

// named returns the keys of a script: parts of one text, since each creation of a ticket needs some thirty.
func (k keys) named(names []keyName, of ids) []string {
	var text strings.Builder
	all := make([]string, len(names), len(names)+4)
	text.Grow(len(names) * (len(k) + 20))
	for i, n := range names {
		from := text.Len()
		text.WriteString(string(k))
		text.WriteString(n.suffix)
		text.WriteString(of[n.id])
		all[i] = text.String()[from:]
	}
	return all
}

// keyNames are the keys of headers that end with an id.
var keyNames = map[string]keyName{
	"ticket": {"t:", ofTicket}, "match": {"m:", ofMatch}, "outcome": {"o:", ofMatch}, "result": {"r:", ofMatch},
	"report": {"report", ofSpan}, "backfill": {"bf:", ofBackfill}, "joining": {"bm:", ofBackfill},
	"joined": {"bj:", ofBackfill}, "party": {"pa:", ofParty},
}

// turns names the two keys that take turns.
var turns = strings.NewReplacer("_0", ":0", "_1", ":1")
