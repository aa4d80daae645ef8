package state

import (
	"cmp"
	"context"
	"errors"
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
	var verdict string
	if err := s.eval(ctx, s.call("settings_put", keysOf(project), ids{},
		"body", body,
		"expected", expectation(expected),
		"may_create", s.mayAdd(ctx, keysOf(project)),
		"names", names,
		"audited", encodeChange(&pb.Change{Kind: "settings", Action: "put", By: p.GetChangedBy()})),
		&verdict, &p.Revision, &p.Changed); err != nil {
		return err
	}
	switch verdict {
	case "short":
		return shortOfMemory(nil)
	case "changed":
		return problem.New(problem.EtagMismatch, "the settings were changed by someone else: get them again, then put")
	}
	return nil
}

// Settings reads the settings of a project. A project that never set any has settings of revision 0.
func (s *Store) Settings(ctx context.Context, project string) (*pb.ProjectSettings, error) {
	text, err := s.textIn(ctx, project, keysOf(project).settings(), "b")
	if err != nil {
		return nil, err
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

// parseSettings reads settings as settings_put.lua writes them; "" is settings of revision 0.
func parseSettings(text string) (*pb.ProjectSettings, error) {
	if text == "" {
		return new(pb.ProjectSettings), nil
	}
	parts := strings.SplitN(text, " ", 3)
	if len(parts) != 3 {
		return nil, corrupt("settings of a project", errors.New("revision and time are missing"))
	}
	in := replied{of: "settings of a project"}
	p := new(pb.ProjectSettings)
	in.message(parts[2], p)
	p.Revision, p.Changed = in.digits(parts[0]), in.digits(parts[1])
	return p, in.err
}
