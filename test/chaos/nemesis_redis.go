package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/schedule"
)

// effectTime is how long a fault of Redis may take to show, or its end.
const effectTime = 30 * time.Second

// watch notes the times whose writes are lost until ctx ends.
func (n *nemesis) watch(ctx context.Context) {
	for i, p := range n.system.stores.pairs {
		n.watching.Go(func() {
			p.watch(ctx, func(s history.Span) {
				l := history.Loss{Span: s, Projects: n.system.stores.of(i)}
				n.log("%s has another primary; what was written in %v may be lost", p.name,
					time.Duration(s.To-s.From)*time.Microsecond)
				n.journal.Loss(l)
			})
		})
	}
}

// disturbStore injects a fault of Redis. An error means that it had no effect, or does not end.
func (n *nemesis) disturbStore(ctx context.Context, f schedule.Fault) error {
	st := n.system.stores
	switch f.Kind {
	case schedule.FillMemory, schedule.FillDisk:
		i := slices.IndexFunc(st.servers, func(r *redis) bool { return r.name == f.Target.Name })
		if f.Kind == schedule.FillDisk {
			return n.fillDisk(ctx, st.servers[i], f.For)
		}
		r := st.servers[i]
		for _, p := range st.pairs {
			if slices.Contains(p.servers[:], r) { // a replica refuses nothing
				var err error
				if r, _, err = p.whole(ctx); err != nil {
					return err
				}
				break
			}
		}
		return n.fillMemory(ctx, r, f.For)
	case schedule.Move:
		return n.move(ctx, f)
	}
	i := slices.IndexFunc(st.pairs, func(p *pair) bool { return p.name == f.Target.Name })
	primary, replica, err := st.pairs[i].whole(ctx)
	if err != nil {
		return err
	}
	if f.Kind == schedule.FailOver {
		return n.failOver(ctx, replica)
	}
	return n.lose(ctx, primary, replica, f.For)
}

// answers waits until a server answers.
func answers(ctx context.Context, r *redis) error {
	return until(ctx, func() bool { _, err := r.ask(ctx, "PING"); return err == nil })
}

// How much more memory than it uses a server has that is full, and how often that is set again: buffers of clients that
// were cut off go.
const (
	fullRoom = 32 << 10
	fullPace = 200 * time.Millisecond
)

// fillMemory lets a server have little more memory than it uses. What is new is refused then.
func (n *nemesis) fillMemory(ctx context.Context, r *redis, d time.Duration) error {
	waits, cancel := context.WithTimeout(ctx, effectTime)
	defer cancel()
	if err := answers(waits, r); err != nil {
		return err
	}
	most := func(bytes int64) error {
		_, err := r.ask(waits, "CONFIG", "SET", "maxmemory", strconv.FormatInt(bytes, 10))
		return err
	}
	limit := int64(math.MaxInt64)
	used, err := r.used(waits)
	for end := time.Now().Add(d); err == nil; used, err = r.used(waits) {
		if used+fullRoom < limit {
			limit = used + fullRoom
			err = most(limit)
		}
		if left := time.Until(end); left <= 0 || err != nil || !pause(ctx, min(left, fullPace)) {
			break
		}
	}
	err = errors.Join(err, until(waits, func() bool { return most(0) == nil }))
	if err == nil && used < limit-limit/4 {
		err = fmt.Errorf("it used %d of %d bytes", used, limit)
	}
	return err
}

// used is how much memory a server uses, in bytes.
func (r *redis) used(ctx context.Context) (int64, error) {
	memory, err := r.info(ctx, "memory")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(memory["used_memory"], 10, 64)
}

// refuses reports whether a server refuses writes because it cannot keep them.
func refuses(ctx context.Context, r *redis) bool {
	_, err := r.ask(ctx, "SET", "chaos", "is here")
	return err != nil && strings.Contains(err.Error(), "MISCONF")
}

// fillDisk fills the disk of a server until it refuses writes, and for a while. It must accept them again by itself.
func (n *nemesis) fillDisk(ctx context.Context, r *redis, d time.Duration) error {
	waits, cancel := context.WithTimeout(ctx, effectTime)
	defer cancel()
	if err := answers(waits, r); err != nil {
		return err
	}
	err := n.system.stores.disk.fill()
	if err == nil {
		err = until(waits, func() bool { return refuses(waits, r) })
	}
	if err == nil {
		pause(ctx, d)
	}
	err = errors.Join(err, n.system.stores.disk.clear())
	if err == nil && ctx.Err() == nil {
		if err = until(waits, func() bool { return !refuses(waits, r) }); err != nil {
			err = fmt.Errorf("writes are refused though the disk has room again: %w", err)
		}
	}
	return err
}

