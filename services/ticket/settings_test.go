package ticket_test

import (
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/ticket"
)

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	streams := ticket.Settings{Streams: stream.Settings{Heartbeat: time.Second, Spread: time.Second}}
	noBeat, noSpread, noStreams := streams, streams, streams
	noBeat.Streams.Heartbeat, noSpread.Streams.Spread, noStreams.Streams.PerPlayer = time.Second-1, 0, -1
	for _, c := range []struct {
		flag string
		s    ticket.Settings
	}{
		{"", streams},
		{"--stream-heartbeat", noBeat},
		{"--stream-spread", noSpread},
		{"--max-streams-player", noStreams},
		{"", ticket.Settings{Wait: web.ReadTimeout - 10*time.Second, Held: 1, HeldPlayer: 1, Streams: streams.Streams}},
		{"--max-wait", ticket.Settings{Wait: -time.Second}},
		{"--max-wait", ticket.Settings{Wait: web.ReadTimeout - 9*time.Second}}, // the server ends the request before
		{"--max-held", ticket.Settings{Held: -1}},
		{"--max-held-player", ticket.Settings{HeldPlayer: -1}},
	} {
		err := settings.Check(&c.s)
		if c.flag == "" && err != nil || c.flag != "" && (err == nil || !strings.Contains(err.Error(), c.flag)) {
			t.Errorf("%+v: %v, expected one about %q", c.s, err, c.flag)
		}
	}
}
