package schedule

import (
	"slices"
	"testing"
	"time"
)

var (
	times = Times{
		MinInterval: 10 * time.Millisecond, MaxInterval: time.Second, Window: 20 * time.Millisecond, Run: 5 * time.Second,
	}
	epoch = time.Unix(1_700_000_000, 0)
)

// first returns the schedule of a new segment without an account.
func first() Segment { return Segment{wanted: anyway} }

// after is a moment of these tests.
func after(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

// paced is a segment that ran each 10 ms, last at a moment.
func paced(ms int) Segment {
	s := first()
	s.paced = after(ms + 10*spared)
	s.Start(after(ms))
	return s
}

// started is a segment whose last run started at a moment and is settled.
func started(ms int, changes ...func(*Segment)) Segment {
	s := paced(ms)
	s.End(OK, 0, after(ms))
	for _, change := range changes {
		change(&s)
	}
	return s
}

// running is a segment with a run that started at a moment.
func running(ms int, changes ...func(*Segment)) Segment {
	s := paced(ms)
	for _, change := range changes {
		change(&s)
	}
	return s
}

// Something happens each millisecond, and runs take none.
func TestFewRunsFollowEachOtherAtOnce(t *testing.T) {
	s := first()
	segments := slices.Values([]*Segment{&s})
	var starts []int
	for ms := range 1100 {
		s.Touch()
		if ms >= 100 && ms < 1000 {
			continue
		}
		state := State[*Segment]{Times: times, Segments: segments, Wake: after(1e6)}
		if due, _ := state.Next(after(ms)); len(due) == 1 {
			s.Start(after(ms))
			s.End(OK, 0, after(ms))
			starts = append(starts, ms)
		}
	}
	want := []int{0, 1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 1000, 1001, 1010, 1020, 1030, 1040, 1050, 1060, 1070, 1080,
		1090}
	if !slices.Equal(starts, want) {
		t.Errorf("runs start at %v", starts)
	}
	if next := s.Next(); next.due(times) != s.due(times) {
		t.Error("a segment that replaces one starts anew")
	}
}

// What changed up to where the last run saw the feed needs no other run, whenever that is heard.
func TestRunsSeeChangesOnce(t *testing.T) {
	for name, test := range map[string]struct {
		during, after func(s *Segment)
		want          bool
	}{
		"nothing":                   {},
		"during the run":            {during: func(s *Segment) { s.TouchAt(7) }},
		"after it":                  {after: func(s *Segment) { s.TouchAt(7) }},
		"during it, and not seen":   {during: func(s *Segment) { s.TouchAt(8); s.TouchAt(7) }, want: true},
		"after it, and not seen":    {after: func(s *Segment) { s.TouchAt(8) }, want: true},
		"beside the feed":           {during: (*Segment).Touch, want: true},
		"beside the feed, after it": {after: (*Segment).Touch, want: true},
		"a feed that began anew, lower": {
			after: func(s *Segment) { s.Start(after(1)); s.TouchAt(1); s.End(OK, 0, after(2)) }, want: true,
		},
		"queues in which nothing has changed": {during: func(s *Segment) { s.TouchAt(0) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := paced(0)
			if test.during != nil {
				test.during(&s)
			}
			s.Saw(7)
			s.End(OK, 0, after(1))
			if test.after != nil {
				test.after(&s)
			}
			starts, _ := State[*Segment]{Times: times, Segments: slices.Values([]*Segment{&s}), Wake: after(1e6)}.Next(after(50))
			if got := len(starts) == 1; got != test.want {
				t.Errorf("another run starts: %v", got)
			}
		})
	}
}

func TestNext(t *testing.T) {
	taken := func(s *Segment) { s.Take("r", times) }
	propose := func(s *Segment) { s.Propose(2) }
	touch := (*Segment).Touch
	for name, test := range map[string]struct {
		now      int
		state    State[*Segment]
		segments []Segment
		starts   []int
		wake     int
	}{
		"nothing to do": {now: 100, wake: 1100},
		"a new segment": {segments: []Segment{first()}, starts: []int{0}, wake: 250},
		"all that are due": {
			now: 10, segments: []Segment{first(), started(0), started(0, touch)}, starts: []int{0, 2}, wake: 260,
		},
		"nothing happened":    {now: 100, segments: []Segment{started(0)}, wake: 1000},
		"a second has passed": {now: 1000, segments: []Segment{started(0)}, starts: []int{0}, wake: 1250},
		"something happened":  {now: 4, segments: []Segment{started(0, touch)}, wake: 10},
		"a run is under way":  {now: 100, segments: []Segment{running(0, touch)}, wake: 250},
		"a run was taken":     {now: 5500, segments: []Segment{running(0, touch, taken)}, wake: 6000},
		"proposals are not settled": {
			now: 100, segments: []Segment{started(0, touch, propose)}, wake: 1100,
		},
		"some proposals are not settled": {
			now: 100, segments: []Segment{started(0, touch, propose, func(s *Segment) { s.Settle(1) })}, wake: 1100,
		},
		"all proposals are settled": {
			now: 100, segments: []Segment{started(0, touch, propose, func(s *Segment) { s.Settle(2) })},
			starts: []int{0}, wake: 350,
		},
		"the config is held": {
			now: 100, segments: []Segment{started(0, touch, func(s *Segment) { s.Hold(true) })}, wake: 1100,
		},
		"the config is not held any more": {
			now: 100, segments: []Segment{started(0, touch, func(s *Segment) { s.Hold(true); s.Hold(false) })},
			starts: []int{0}, wake: 350,
		},
		"runs are paused": {
			now: 100, state: State[*Segment]{Paused: true}, segments: []Segment{first(), running(0)}, wake: 250,
		},
		"no runner hosts the function": {
			now: 100, segments: []Segment{running(0, func(s *Segment) { s.End(Absent, 0, after(100)) })}, wake: 350,
		},
		"a runner came that may host the function": {
			now:      100,
			segments: []Segment{running(0, func(s *Segment) { s.End(Absent, 0, after(100)); s.EndRest(after(100)) })},
			starts:   []int{0}, wake: 350,
		},
		"the bus did not take the run": {
			now: 900, segments: []Segment{running(0, func(s *Segment) { s.End(Bus, 0, after(900)) })}, wake: 1150,
		},
		"the bus did not take the run, and something happened": {
			now: 100, segments: []Segment{running(0, func(s *Segment) { s.End(Bus, 0, after(50)); s.Touch() })}, wake: 300,
		},
		"a run failed": {
			now: 100, segments: []Segment{running(0, func(s *Segment) { s.End(Failed, 0, after(100)) })}, wake: 1000,
		},
		"a run was late": {
			now: 250, segments: []Segment{running(0, func(s *Segment) { s.End(Late, 0, after(250)) })},
			starts: []int{0}, wake: 750, // with twice the time to take it
		},
		"proposals wait": {
			now: 100, state: State[*Segment]{Pending: after(95)}, segments: []Segment{running(90)}, wake: 110,
		},
		"something else is to be done": {now: 100, state: State[*Segment]{Wake: after(120)}, wake: 120},
	} {
		state := test.state
		state.Times = times
		if state.Wake.IsZero() {
			state.Wake = after(1e6)
		}
		var segments []*Segment
		for i := range test.segments {
			segments = append(segments, &test.segments[i])
		}
		state.Segments = slices.Values(segments)
		starts, wake := state.Next(after(test.now))
		if !wake.Equal(after(test.wake)) {
			t.Errorf("%s: wakes at %v, want %d ms", name, wake.Sub(epoch), test.wake)
		}
		if !slices.EqualFunc(starts, test.starts, func(s *Segment, i int) bool { return s == segments[i] }) {
			t.Errorf("%s: starts %d segments, want %v", name, len(starts), test.starts)
		}
	}
}

func TestEvaluateAt(t *testing.T) {
	vain := func(s *Segment) { s.account = &Account{fruitless: true} }
	ending := func(o Outcome, before ...int) func(*Segment) { // milliseconds of its last runs
		return func(s *Segment) {
			began := s.started
			for _, ms := range before {
				s.Start(after(0))
				s.End(o, 0, after(ms))
			}
			s.Start(began)
		}
	}
	lasting := func(before ...int) func(*Segment) { return ending(OK, before...) }
	for name, test := range map[string]struct {
		pending  int
		segments []Segment
		at       int // the zero time if negative
		rivals   func(*Segment) bool
	}{
		"others serve other queues": {
			pending: 50, segments: []Segment{running(45), running(40)}, at: 60,
			rivals: func(s *Segment) bool { return s.started.Equal(after(40)) },
		},
		"no run can add to them":                    {pending: 50, segments: []Segment{started(45)}, at: -1},
		"a run that started before can add to them": {pending: 50, segments: []Segment{running(40), running(45)}, at: 65},
		"they have waited for the window":           {pending: 50, segments: []Segment{running(60)}, at: 70},
		"a run will not end within the window": {
			pending: 50, segments: []Segment{running(45, lasting(5, 30, 25))}, at: -1,
		},
		"its first proposals have come": {
			pending: 50, segments: []Segment{running(45, lasting(30, 25), func(s *Segment) { s.Propose(1) })}, at: 65,
		},
		"its function may be another one": {
			pending: 50, segments: []Segment{running(45, lasting(30, 25), func(s *Segment) { s.EndRest(after(45)) })}, at: 65,
		},
		"no runner took its runs":        {pending: 50, segments: []Segment{running(45, ending(Late, 250, 500))}, at: 65},
		"a run was slow once":            {pending: 50, segments: []Segment{running(45, lasting(5, 30))}, at: 65},
		"a run is quick again":           {pending: 50, segments: []Segment{running(45, lasting(30, 5))}, at: 65},
		"only one run is known":          {pending: 50, segments: []Segment{running(45, lasting(30))}, at: 65},
		"runs are older than the window": {pending: 50, segments: []Segment{running(10)}, at: 30},
		"a fruitless config is as fast":  {pending: 50, segments: []Segment{running(48, vain)}, at: 53},
		"many fruitless configs run": {
			pending: 50, segments: []Segment{running(48, vain), running(50, vain), running(52, vain)}, at: 53,
		},
		"fruitless configs started afterwards": {
			pending: 50, segments: []Segment{running(51, vain), running(52, vain)}, at: -1,
		},
		"others are waited for as well": {
			pending: 50, segments: []Segment{running(48, vain), running(40)}, at: 60,
		},
		"a fruitless config runs for longer than the window": {pending: 50, segments: []Segment{running(20, vain)}, at: 40},
	} {
		var segments []*Segment
		for i := range test.segments {
			segments = append(segments, &test.segments[i])
		}
		state := State[*Segment]{Times: times, Segments: slices.Values(segments), Pending: after(test.pending),
			Took: 3 * time.Millisecond, Rivals: test.rivals}
		at := state.EvaluateAt()
		if test.at < 0 && !at.IsZero() || test.at >= 0 && !at.Equal(after(test.at)) {
			t.Errorf("%s: at %v, want %d ms", name, at, test.at)
		}
	}
}

func TestOverdue(t *testing.T) {
	alive, lost := func(string) bool { return false }, func(runner string) bool { return runner == "r" }
	taken := func(s *Segment) { s.Take("r", times) }
	for name, test := range map[string]struct {
		now     int
		segment Segment
		lost    func(string) bool
		want    string
	}{
		"no run":              {9999, started(0), lost, ""},
		"not taken yet":       {249, running(0), alive, ""},
		"not taken in time":   {250, running(0), alive, "no runner took the run in time"},
		"taken":               {5999, running(0, taken), alive, ""},
		"not answered":        {6000, running(0, taken), alive, "the runner did not answer in time"},
		"the runner is lost":  {1, running(0, taken), lost, "the runner is lost"},
		"another one is lost": {1, running(0), lost, ""},
	} {
		if got := test.segment.Overdue(after(test.now), test.lost); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestTimeToTakeARunGrowsUntilOneIsTaken(t *testing.T) {
	now, s := epoch, first()
	for i, want := range []time.Duration{250, 500, 1000, 2000, 2000} {
		s.Start(now)
		if got := s.deadline.Sub(now); got != want*time.Millisecond {
			t.Errorf("run %d: %v, want %v ms", i, got, int(want))
		}
		now = s.deadline
		s.End(Late, 0, now)
	}
	s.Start(now)
	s.Take("r", times)
	s.End(Late, 0, now)
	s.Start(now)
	if got := s.deadline.Sub(now); got != takeTimeout {
		t.Errorf("after a run was taken: %v", got)
	}
}

func TestNextSegmentGoesOnWhereTheOldOneWas(t *testing.T) {
	old := running(7, func(s *Segment) { s.Propose(3); s.End(Absent, 0, after(8)) })
	next := old.Next()
	if !next.Idle() || !next.Started().Equal(after(7)) || !next.due(times).Equal(after(258)) {
		t.Errorf("the next segment is %+v", next)
	}
}
