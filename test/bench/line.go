package main

import (
	"encoding/json"
	"fmt"
	"math"
)

// reading is what one round measured, as one number.
type reading struct {
	name, unit string
	value      float64
	// beside is a value of the same round to compare with, and limit says what it is; "" when there is none.
	limit  string
	beside float64
	// aim is how many times beside the value may be at most, or at least; 0 when there is no aim.
	most, least float64
}

// than says what the reading is compared with.
func (r *reading) than(limit string, beside float64) *reading {
	r.limit, r.beside = limit, beside
	return r
}

// atMost and atLeast set the aim of value divided by beside.
func (r *reading) atMost(times float64) { r.most = times }

func (r *reading) atLeast(times float64) { r.least = times }

// line is the readings of all rounds.
type line struct {
	Shape, Name, Unit string
	// Values has one value for each round.
	Values numbers
	// Limit says what Beside is: the values of the same rounds to compare with.
	Limit  string  `json:",omitempty"`
	Beside numbers `json:",omitempty"`
	// AtMost and AtLeast are aims of the median of Values divided by Beside; 0 for none.
	AtMost  float64 `json:",omitempty"`
	AtLeast float64 `json:",omitempty"`
	// Busy says of each round in which the machine was too busy what else it did.
	Busy []string `json:",omitempty"`
}

// add adds what a round measured.
func (l *line) add(r *reading, busy string) {
	l.Values = append(l.Values, r.value)
	if r.limit != "" {
		l.Limit, l.Beside = r.limit, append(l.Beside, r.beside)
	}
	l.AtMost, l.AtLeast = r.most, r.least
	if busy != "" {
		l.Busy = append(l.Busy, busy)
	}
}

// times is how many times what is beside it the value is, in each round.
func (l *line) times() []float64 { return ratios(l.Values, l.Beside) }

// aim is the aim and whether it is met, which is unknown on a machine that was too busy.
func (l *line) aim() string {
	var text string
	var met bool
	switch times := median(l.times()); {
	case l.AtMost > 0:
		text, met = fmt.Sprintf("≤ %g", l.AtMost), times <= l.AtMost
	case l.AtLeast > 0:
		text, met = fmt.Sprintf("≥ %g", l.AtLeast), times >= l.AtLeast
	default:
		return l.mark()
	}
	switch {
	case len(l.Busy) > 0:
		return text + ": not judged, " + l.mark()
	case met:
		return text + ": met"
	default:
		return text + ": missed"
	}
}

// mark tells that the machine was too busy.
func (l *line) mark() string {
	if len(l.Busy) == 0 {
		return ""
	}
	return fmt.Sprintf("machine busy in %d of %d", len(l.Busy), len(l.Values))
}

// numbers are values whose infinity, which JSON does not have, is null there.
type numbers []float64

// MarshalJSON is called by encoding/json.
func (n numbers) MarshalJSON() ([]byte, error) {
	all := make([]*float64, len(n))
	for i, value := range n {
		if !math.IsInf(value, 0) && !math.IsNaN(value) {
			all[i] = &value
		}
	}
	return json.Marshal(all)
}

// UnmarshalJSON is called by encoding/json.
func (n *numbers) UnmarshalJSON(text []byte) error {
	var all []*float64
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*n = make(numbers, len(all))
	for i, value := range all {
		if (*n)[i] = math.Inf(1); value != nil {
			(*n)[i] = *value
		}
	}
	return nil
}
