package state

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// AuditTime is for how long changes are kept, as in script/include/names.lua.
const AuditTime = 90 * 24 * time.Hour

// auditLength is how many of a project are, as there.
const auditLength = 1000

// AuditEntry is a change of a project. ID is its place among others.
type AuditEntry struct {
	*pb.Change
	ID   string
	Time time.Time
	// Revision is what the config or the settings got; 0 if there is none.
	Revision int64
}

// encodeChange encodes a change for scripts. Text that is not UTF-8 is replaced: the change itself is refused for it.
func encodeChange(c *pb.Change) []byte {
	for _, text := range []*string{&c.Name, &c.By, &c.Detail} {
		*text = strings.ToValidUTF8(*text, "�")
	}
	body, _ := proto.Marshal(c) // all of it is UTF-8
	return body
}

// NoteErasure notes that a player was erased, and not which one: once an hour for each author, as far as the latest 32
// changes tell.
func (s *Store) NoteErasure(ctx context.Context, project, by string) error {
	c := encodeChange(&pb.Change{Kind: "player", Action: "erased", By: by})
	return s.noteChange(ctx, project, c, c, s.Now().Add(-time.Hour), 32)
}

// NoteServerKey notes which key signs the tokens of a project's servers, unless it is the one that was noted last. The
// operator changes the keys.
func (s *Store) NoteServerKey(ctx context.Context, project, id string) error {
	c := &pb.Change{Kind: "key", Name: id, Action: "signs", By: "operator"}
	return s.noteChange(ctx, project, encodeChange(c), encodeChange(&pb.Change{Kind: c.Kind}), time.Time{}, auditLength)
}

// noteChange notes a change, unless the newest one since a time that begins as alike does is the same. It looks at so
// many.
func (s *Store) noteChange(
	ctx context.Context, project string, change, alike []byte, since time.Time, searched int,
) error {
	return s.eval(ctx, s.call("audit_append", keysOf(project), ids{},
		"change", change, "since", max(0, millis(since)), "alike", alike, "searched", searched))
}

// changesStep is how many changes are read in a round trip.
const changesStep = 200

var changeID = regexp.MustCompile(`^\d{1,15}-\d{1,10}$`)

// Changes reads changes, the newest first, from behind the place of one on, until take is false. It returns the place
// to go on behind, "" at the end. Errors: Invalid if after is no place.
func (s *Store) Changes(
	ctx context.Context, project, after string, take func(AuditEntry) bool,
) (next string, err error) {
	from, oldest := "+", strconv.FormatInt(millis(s.Now().Add(-AuditTime)), 10)
	if after != "" && !changeID.MatchString(after) {
		return "", problem.New(problem.Invalid, "query parameter after: next of an earlier answer is expected")
	}
	for {
		if after != "" {
			from = after
		}
		read, err := s.redis.XRevRangeN(ctx, keysOf(project).audit(), from, oldest, changesStep).Result()
		if err != nil {
			return "", unavailable(err)
		}
		for _, m := range read {
			if m.ID == after {
				continue
			}
			c, err := changeOf(m)
			if err != nil {
				return "", err
			}
			if !take(c) {
				return m.ID, nil
			}
		}
		if len(read) < changesStep {
			return "", nil
		}
		after = read[len(read)-1].ID
	}
}

func changeOf(m redis.XMessage) (c AuditEntry, err error) {
	in := replied{of: "change " + m.ID}
	c = AuditEntry{Change: new(pb.Change), ID: m.ID}
	if m.Values["r"] != "" { // a deletion has no revision
		c.Revision = in.digits(m.Values["r"])
	}
	in.message(m.Values["b"], c.Change)
	ms, _, _ := strings.Cut(m.ID, "-")
	c.Time = time.UnixMilli(in.digits(ms))
	return c, in.err
}
