package director

import (
	"context"
	"time"
)

// searchEvery is how often the leader looks for tickets that wait in queues without configs: tickets of a match that
// was released wait again.
const searchEvery = time.Minute

// search goes through all tickets that wait.
type search struct {
	// queues is the number of queues in the last search for their tickets, and next the time of the next search.
	queues int64
	next   time.Time
	// cursor is where to go on; 0 when all were looked at.
	cursor uint64
}

// endUnserved ends tickets that wait where no config serves any of their queues any more, in projects that refuse such
// tickets. queues is how many queues have been without a config for long enough. It returns the feed's position after
// that.
func (m *maintenance) endUnserved(ctx context.Context, now time.Time, queues int64) uint64 {
	s := &m.search
	if queues == 0 {
		*s = search{}
		return 0
	}
	if s.cursor == 0 {
		if queues == s.queues && now.Before(s.next) || !m.beginSearch(ctx) {
			return 0
		}
		s.queues, s.next = queues, now.Add(searchEvery)
	}
	found, err := m.Store.EndUnserved(ctx, m.project, s.cursor, expireBatch, m.Settings.Unserved, m.Readable)
	if !m.observed.Check(ctx, "ending tickets in queues without configs", err) {
		return 0
	}
	s.cursor = found.Next
	m.finishBatch(ctx, "unserved", found.Ended, found.Next != 0)
	if found.Ended > 0 {
		m.log.InfoContext(ctx, "tickets in queues that no config serves any more were ended", "tickets", found.Ended)
	}
	m.Bus.NotifyResults(ctx, m.project, found.Told, nil) // requests that wait for them read the reason
	return found.Position
}

// beginSearch reports whether the project ends such tickets. If not, it forgets the unserved queues.
func (m *maintenance) beginSearch(ctx context.Context) bool {
	settings, err := m.Store.Settings(ctx, m.project)
	if !m.observed.Check(ctx, "reading the project's settings", err) {
		return false
	}
	wanted := settings.GetTickets().GetRefuseUnserved()
	age := m.Settings.Unserved
	if wanted {
		age += m.Settings.Waiting // by then no ticket waits any more that waited then
	}
	err = m.Store.ForgetUnserved(ctx, m.project, age)
	return m.observed.Check(ctx, "forgetting queues without configs", err) && wanted
}
