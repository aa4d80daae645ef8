package main

import (
	"testing"
	"time"
)

// Of seconds without an admitted player there are no waits.
func TestSecondsThatWereNot(t *testing.T) {
	e := &evening{seconds: []moment{{waits: times{time.Second}, refused: 1}, {refused: 2}}}
	for _, x := range []struct{ from, to, waits, refused int }{{0, 9, 1, 3}, {1, 1, 0, 0}, {2, 1, 0, 0}, {7, 9, 0, 0}} {
		waits, refused := e.between(x.from, x.to)
		if usual := e.usualP99(x.from, x.to); len(waits) != x.waits || refused != x.refused || usual != 0 {
			t.Errorf("%+v: %v, %d, %v", x, waits, refused, usual)
		}
	}
}
