package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// PutSettings replaces the settings of a project and gives them their revision and the time. After it returns, no
// ticket is created that was decided by the settings before. Errors: Conflict when the revision is not the expected
// one; Invalid when the system has too many projects; Unavailable when there were none and Redis is short of memory.
func (s *Store) PutSettings(ctx context.Context, project string, p *pb.ProjectSettings, expected int64) error {
	p.Revision, p.Changed = 0, 0
	names := " "
	for _, w := range p.GetWebhooks() {
		names += w.GetName() + " "
	}
	body, err := proto.Marshal(p)
	if err != nil {
		return problem.Wrap(problem.Invalid, err, "the settings hold text that is not UTF-8")
	}
	if err := s.addProject(ctx, project); err != nil {
		return err
	}
	reply, err := s.run(ctx, s.call(settingsPutScript, keysOf(project), ids{},
		"body", body,
		"expected", expectation(expected),
		"may_create", s.mayAdd(ctx, keysOf(project)),
		"names", names,
		"audited", encodeChange(&pb.Change{Kind: "settings", Action: "put", By: p.GetChangedBy()})))
	if err != nil {
		return err
	}
	r, err := listOf(reply, 2)
	if err != nil {
		return err
	}
	switch r[0] {
	case int64(-1):
		return shortOfMemory(nil)
	case int64(0):
		return problem.New(problem.ETagMismatch, "the settings were changed by someone else: get them again, then put")
	}
	var in replied
	p.Revision, p.Changed = in.number(r[0]), in.number(r[1])
	return in.err
}

// Settings reads the settings of a project. A project that never set any has settings of revision 0.
func (s *Store) Settings(ctx context.Context, project string) (*pb.ProjectSettings, error) {
	row, err := s.readShared(ctx, project, keysOf(project).settings(), "b")
	if err != nil {
		return nil, err
	}
	var in replied
	text := in.text(row[0])
	if text == "" {
		return new(pb.ProjectSettings), in.err
	}
	return parseSettings(text)
}

// SettingsHistory reads the latest settings of a project, the newest first: the current ones, and up to 31 before.
func (s *Store) SettingsHistory(ctx context.Context, project string) ([]*pb.ProjectSettings, error) {
	fields, err := s.redis.HGetAll(ctx, keysOf(project).settings()).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	var all []*pb.ProjectSettings
	for name, text := range fields {
		if _, err := strconv.Atoi(name); err != nil {
			continue // no change
		}
		p, err := parseSettings(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pb.ProjectSettings) int { return cmp.Compare(b.GetRevision(), a.GetRevision()) })
	return all, nil
}

// parseSettings reads settings as settings_put.lua writes them.
func parseSettings(text string) (*pb.ProjectSettings, error) {
	parts := strings.SplitN(text, " ", 3)
	if len(parts) != 3 {
		return nil, corrupt("settings of a project", errors.New("revision and time are missing"))
	}
	p := new(pb.ProjectSettings)
	if err := proto.Unmarshal([]byte(parts[2]), p); err != nil {
		return nil, corrupt("settings of a project", err)
	}
	var err error
	if p.Revision, err = strconv.ParseInt(parts[0], 10, 64); err == nil {
		p.Changed, err = strconv.ParseInt(parts[1], 10, 64)
	}
	if err != nil {
		return nil, corrupt("settings of a project", fmt.Errorf("revision or time is not a number: %w", err))
	}
	return p, nil
}
