package runner

import "time"

// demand is how many runners should host a project, as one that does sees it. All that do may
// say so, and the greatest number counts; the zero value has none.
type demand struct {
	hosts int       // 0: as many as without load
	since time.Time // when it became crowded, or calm, or changed its mind
	crowd bool      // at the last look
}

// look takes in whether runs wait although this runner has as many instances as it may. After some time of that the project wants one more runner than it has, and after a
// longer time without one less.
func (d *demand) look(now time.Time, crowded bool, hosts int, s *Settings) int {
	if crowded != d.crowd || d.since.IsZero() {
		d.crowd, d.since = crowded, now
	}
	lasts := now.Sub(d.since)
	switch {
	case crowded && lasts >= s.Crowded && d.hosts <= hosts:
		d.hosts = min(hosts+1, s.MaxHosts)
		d.since = now // the new one needs time to relieve this one
	case !crowded && lasts >= s.Idle && d.hosts > s.Hosts:
		d.hosts--
		d.since = now
	}
	if d.hosts <= s.Hosts {
		d.hosts = 0
	}
	return d.hosts
}
