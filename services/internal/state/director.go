package state

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Heartbeat notes that a director lives and leads this many projects, for this long. It returns how many projects each
// living director leads.
func (s *Store) Heartbeat(
	ctx context.Context, name string, leads int, hold time.Duration,
) (map[string]int, error) {
	var all []any
	if err := s.eval(ctx, s.call("director_heartbeat", global, ids{},
		"name", name,
		"timeout", hold.Milliseconds(),
		"leads", leads), &all); err != nil {
		return nil, err
	}
	var in replied
	living := make(map[string]int, len(all)/2)
	for ; len(all) >= 2; all = all[2:] {
		living[in.text(all[0])] = int(in.number(all[1]))
	}
	return living, in.err
}

// RemoveDirector ends a director's heartbeat.
func (s *Store) RemoveDirector(ctx context.Context, name string) error {
	_, err := s.Heartbeat(ctx, name, 0, 0)
	return err
}

// Lease is the lease of a project: its owner leads the project.
type Lease struct {
	// Owner is empty when no director ever led the project.
	Owner   string
	Epoch   uint64
	Expires time.Time
}

// Free reports whether a director may take the lease for a duration, as has_ended in script/include/time.lua does.
func (l Lease) Free(now time.Time, hold time.Duration) bool {
	return !l.Expires.After(now) || l.Expires.After(now.Add(hold+time.Minute))
}

// Leases reads the leases of projects.
func (s *Store) Leases(ctx context.Context, projects []string) ([]Lease, error) {
	rows, err := forEach(ctx, s.redis, projects, func(p redis.Pipeliner, project string) *redis.SliceCmd {
		return p.HMGet(ctx, keysOf(project).lease(), "owner", "epoch", "expires")
	})
	if err != nil {
		return nil, err
	}
	in := replied{of: "lease"}
	leases := make([]Lease, len(projects))
	for i := range rows {
		row := in.row(rows[i])
		leases[i] = Lease{Owner: in.text(row[0]), Epoch: in.position(row[1]), Expires: time.UnixMilli(in.digits(row[2]))}
	}
	return leases, in.err
}

// AcquireLease takes or renews the lease of a project for an owner, for this long. It returns the lease's epoch, 0
// when another owner holds it. The epoch grows whenever the lease passes to another owner: claims made under an older
// one are refused.
func (s *Store) AcquireLease(
	ctx context.Context, project, owner string, hold time.Duration,
) (epoch uint64, err error) {
	epochs, err := s.AcquireLeases(ctx, []string{project}, owner, hold)
	if err != nil {
		return 0, err
	}
	return epochs[0], nil
}

// AcquireLeases is AcquireLease for many projects. After an error it returns the epochs of the first projects. The
// leases of the others may have been taken or not.
func (s *Store) AcquireLeases(
	ctx context.Context, projects []string, owner string, hold time.Duration,
) (epochs []uint64, err error) {
	calls := make([]call, len(projects))
	for i, project := range projects {
		calls[i] = s.call("director_lease", keysOf(project), ids{},
			"owner", owner,
			"duration", hold.Milliseconds(),
			"seizes", "0")
	}
	if len(calls) == 0 {
		return nil, nil
	}
	replies, failed := s.runAll(ctx, projects[0], calls)
	for _, reply := range replies {
		var epoch uint64
		if err := parseReply(reply, &epoch); err != nil {
			return epochs, cmp.Or(failed, err)
		}
		epochs = append(epochs, epoch)
	}
	if failed == nil && len(epochs) < len(projects) {
		failed = fmt.Errorf("state: %d replies to %d leases", len(epochs), len(projects))
	}
	return epochs, failed
}

// ReleaseLease ends a lease, so that another owner can take it at once.
func (s *Store) ReleaseLease(ctx context.Context, project, owner string) error {
	_, err := s.AcquireLease(ctx, project, owner, 0)
	return err
}
