package ticket_test

import (
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/ticket"
)

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, c := range []struct {
		flag string
		s    ticket.Settings
	}{
		{"", ticket.Settings{Wait: 50 * time.Second, Held: 1, HeldPlayer: 1}},
		{"--max-wait", ticket.Settings{Wait: -time.Second}},
		{"--max-wait", ticket.Settings{Wait: 51 * time.Second}}, // the server ends the request before
		{"--max-held", ticket.Settings{Held: -1}},
		{"--max-held-player", ticket.Settings{HeldPlayer: -1}},
	} {
		err := c.s.Validate()
		if c.flag == "" && err != nil || c.flag != "" && (err == nil || !strings.Contains(err.Error(), c.flag)) {
			t.Errorf("%+v: %v, expected one about %q", c.s, err, c.flag)
		}
	}
}
