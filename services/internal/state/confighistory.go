package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// ConfigChange is a change of a config.
type ConfigChange struct {
	// Revision is the revision that the config had from then on. A deletion has one too, which tells it from other
	// changes.
	Revision int64
	// Changed is when; zero if a version of the service without a history made the change.
	Changed time.Time
	By      string
	Deleted bool
	// Applies is true for the change that made the config what it is.
	Applies bool
	// Config is what the config was from then on; nil if it was deleted, and if that was not kept.
	Config *pb.Config

	open bool // what the config was is not stored with the change, since it applies
}

// The kinds of changes of a config, as in script/include/names.lua.
const (
	becameConfig  = 'c'
	unkeptConfig  = 'n'
	deletedConfig = 'd'
)

// steadyTries is how often the history of a config is read that is changed meanwhile.
const steadyTries = 5

// ConfigHistory reads the latest changes of a config, the newest first: at most 32, and none that has not applied for
// longer than ForgetConfigChanges says. A config that was deleted has a history too. Errors: NotFound when there is
// neither the config nor a history of it; Unavailable when it changes faster than it can be read.
func (s *Store) ConfigHistory(ctx context.Context, project, id string) ([]ConfigChange, error) {
	for range steadyTries {
		all, steady, err := s.readConfigHistory(ctx, project, id)
		if err != nil {
			return nil, err
		}
		if !steady {
			continue
		}
		if len(all) == 0 {
			return nil, problem.New(problem.ConfigNotFound, "config %q was not found, and nothing is kept of it", id)
		}
		return all, nil
	}
	return nil, problem.New(problem.Unavailable, "config %q changes faster than its history can be read: try again", id).
		After(answerDelay)
}

// readConfigHistory reads the history. It is not steady if the config was changed meanwhile.
func (s *Store) readConfigHistory(
	ctx context.Context, project, id string,
) (all []ConfigChange, steady bool, err error) {
	current, err := s.Config(ctx, project, id)
	if problem.KindOf(err) == problem.NotFound {
		current, err = nil, nil
	}
	if err != nil {
		return nil, false, err
	}
	k := keysOf(project)
	members, err := s.redis.ZRange(ctx, k.configChanges(), 0, -1).Result()
	if err != nil {
		return nil, false, unavailable(err)
	}
	var revisions []string
	for _, member := range members {
		revision, of, err := parseMember(member)
		if err != nil {
			return nil, false, err
		}
		if of == id {
			revisions = append(revisions, revision)
		}
	}
	changes, now, err := s.readChanges(ctx, project, id, revisions)
	if err != nil {
		return nil, false, err
	}
	if now != current.GetRevision() {
		return nil, false, nil
	}
	latest := ConfigChange{Revision: now, By: current.GetChangedBy(), Applies: true, Config: current}
	for i, text := range changes {
		if text == "" {
			continue // forgotten meanwhile
		}
		change, err := parseChange(revisions[i], text)
		switch {
		case err != nil:
			return nil, false, err
		case change.Revision == now:
			latest.Changed = change.Changed
		default:
			all = append(all, change)
		}
	}
	if current != nil {
		all = append(all, latest)
	}
	slices.SortFunc(all, func(a, b ConfigChange) int { return cmp.Compare(b.Revision, a.Revision) })
	return all, true, nil
}

// readChanges reads changes by their revisions, and the revision that the config has after that. A change that was
// forgotten meanwhile is empty.
func (s *Store) readChanges(
	ctx context.Context, project, id string, revisions []string,
) (changes []string, now int64, err error) {
	k := keysOf(project)
	var read []*redis.SliceCmd
	var revision *redis.StringCmd
	if _, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for some := range slices.Chunk(revisions, configsAtOnce) {
			read = append(read, p.HMGet(ctx, k.configHistory(), some...))
		}
		revision = p.HGet(ctx, k.revisions(), id)
		return nil
	}); err != nil && !errors.Is(err, redis.Nil) {
		return nil, 0, unavailable(err)
	}
	var in replied
	for _, some := range read {
		changes = append(changes, in.texts(in.row(some))...)
	}
	now = in.digits(cmp.Or(revision.Val(), "0"))
	return changes, now, in.err
}