// failOver makes a replica the primary in good order.
func (n *nemesis) failOver(ctx context.Context, replica *redis) error {
	waits, cancel := context.WithTimeout(ctx, effectTime)
	defer cancel()
	var failed error
	var asked time.Time
	err := until(waits, func() bool {
		if isPrimary(waits, replica) {
			return true
		}
		if time.Since(asked) < failOverTime {
			return false
		}
		if st := n.system.stores; st.kind == cluster {
			_, failed = replica.ask(waits, "CLUSTER", "FAILOVER")
		} else {
			_, failed = st.sentinels[0].ask(waits, "SENTINEL", "FAILOVER", masterName)
		}
		if failed == nil {
			asked = time.Now()
		}
		return false
	})
	if err != nil {
		return errors.Join(err, failed)
	}
	return nil
}

// failOverTime is how long a failover may take before it is asked for again.
const failOverTime = 6 * time.Second

func isPrimary(ctx context.Context, r *redis) bool {
	is, err := r.role(ctx)
	return err == nil && is.primary
}

// lose keeps writes from a replica for a while, and kills the primary. It starts again when the replica is the primary.
func (n *nemesis) lose(ctx context.Context, primary, replica *redis, d time.Duration) error {
	waits, cancel := context.WithTimeout(ctx, effectTime)
	defer cancel()
	_, err := primary.ask(waits, "ACL", "SETUSER", "replica", "off")
	if err == nil {
		_, err = primary.ask(waits, "CLIENT", "KILL", "TYPE", "replica")
	}
	pause(ctx, d)
	for n := 0; err == nil && n < 100; n++ { // it may have no project
		if _, err := primary.ask(waits, "SET", fmt.Sprint("chaos-", n), "is lost"); err == nil {
			break // its slot is here
		}
	}
	if err == nil {
		err = until(waits, func() bool { // until there is something to lose
			had, failure := primary.role(waits)
			has, failed := replica.role(waits)
			return failure == nil && failed == nil && had.offset > has.offset
		})
	}
	primary.process().Kill()
	err = errors.Join(err, until(waits, func() bool { return isPrimary(waits, replica) }))
	return errors.Join(err, primary.start())
}

// moveTime is how long the move of a project may take.
const moveTime = 2 * time.Minute

// move moves a project's keys to the next primary, batch by batch. Its requests are refused meanwhile.
func (n *nemesis) move(ctx context.Context, f schedule.Fault) error {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	st := n.system.stores
	project := n.projects[int(f.At)%len(n.projects)]
	st.mu.Lock()
	homes := st.homes[project]
	from := homes[len(homes)-1]
	to := (from + 1) % len(st.pairs)
	st.homes[project] = []int{from, to}
	st.mu.Unlock()
	slot, err := st.slot(ctx, project)
	if err != nil {
		return err
	}
	// A server that is too slow for the others may be replaced meanwhile. The move goes on with the one that took over.
	var last error
	err = until(ctx, func() bool {
		last = st.moveSlot(ctx, strconv.FormatInt(slot, 10), st.pairs[from], st.pairs[to])
		return last == nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}

// batch is how many keys are moved at a time.
const batch = "50"

// moveSlot moves a slot, or what is left of it.
func (st *stores) moveSlot(ctx context.Context, slot string, from, to *pair) error {
	source, _, err := from.whole(ctx)
	if err != nil {
		return err
	}
	target, _, err := to.whole(ctx)
	if err != nil {
		return err
	}
	var ids [2]string
	for i, r := range []*redis{source, target} {
		id, err := r.ask(ctx, "CLUSTER", "MYID")
		if err != nil {
			return err
		}
		ids[i], _ = id.(string)
	}
	_, err = target.ask(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
	if err != nil && !strings.Contains(err.Error(), "already the owner") { // of an earlier try
		return err
	}
	_, err = source.ask(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
	if err != nil && !strings.Contains(err.Error(), "not the owner") {
		return err
	}
	where, err := target.listening(ctx)
	if err != nil {
		return err
	}
	_, port, _ := strings.Cut(where, ":")
	for {
		answer, err := source.ask(ctx, "CLUSTER", "GETKEYSINSLOT", slot, batch)
		if err != nil {
			return err
		}
		keys, _ := answer.([]any)
		if len(keys) == 0 {
			break
		}
		command := []string{"MIGRATE", "127.0.0.1", port, "", "0", "1000", "KEYS"}
		for _, key := range keys {
			command = append(command, fmt.Sprint(key))
		}
		if _, err := source.ask(ctx, command...); err != nil {
			return err
		}
	}
	for _, r := range []*redis{target, source} {
		if _, err := r.ask(ctx, "CLUSTER", "SETSLOT", slot, "NODE", ids[1]); err != nil {
			return err
		}
	}
	return nil
}
