package runner

import "time"

// scaler decides how many runners should host a project, from the load on this one. Every host of the project decides,
// and the greatest number counts. The zero scaler has seen no load.
type scaler struct {
	hosts      int       // 0: Settings.Hosts
	since      time.Time // of the last change of overloaded or hosts
	overloaded bool      // at the last update
}

// update takes whether the project is overloaded here: runs wait although there are as many instances as allowed. After
// Settings.Crowded of overload the project should have one host more than now, after Settings.Idle without one less.
func (sc *scaler) update(now time.Time, overloaded bool, hosts int, s *Settings) int {
	if overloaded != sc.overloaded || sc.since.IsZero() {
		sc.overloaded, sc.since = overloaded, now
	}
	lasts := now.Sub(sc.since)
	switch {
	case overloaded && lasts >= s.Crowded && sc.hosts <= hosts:
		sc.hosts = min(hosts+1, s.MaxHosts)
		sc.since = now // the new host needs time to relieve this one
	case !overloaded && lasts >= s.Idle && sc.hosts > s.Hosts:
		sc.hosts--
		sc.since = now
	}
	if sc.hosts <= s.Hosts {
		sc.hosts = 0
	}
	return sc.hosts
}
