package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"golang.org/x/text/unicode/norm"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// Expectations of PutConfig and DeleteConfig besides a revision.
const (
	// AnyRevision accepts any revision, and a config that does not exist.
	AnyRevision int64 = -1
	// NoRevision conflicts with a config that exists.
	NoRevision int64 = 0
)

func expectation(revision int64) string {
	if revision == AnyRevision {
		return ""
	}
	return strconv.FormatInt(revision, 10)
}

// What config_put.lua does with a config.
const (
	putConfig    = ""
	checkConfig  = "check"
	resealConfig = "reseal"
)

// PutConfig creates or replaces a config and returns its new revision. ConfigHistory keeps the old version. Errors:
// Conflict when its revision is not the expected one, or when its id exists in another spelling: with other letter case
// or Unicode normal form; Invalid when the configs of the project are too many, or too large together, or when the
// system has too many projects; Unavailable when it is new and Redis is short of memory.
func (s *Store) PutConfig(
	ctx context.Context, project string, c *pb.Config, expected int64,
) (revision int64, created bool, err error) {
	return s.putConfig(ctx, project, c, expected, putConfig)
}

// CheckConfig returns the error that PutConfig would return, and whether that would create the config. It changes
// nothing, and does not know whether the system has too many projects.
func (s *Store) CheckConfig(
	ctx context.Context, project string, c *pb.Config, expected int64,
) (created bool, err error) {
	_, created, err = s.putConfig(ctx, project, c, expected, checkConfig)
	return created, err
}

// ResealConfig replaces a config that was read by the same one with its hosting keys encrypted anew. To the history of
// the config that is no change. Errors: Conflict when it was changed meanwhile.
func (s *Store) ResealConfig(ctx context.Context, project string, c *pb.Config) error {
	_, _, err := s.putConfig(ctx, project, c, c.GetRevision(), resealConfig)
	return err
}

func (s *Store) putConfig(
	ctx context.Context, project string, c *pb.Config, expected int64, mode string,
) (revision int64, created bool, err error) {
	body, err := proto.Marshal(c)
	if err != nil {
		return 0, false, problem.Wrap(problem.Invalid, err, "the config holds text that is not UTF-8")
	}
	if mode != checkConfig {
		if err := s.addProject(ctx, project); err != nil {
			return 0, false, err
		}
	}
	filters, segments := countConfig(c)
	limits := s.limits.Configs
	var verdict, other string
	if err := s.eval(ctx, s.call("config_put", keysOf(project), ids{},
		"id", c.GetId(),
		"name", configName(c.GetId()),
		"body", body,
		"expected", expectation(expected),
		"may_create", s.mayAdd(ctx, keysOf(project)),
		"filters", filters,
		"segments", segments,
		"max_configs", limits.Configs,
		"max_filters", limits.Filters,
		"max_segments", limits.Segments,
		"max_bytes", limits.Bytes,
		"queue", c.GetQueue(),
		"unserved_event", s.encodeEvent(unservedEvent(c.GetId(), "changed", c.GetChangedBy())),
		"mode", mode,
		"audited", encodeChange(&pb.Change{Kind: "config", Name: c.GetId(), Action: "put", By: c.GetChangedBy()})),
		&verdict, &revision, &created, &other); err != nil {
		return 0, false, err
	}
	switch verdict {
	case "short":
		return 0, false, shortOfMemory(nil)
	case "limit":
		return 0, false, limits.exceeded(other, revision)
	case "spelled":
		return 0, false, spelledOtherwise(c.GetId(), other)
	case "changed":
		return 0, false, problem.New(problem.EtagMismatch, "config %q was changed by someone else: get it again, then put",
			c.GetId())
	}
	return revision, created, nil
}

// A config's revision is read before its body, so that a body is never taken for a newer one than it is: nothing is
// claimed under the revision before. They are not read in a MULTI, which a full Redis refuses.

// Config reads a config. Errors: NotFound.
func (s *Store) Config(ctx context.Context, project, id string) (*pb.Config, error) {
	var body, revision *redis.StringCmd
	k := keysOf(project)
	_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		revision, body = p.HGet(ctx, k.revisions(), id), p.HGet(ctx, k.configs(), id)
		return nil
	})
	if errors.Is(err, redis.Nil) {
		return nil, problem.New(problem.ConfigNotFound, "config %q was not found", id)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return parseConfig(body.Val(), revision.Val())
}

