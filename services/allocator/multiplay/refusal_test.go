package multiplay

import (
	"encoding/json"
	"strings"
	"testing"

	"matchmaker.dev/services/allocator/provider"
)

func TestRefusal(t *testing.T) {
	for says, want := range map[string]provider.Reason{
		"The hosting maximum for fleet 12 is zero": provider.MaximumZero,
		"max servers: 0 for region eu":             provider.MaximumZero,
		"region has 0 servers as its maximum":      provider.MaximumZero,
		"request error: maximum capacity reached":  provider.FleetEmpty,
		"no available servers in fleet region":     provider.FleetEmpty,
		"No free game server":                      provider.FleetEmpty,
		"Too many requests":                        provider.Contention,
		"rate limit exceeded":                      provider.Contention,
		"Request in progress":                      provider.Contention,
		"game image 10 locked by diffid":           provider.Refused,
		"":                                         provider.Refused,
		"maximums of 100 in 20 fleets":             provider.Refused,
	} {
		if got := refusal(says); got.Reason != want {
			t.Errorf("%q: %s, want %s", says, got.Reason, want)
		}
	}
	if err := refusal(
		"capacity: key hunter2hunter2 has none", "hunter2hunter2",
	); strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

func TestAllocationsAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]string{
		`{"ip": "198.51.100.7", "game_port": 9000}`:               "198.51.100.7:9000",
		`{"ip": "198.51.100.7", "game_port": "9000", "ipv6": ""}`: "198.51.100.7:9000",
		`{"ip": "", "game_port": ""}`:                             "",
		`{"ip": "198.51.100.7", "game_port": ""}`:                 "",
		`{"ip": "198.51.100.7", "game_port": 0}`:                  "",
		`{"ip": "198.51.100.7", "game_port": 70000}`:              "",
		`{"ip": "evil.example.com", "game_port": 9000}`:           "",
		`{"ip": null, "game_port": null}`:                         "",
		`{}`:                                                      "",
	} {
		var a allocation
		if err := json.Unmarshal([]byte(text), &a); err != nil || a.connection(false) != want {
			t.Errorf("%s: %q, %v, want %q", text, a.connection(false), err, want)
		}
	}
	if json.Unmarshal([]byte(`{"game_port": "soon"}`), new(allocation)) == nil {
		t.Error("a port that is no number is taken")
	}
}
