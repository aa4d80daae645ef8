package state

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// entries is the content of a reply.
type entries struct {
	changes []Change
	// named are the numbers of changes that an entry only names, as '@<ticket>' or '%<backfill>': the ticket waits, or the
	// backfill ticket is shown, and it has the body.
	named    []int
	position uint64 // of the last entry
	// count is how many entries there are, and largest the bytes of the largest.
	count, largest int
	// cut is true when the reply has more entries, which must be read again.
	cut bool
}

// namedAtOnce is the most named bodies that are read at once, since all of them are in memory. The rest of the reply is
// read later.
const namedAtOnce = 256

// subject is the ticket or the backfill ticket of a change.
type subject struct{ ticket, backfill string }

func (c *Change) of() subject { return subject{c.Ticket, c.Backfill} }

// fill reads the bodies of changes that entries only name. A body may be newer than its entry. Then a later entry has
// the later change too.
func (r *reader) fill(ctx context.Context, got *entries) error {
	if len(got.named) == 0 {
		return nil
	}
	last := map[subject]int{}
	for i := range got.changes {
		last[got.changes[i].of()] = i
	}
	var tickets, backfills []int
	for _, i := range got.named {
		// A change that another one follows may stay without its body, as if the ticket had gone.
		switch c := &got.changes[i]; {
		case last[c.of()] != i:
		case c.Ticket != "":
			tickets = append(tickets, i)
		default:
			backfills = append(backfills, i)
		}
	}
	if err := r.fillFrom(ctx, &ticketRows, got.changes, tickets); err != nil {
		return err
	}
	return r.fillFrom(ctx, &backfillRows, got.changes, backfills)
}

// fillFrom replaces the changes with these numbers by the content of the hashes.
func (r *reader) fillFrom(ctx context.Context, kind *rowKind, changes []Change, numbers []int) error {
	if len(numbers) == 0 {
		return nil
	}
	ids := make([]string, len(numbers))
	for n, i := range numbers {
		ids[n] = changes[i].Ticket + changes[i].Backfill
	}
	return r.store.rows(ctx, r.k, kind, ids, func(n int, c Change) { changes[numbers[n]] = c }, nil)
}

// decode reads a reply of XREAD, [[stream, [[id, [name, value, …]], …]]], and appends its changes. The reply is read
// raw because the client's own type loses the fields' order.
func decode(reply any, changes []Change, position uint64) (entries, error) {
	got := entries{changes: changes, position: position}
	streams, ok := reply.([]any)
	if !ok || len(streams) != 1 {
		return got, fmt.Errorf("state: unexpected reply of XREAD: %T", reply)
	}
	stream, err := listOf(streams[0], 2)
	if err != nil {
		return got, err
	}
	list, err := listOf(stream[1], 0)
	if err != nil {
		return got, err
	}
	for _, e := range list {
		if got.cut = len(got.named) >= namedAtOnce; got.cut {
			break
		}
		entry, err := listOf(e, 2)
		if err != nil {
			return got, err
		}
		var in replied
		id := in.text(entry[0])
		number, _, _ := strings.Cut(id, "-")
		at, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return got, corrupt("feed", err)
		}
		// Positions have no holes. A hole means that entries were trimmed before they were read.
		if at != got.position+1 {
			return got, errGap
		}
		got.position = at
		fields, err := listOf(entry[1], 0)
		if err != nil {
			return got, err
		}
		if pairs := in.texts(fields); len(pairs)%2 != 0 || in.err != nil {
			return got, cmp.Or(in.err, corrupt("feed", strconv.ErrRange))
		}
		got.largest = max(got.largest, got.add(fields))
		got.count++
	}
	return got, nil
}

// add appends the changes of an entry, and returns its bytes.
func (got *entries) add(fields []any) (bytes int) {
	for i := 0; i+1 < len(fields); i += 2 {
		name, _ := fields[i].(string)
		body, _ := fields[i+1].(string)
		bytes += len(name) + len(body)
		switch {
		case strings.HasPrefix(name, "@"):
			got.named = append(got.named, len(got.changes))
			got.changes = append(got.changes, Change{Ticket: name[1:]})
		case strings.HasPrefix(name, "%"):
			got.named = append(got.named, len(got.changes))
			got.changes = append(got.changes, Change{Backfill: name[1:]})
		case strings.HasPrefix(name, "+") && body != "":
			got.changes = append(got.changes, Change{Ticket: name[1:], Body: body})
		case name == "-":
			for id := range strings.SplitSeq(body, " ") {
				got.changes = append(got.changes, Change{Ticket: id, Claimed: true})
			}
		case strings.HasPrefix(name, "-"):
			got.changes = append(got.changes, Change{Ticket: name[1:]})
		case strings.HasPrefix(name, "*") && body != "":
			got.changes = append(got.changes, Change{Backfill: name[1:], Body: body})
		case strings.HasPrefix(name, "/"):
			got.changes = append(got.changes, Change{Backfill: name[1:]})
		}
	}
	return bytes
}