// parseMember reads a member of config_changes.
func parseMember(member string) (revision, id string, err error) {
	parts := strings.SplitN(member, " ", 3)
	if len(parts) != 3 {
		return "", "", corrupt("change of a config", fmt.Errorf("%q is no member", member))
	}
	return parts[0], parts[2], nil
}

// parseChange reads a change as include/configs.lua writes it.
func parseChange(revision, text string) (c ConfigChange, err error) {
	if c.Revision, err = strconv.ParseInt(revision, 10, 64); err != nil {
		return c, corrupt("change of a config", err)
	}
	when, what, ok := strings.Cut(text, " ")
	changed, err := strconv.ParseInt(when, 10, 64)
	if !ok || err != nil || what == "" {
		return c, corrupt("change of a config", errors.New("its time is no number, or it has none"))
	}
	if changed > 0 {
		c.Changed = time.UnixMilli(changed)
	}
	switch kind, rest := what[0], what[1:]; kind {
	case deletedConfig:
		c.Deleted, c.By = true, rest
	case unkeptConfig:
	case becameConfig:
		if c.open = rest == ""; c.open {
			break
		}
		if c.Config, err = parseConfig(rest, revision); err != nil {
			return c, err
		}
		c.By = c.Config.GetChangedBy()
	default:
		return c, corrupt("change of a config", fmt.Errorf("kind %q is not known", kind))
	}
	return c, nil
}

// forgetBatch is how many changes of configs one script forgets: 4 MiB if each is as large as it may be.
const forgetBatch = 64

// ForgetConfigChanges deletes changes of configs that have not applied for longer than age and withSlack.
func (s *Store) ForgetConfigChanges(ctx context.Context, project string, age time.Duration) error {
	for {
		var n int
		err := s.eval(ctx, s.call("config_forget", keysOf(project), ids{},
			"age", age.Milliseconds(),
			"batch", forgetBatch), &n)
		if err != nil || n < forgetBatch {
			return err
		}
	}
}

// ResealConfigHistory calls reseal with each old version of a project's configs. reseal encrypts the hosting keys anew
// and reports whether it did. It returns how many were stored anew, also with an error: an error of reseal does not end
// it.
func (s *Store) ResealConfigHistory(
	ctx context.Context, project string, reseal func(*pb.Config) (changed bool, err error),
) (done int, err error) {
	k := keysOf(project)
	members, err := s.redis.ZRange(ctx, k.configChanges(), 0, -1).Result()
	if err != nil {
		return 0, unavailable(err)
	}
	var failed []error
	for _, member := range members {
		revision, id, err := parseMember(member)
		if err != nil {
			return done, err
		}
		text, err := textOf(s.redis.HGet(ctx, k.configHistory(), revision))
		if err != nil {
			return done, err
		}
		if text == "" {
			continue // forgotten meanwhile
		}
		c, err := parseChange(revision, text)
		if err != nil {
			return done, err
		}
		if c.Config == nil {
			continue
		}
		changed, err := reseal(c.Config)
		if err != nil {
			failed = append(failed, err)
		}
		if !changed {
			continue
		}
		if changed, err = s.resealChange(ctx, project, id, text, c); err != nil {
			return done, err
		}
		if changed {
			done++
		}
	}
	return done, errors.Join(failed...)
}

// resealChange stores a change anew that was read as before.
func (s *Store) resealChange(ctx context.Context, project, id, before string, c ConfigChange) (done bool, err error) {
	revision := c.Config.GetRevision()
	c.Config.Revision = 0
	body, err := proto.Marshal(c.Config)
	if err != nil {
		return false, corrupt("config", err)
	}
	when, _, _ := strings.Cut(before, " ")
	err = s.eval(ctx, s.call("config_reseal", keysOf(project), ids{},
		"id", id,
		"number", revision,
		"before", before,
		"after", when+" "+string(rune(becameConfig))+string(body)), &done)
	return done, err
}