// Configs reads all configs of a project, by id.
func (s *Store) Configs(ctx context.Context, project string) (map[string]*pb.Config, error) {
	configs, _, err := s.ChangedConfigs(ctx, project, nil)
	return configs, err
}

// configsAtOnce is how many configs one command reads. A config has 64 KiB at most.
const configsAtOnce = 16

// ChangedConfigs reads the configs of a project whose revisions are not the known ones, by id, and the revisions of
// all. A config that is deleted meanwhile is in neither.
func (s *Store) ChangedConfigs(ctx context.Context, project string, known map[string]int64) (
	changed map[string]*pb.Config, revisions map[string]int64, err error) {
	k := keysOf(project)
	all, err := s.redis.HGetAll(ctx, k.revisions()).Result()
	if err != nil {
		return nil, nil, unavailable(err)
	}
	var ids []string
	revisions = make(map[string]int64, len(all))
	for id, text := range all {
		if revisions[id], err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, nil, corrupt("revision of a config", err)
		}
		if revision, is := known[id]; !is || revision != revisions[id] {
			ids = append(ids, id)
		}
	}
	changed = make(map[string]*pb.Config, len(ids))
	if len(ids) == 0 {
		return changed, revisions, nil
	}
	var now *redis.SliceCmd
	var read []*redis.SliceCmd
	if _, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		now = p.HMGet(ctx, k.revisions(), ids...)
		for some := range slices.Chunk(ids, configsAtOnce) {
			read = append(read, p.HMGet(ctx, k.configs(), some...))
		}
		return nil
	}); err != nil {
		return nil, nil, unavailable(err)
	}
	var in replied
	current := in.row(now)
	var bodies []any
	for _, some := range read {
		bodies = append(bodies, in.row(some)...)
	}
	if in.err != nil {
		return nil, nil, in.err
	}
	for i, id := range ids {
		body, is := bodies[i].(string)
		revision, was := current[i].(string)
		if !is || !was {
			delete(revisions, id)
			continue
		}
		if changed[id], err = parseConfig(body, revision); err != nil {
			return nil, nil, err
		}
		revisions[id] = changed[id].GetRevision()
	}
	return changed, revisions, nil
}

func parseConfig(body, revision string) (*pb.Config, error) {
	c, err := parse[pb.Config]("config", body)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseInt(revision, 10, 64)
	if err != nil {
		return nil, corrupt("revision of a config", fmt.Errorf("%q is not a number", revision))
	}
	c.Revision = n
	return c, nil
}

// DeleteConfig deletes a config. After it returns, no match of the config is claimed. ConfigHistory keeps the old
// version. It reports whether the config existed. Errors: Conflict when its revision is not the expected one, or when
// it exists in another spelling only.
func (s *Store) DeleteConfig(ctx context.Context, project, id string, expected int64, by string) (bool, error) {
	var verdict, other string
	if err := s.eval(ctx, s.call("config_delete", keysOf(project), ids{},
		"id", id,
		"name", configName(id),
		"expected", expectation(expected),
		"deleted_by", by,
		"unserved_event", s.encodeEvent(unservedEvent(id, "deleted", by)),
		"audited", encodeChange(&pb.Change{Kind: "config", Name: id, Action: "deleted", By: by})),
		&verdict, &other); err != nil {
		return false, err
	}
	switch verdict {
	case "changed":
		return false, problem.New(problem.EtagMismatch, "config %q was changed by someone else: get it again, "+
			"then delete", id)
	case "spelled":
		return false, spelledOtherwise(id, other)
	}
	return verdict == "ok", nil
}

func spelledOtherwise(id, there string) error {
	return problem.New(problem.Conflict,
		"config %q exists as %q: ids that differ only in letter case or Unicode normal form are one name", id, there)
}

// configName is what all spellings of a config's id have in common.
func configName(id string) string { return norm.NFC.String(strings.ToLower(norm.NFC.String(id))) }
