package main

import (
	"slices"
	"testing"
)

const withCanary = `{"name":"duel","md5Hash":"ab","status":{"state":"Running","instances":[]},"upload":3,
	"canary":{"version":4,"configs":["a","b"],"began":"2030-01-02T03:00:00Z","changed":"2030-01-02T03:10:00Z",
		"until":"2030-01-02T15:00:00Z","runs":70,"failed":2,"health":{"lastError":"as told"},"report":[
			{"name":"failures","canary":0.0286,"canaryOf":70,"current":0.001,"currentOf":900,
				"difference":{"value":0.0276,"low":-0.001,"high":0.08}},
			{"name":"matches","canary":9.5,"canaryOf":190,"current":10,"currentOf":600},
			{"name":"wait","canary":12,"canaryOf":190,"current":10,"currentOf":600,
				"difference":{"value":2,"low":-1.5,"high":5.5}}]},
	"canaryEnded":{"version":2,"time":"2030-01-02T02:00:00Z","promoted":false,"reason":"its time is over"}}`

func TestFunctionGetComparesTheCanary(t *testing.T) {
	url, _ := lifeService(t, withCanary)
	shell := newShell(t)
	shell.run("function", "get", "duel", "--url", url, "--data", shell.data).expect(0, `function             duel
state                Running
md5                  ab
upload               3
canary               upload 4, for config a, b
canary's end         2030-01-02 15:00:00 UTC
canary's runs        70, 2 failed
canary's last error  as told
last canary          upload 2, withdrawn at 2030-01-02 02:00:00 UTC: its time is over

MEAN              UPLOAD 3   OF  UPLOAD 4, THE CANARY   OF  DIFFERENCE  95% INTERVAL
failed runs       0.1%      900  2.86%                  70  2.76%       -0.1% to 8%
matches a minute  10        600  9.5                   190  too few
wait in seconds   10        600  12                    190  2           -1.5 to 5.5
`, "")
	shell.run("function", "list", "--url", url, "--data", shell.data).expect(0, `NAME  STATE    UPLOAD  CANARY              INSTANCES  MD5
duel  Running  3       4, for config a, b          0  ab
`, "")
}

func TestFunctionCanaryCommands(t *testing.T) {
	url, asked := lifeService(t, withCanary)
	shell := newShell(t)
	for _, line := range [][]string{
		{"canary", "duel", "4", "--config", "a", "--config", "b,c"}, {"canary", "duel"},
		{"canary", "duel", "4", "--queue", "q", "--deadline", "2h"},
		{"canary", "duel", "4", "--blocks", "10m", "--percent", "30"},
		{"promote", "duel", "--no-wait"}, {"promote", "duel", "9", "--no-wait"},
	} {
		shell.run(append([]string{"function"}, append(line, "--url", url, "--data", shell.data)...)...).expect(0, "duel", "")
	}
	const path = "POST /demo/matchmaking/api/v1/functions/duel/actions/"
	want := []string{
		path + `canary {"version":4,"configs":["a","b,c"]}`, path + `canary {"version":0}`,
		path + `canary {"version":4,"queues":["q"],"deadlineSeconds":7200}`,
		path + `canary {"version":4,"blockSeconds":600,"percent":30}`,
		path + `promote {"version":4}`, path + `promote {"version":9}`,
	}
	if !slices.Equal(*asked, want) {
		t.Errorf("asked %q", *asked)
	}
	shell.run("function", "canary", "duel", "4", "--blocks", "1500ms", "--url", url, "--data", shell.data).
		expect(2, "", "must be whole seconds")
}
