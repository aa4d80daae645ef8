package web

import (
	"net/http"
	"testing"
	"time"
)

func TestPreferredWait(t *testing.T) {
	for _, c := range []struct {
		headers []string
		want    time.Duration
	}{
		{nil, 0},
		{[]string{""}, 0},
		{[]string{"wait=7"}, 7 * time.Second},
		{[]string{`wait="7"`}, 7 * time.Second},
		{[]string{`wait="\7"`}, 7 * time.Second},
		{[]string{"WAIT \t= 7"}, 7 * time.Second},
		{[]string{"wait=7; why=impatient"}, 7 * time.Second},
		{[]string{`respond-async;a="b, wait=1", wait=7`}, 7 * time.Second},
		{[]string{`other="\", wait=1", wait=7`}, 7 * time.Second},
		{[]string{"respond-async", "wait=7"}, 7 * time.Second},
		{[]string{", ,wait=7,"}, 7 * time.Second},
		{[]string{"wait=7, wait=8"}, 7 * time.Second},
		{[]string{"wait=x, wait=8"}, 0}, // the first counts
		{[]string{"wait=31"}, 30 * time.Second},
		{[]string{"wait=65535"}, 30 * time.Second},
		{[]string{"wait=4294967295"}, 30 * time.Second},
		{[]string{"wait=99999999999999999999"}, 30 * time.Second},
		{[]string{"wait=0"}, 0},
		{[]string{"wait=-1"}, 0},
		{[]string{"wait=1.5"}, 0},
		{[]string{"wait"}, 0},
		{[]string{`wait="7`}, 0},
		{[]string{"waiting=7"}, 0},
	} {
		if got := PreferredWait(http.Header{"Prefer": c.headers}, 30*time.Second); got != c.want {
			t.Errorf("%q: got %v, want %v", c.headers, got, c.want)
		}
	}
}

func FuzzPreferredWait(f *testing.F) {
	f.Add(`respond-async;a="b, wait=1", wait="7"; x`)
	f.Fuzz(func(t *testing.T, header string) {
		if got := PreferredWait(http.Header{"Prefer": {header}}, time.Minute); got < 0 || got > time.Minute {
			t.Errorf("%q: got %v", header, got)
		}
	})
}
