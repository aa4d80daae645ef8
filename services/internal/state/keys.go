package state

// projects is the set of projects that ever stored a config or a function. It
// is outside the projects' slots, so it is written before the
// project's own keys: a name too many does no harm.
const projects = "mm:projects"

// directors is the hash of the directors that live, with when they are to be heard again and how many projects they lead.
const directors = "mm:directors"

// keys builds the keys of one project.
type keys string

func keysOf(project string) keys { return keys("mm:{" + project + "}:") }

func (k keys) ticket(id string) string   { return string(k) + "t:" + id }
func (k keys) backfill(id string) string { return string(k) + "bf:" + id }
func (k keys) match(id string) string    { return string(k) + "m:" + id }
func (k keys) waiting() string           { return string(k) + "waiting" }
func (k keys) resolved() string          { return string(k) + "resolved" }
func (k keys) claims() string            { return string(k) + "claims" }
func (k keys) returns() string           { return string(k) + "returns" }
func (k keys) ended() string             { return string(k) + "ended" }
func (k keys) backfills() string         { return string(k) + "backfills" }
func (k keys) feedName() string          { return string(k) + "feedname" }
func (k keys) rates() string             { return string(k) + "rates" }
func (k keys) players() [2]string        { return [2]string{string(k) + "players:0", string(k) + "players:1"} }
func (k keys) outbox() string            { return string(k) + "outbox" }
func (k keys) feed() string              { return string(k) + "feed" }
func (k keys) seq() string               { return string(k) + "seq" }
func (k keys) history() string           { return string(k) + "history" }
func (k keys) told() string              { return string(k) + "told" }
func (k keys) published() string         { return string(k) + "published" }
func (k keys) configs() string           { return string(k) + "configs" }
func (k keys) revisions() string         { return string(k) + "revisions" }
func (k keys) revision() string          { return string(k) + "revision" }
func (k keys) configNames() string       { return string(k) + "confignames" }
func (k keys) functions() string         { return string(k) + "functions" }
func (k keys) lease() string             { return string(k) + "lease" }

func (k keys) proposed() string           { return string(k) + "proposed" }
func (k keys) proposals(id string) string { return string(k) + "bp:" + id }
func (k keys) joined(id string) string    { return string(k) + "bj:" + id }
