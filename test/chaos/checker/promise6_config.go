package checker

import (
	"maps"
	"slices"

	"matchmaker.dev/services/test/chaos/history"
)

// config names a config.
type config struct{ project, name string }

// changes are the PUTs and DELETEs of all configs.
type changes struct {
	of          map[config][]*history.Change
	revisions   map[string]map[int64]*history.Change // answered PUTs by project and revision
	generations map[config]map[int64]*history.Change // PUTs by generation
	uploads     map[config][]*history.Change         // and deletions, rollbacks and canaries, by function
}

// configsAreCurrent checks promise 6: no match is made by a config that was replaced or deleted before.
func configsAreCurrent(m *model, p *Promise, _ *Sums) {
	all := m.changes(p)
	var claims, runs, soon int
	for _, project := range slices.Sorted(maps.Keys(m.logs)) {
		for _, e := range m.logs[project] {
			by := all.revisions[project][e.Revision]
			if !m.takes(e) || by == nil {
				continue // the answer to its PUT was lost; the results of the players are checked below
			}
			claims++
			if c := all.replaced(by, e.Time); c != nil {
				p.fail("%s, event %d: tickets are %s at %s by revision %d of config %s, after its %s was answered at %s",
					project, e.Position, e.Kind, clock(history.Moment(e.Time*1000)), e.Revision, by.Name, c.Op, clock(c.To))
			}
		}
	}
	for _, t := range m.ticketsByID() {
		c := t.result()
		if c == nil {
			continue
		}
		made, ok := properties(c.Assignment)
		if !ok {
			continue
		}
		settings := made.Settings
		by := all.generations[config{t.project, settings.Config}][settings.Generation]
		if by == nil {
			p.fail("%s: ticket %s was matched by generation %d of config %s, which was never put",
				t.project, t.id, settings.Generation, settings.Config)
			continue
		}
		if len(t.configs) > 0 && !slices.Contains(t.configs, settings.Config) {
			p.fail("%s: ticket %s was matched by config %s, in whose pools or queue it is not", t.project, t.id, settings.Config)
		}
		runs++
		all.checkUpload(m, p, t, made)
		if c := all.replaced(by, made.Now); c != nil {
			p.fail("%s: ticket %s was matched by a run of %s with generation %d of config %s, after its %s was answered at %s",
				t.project, t.id, clock(history.Moment(made.Now*1000)), settings.Generation, settings.Config, c.Op, clock(c.To))
		}
		if all.replaced(by, made.Now+1000) != nil {
			soon++
		}
	}
	p.count("claims checked against the config of their time", claims)
	p.count("tickets checked against the settings of their run", runs)
	p.count("of these, within a second before a change", soon)
}

// changes collects the changes of configs and counts them.
func (m *model) changes(p *Promise) *changes {
	all := &changes{map[config][]*history.Change{}, map[string]map[int64]*history.Change{},
		map[config]map[int64]*history.Change{}, map[config][]*history.Change{}}
	counts := map[history.Op]int{}
	for i := range m.h.Changes {
		c := &m.h.Changes[i]
		if c.Op != history.Put && c.Op != history.Delete {
			k := config{c.Project, c.Name}
			all.uploads[k] = append(all.uploads[k], c)
			if c.Status/100 == 2 {
				counts[c.Op]++
			}
			continue
		}
		k := config{c.Project, c.Name}
		if !m.lost(c.Project, c.Span) { // else the config may be as it was before
			all.of[k] = append(all.of[k], c)
		}
		if c.Op == history.Put {
			add(all.generations, k, c.Generation, c)
		}
		if c.Status/100 == 2 {
			counts[c.Op]++
			if c.Op == history.Put {
				m.addRevision(all.revisions, c)
			}
		}
	}
	p.count("configs put", counts[history.Put])
	p.count("configs deleted", counts[history.Delete])
	p.count("functions uploaded", counts[history.Upload])
	p.count("functions deleted", counts[history.Remove])
	p.count("rollbacks of a function", counts[history.Rollback])
	p.count("canaries", counts[history.Canary])
	p.count("uploads promoted", counts[history.Promote])
	p.count("uploads in the shadow", counts[history.Shadow])
	return all
}

// addRevision notes the PUT of a revision. A loss lets two have the same: then none is it for certain.
func (m *model) addRevision(to map[string]map[int64]*history.Change, c *history.Change) {
	put := c
	if _, twice := to[c.Project][c.Revision]; twice && len(m.losses[c.Project]) > 0 {
		put = nil
	}
	add(to, c.Project, c.Revision, put)
}

// add puts a change into a map of maps.
func add[K comparable](to map[K]map[int64]*history.Change, key K, number int64, c *history.Change) {
	if to[key] == nil {
		to[key] = map[int64]*history.Change{}
	}
	to[key][number] = c
}

// replaced is the change that ended what a PUT had put and was answered before a time; nil when there was none. A PUT
// without an answer may take effect after a later one, so it is never replaced for certain.
func (all *changes) replaced(put *history.Change, millis int64) *history.Change {
	if put.Status/100 != 2 {
		return nil
	}
	for _, c := range all.of[config{put.Project, put.Name}] {
		if c.From > put.To && c.Status/100 == 2 && c.To.Millis() < millis {
			return c
		}
	}
	return nil
}
