package state

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
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

// PutConfig creates or replaces a config and returns its new revision. Errors: Conflict when its revision is not the
// expected one, or when its id exists with other letter case.
func (s *Store) PutConfig(
	ctx context.Context, project string, c *pb.Config, expected int64,
) (revision int64, created bool, err error) {
	body, err := proto.Marshal(c)
	if err != nil {
		return 0, false, problem.Wrap(problem.Invalid, err, "the config holds text that is not UTF-8")
	}
	if err := s.redis.SAdd(ctx, global.projects(), project).Err(); err != nil {
		return 0, false, unavailable(err)
	}
	reply, err := s.run(ctx, s.call(configPutScript, keysOf(project), ids{},
		"id", c.GetId(),
		"lower_id", strings.ToLower(c.GetId()),
		"body", body,
		"expected", expectation(expected)))
	if err != nil {
		return 0, false, err
	}
	r, err := listOf(reply, 2)
	if err != nil {
		return 0, false, err
	}
	switch r[0] {
	case int64(0):
		return 0, false, problem.New(problem.Conflict,
			"config %q exists as %q: ids that differ only in letter case are one name", c.GetId(), r[1])
	case int64(-1):
		return 0, false, problem.New(problem.Conflict, "config %q was changed by someone else: get it again, then put",
			c.GetId())
	}
	revision, _ = r[0].(int64)
	return revision, r[1] == int64(1), nil
}

// Config reads a config. Errors: NotFound.
func (s *Store) Config(ctx context.Context, project, id string) (*pb.Config, error) {
	var body, revision *redis.StringCmd
	k := keysOf(project)
	_, err := s.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		body, revision = p.HGet(ctx, k.configs(), id), p.HGet(ctx, k.revisions(), id)
		return nil
	})
	if errors.Is(err, redis.Nil) {
		return nil, problem.New(problem.NotFound, "config %q was not found", id)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return parseConfig(body.Val(), revision.Val())
}

// Configs reads all configs of a project, by id.
func (s *Store) Configs(ctx context.Context, project string) (map[string]*pb.Config, error) {
	var bodies, revisions *redis.MapStringStringCmd
	k := keysOf(project)
	_, err := s.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		bodies, revisions = p.HGetAll(ctx, k.configs()), p.HGetAll(ctx, k.revisions())
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	configs := make(map[string]*pb.Config, len(bodies.Val()))
	for id, body := range bodies.Val() {
		c, err := parseConfig(body, revisions.Val()[id])
		if err != nil {
			return nil, err
		}
		configs[id] = c
	}
	return configs, nil
}

func parseConfig(body, revision string) (*pb.Config, error) {
	c := new(pb.Config)
	if err := proto.Unmarshal([]byte(body), c); err != nil {
		return nil, corrupt("config", err)
	}
	n, err := strconv.ParseInt(revision, 10, 64)
	if err != nil {
		return nil, corrupt("revision of a config", fmt.Errorf("%q is not a number", revision))
	}
	c.Revision = n
	return c, nil
}

// DeleteConfig deletes a config. After it returns, no match of the config is claimed. It reports whether the config
// existed. Errors: Conflict when its revision is not the expected one.
func (s *Store) DeleteConfig(ctx context.Context, project, id string, expected int64) (bool, error) {
	reply, err := s.run(ctx, s.call(configDeleteScript, keysOf(project), ids{},
		"id", id,
		"lower_id", strings.ToLower(id),
		"expected", expectation(expected)))
	if reply == int64(-1) {
		return false, problem.New(problem.Conflict, "config %q was changed by someone else: get it again, then delete", id)
	}
	return reply == int64(1), err
}
