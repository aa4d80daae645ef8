package main

import (
	"strings"
	"testing"
)

// A process does not start on the state of another version, and ends when it finds that out later.
func TestStateOfAnotherVersionIsRefused(t *testing.T) {
	redis := newRedis(t, nil)
	for name, commands := range map[string][]string{
		"at once": {"SET mm:schema 1000"},
		"later":   {"SET mm:schema 1000", "CLIENT PAUSE 3000 ALL"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range commands {
				if _, err := ask(redis, nil, command); err != nil && !strings.HasPrefix(command, "CLIENT") {
					t.Fatal(err)
				}
			}
			code, _, stderr := matchmaker(t, "director", "--listen", "127.0.0.1:0", "--redis", "redis://"+redis, "--nats",
				"nats://127.0.0.1:1")
			if code == exitOK || !strings.Contains(stderr, `schema "1000"`) {
				t.Errorf("it ended with %d:\n%s", code, stderr)
			}
		})
	}
}
