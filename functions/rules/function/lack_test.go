package function

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/fake"
)

// What the log says of games that get no player it says once, and again when the numbers change.
func TestGamesThatGetNobodyAreLoggedWhenThatChanges(t *testing.T) {
	settings := fmt.Sprintf(refilled, ``) + " " // of this test alone
	lines := func(games ...fake.Backfill) int {
		t.Helper()
		before := os.Stdout
		defer func() { os.Stdout = before }()
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout = out
		_, err = fake.Run(function, fake.Request{Settings: settings, Backfills: games, Tickets: pool{
			comes("t", 0, 1500, `["tank"]`),
		}})
		out.Close()
		text, _ := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "get no players")
	}
	unknown, fine := left(), left()
	unknown.Roster = nil
	for i, c := range []struct {
		games []fake.Backfill
		want  int
	}{
		{[]fake.Backfill{fine}, 0}, {[]fake.Backfill{unknown}, 1}, {[]fake.Backfill{unknown}, 0},
		{[]fake.Backfill{unknown, fine}, 0}, {[]fake.Backfill{unknown, unknown}, 1}, {[]fake.Backfill{fine}, 0},
		{nil, 0}, {[]fake.Backfill{unknown}, 1},
	} {
		if got := lines(c.games...); got != c.want {
			t.Errorf("run %d: %d lines, want %d", i, got, c.want)
		}
	}
}
