package main

import (
	"slices"
	"testing"
)

const withCanary = `{"name":"duel","md5Hash":"ab","status":{"state":"Running","instances":[]},"upload":3,
	"canary":{"version":4,"configs":["a","b"],"steps":[50,100],"step":1,"began":"2030-01-02T03:00:00Z",
		"stepBegan":"2030-01-02T03:10:00Z","until":"2030-01-02T15:00:00Z","leastMatches":200,
		"tolerancePercent":20,"matches":45,
		"runs":70,"failed":2,"health":{"lastError":"as told"},"findings":[
			{"name":"failures","canary":0.0286,"current":0.001,"p":0.02,"limit":0.00625,"seen":0.08},
			{"name":"matches","canary":9.5,"current":10,"p":1,"limit":0.00625},
			{"name":"wait","canary":12,"current":10,"worseBy":0.18,"p":0.04,"limit":0.0125,"seen":0.25}]},
	"canaryEnded":{"version":2,"time":"2030-01-02T02:00:00Z","promoted":false,"reason":"it is worse: wait"}}`

func TestFunctionGetSaysWhatWasFoundOfTheCanary(t *testing.T) {
	url, _ := lifeService(t, withCanary)
	shell := newShell(t)
	shell.run("function", "get", "duel", "--url", url, "--data", shell.data).expect(0, `function             duel
state                Running
md5                  ab
upload               3
canary               upload 4, for config a, b
canary's step        2 of 3, 45 of 200 matches, until 2030-01-02 15:00:00 UTC
canary's tolerance   20%
canary's runs        70, 2 failed
canary's last error  as told
last canary          upload 2, withdrawn at 2030-01-02 02:00:00 UTC: it is worse: wait

MEAN OF MATCHES   UPLOAD 3  UPLOAD 4, THE CANARY  WORSE BY  P     WORSE IF P IS BELOW  SEEN WITH 80%
failures of runs  0.1%      2.86%                           0.02  0.0063               8%
matches a minute  10        9.5                             1     0.0063
wait in seconds   10        12                    18%       0.04  0.013                25%
`, "")
	shell.run("function", "list", "--url", url, "--data", shell.data).expect(0, `NAME  STATE    UPLOAD  CANARY          INSTANCES  MD5
duel  Running  3       4, step 2 of 3          0  ab
`, "")
}

func TestFunctionCanaryCommands(t *testing.T) {
	url, asked := lifeService(t, withCanary)
	shell := newShell(t)
	for _, line := range [][]string{
		{"canary", "duel", "4", "--config", "a", "--config", "b,c"}, {"canary", "duel"},
		{"canary", "duel", "4", "--queue", "q", "--steps", "60,100", "--deadline", "2h"},
		{"canary", "duel", "4", "--blocks", "10m", "--least", "30", "--tolerance", "20", "--more", "quality", "--less",
			"gap"},
		{"promote", "duel", "--no-wait"}, {"promote", "duel", "9", "--no-wait"},
	} {
		shell.run(append([]string{"function"}, append(line, "--url", url, "--data", shell.data)...)...).expect(0, "duel", "")
	}
	const path = "POST /demo/matchmaking/api/v1/functions/duel/actions/"
	want := []string{
		path + `canary {"version":4,"configs":["a","b,c"]}`, path + `canary {"version":0}`,
		path + `canary {"version":4,"queues":["q"],"steps":[60,100],"deadlineSeconds":7200}`,
		path + `canary {"version":4,"blockSeconds":600,"leastMatches":30,"tolerancePercent":20,"measures":{"gap":"less","quality":"more"}}`,
		path + `promote {"version":4}`, path + `promote {"version":9}`,
	}
	if !slices.Equal(*asked, want) {
		t.Errorf("asked %q", *asked)
	}
	shell.run("function", "canary", "duel", "4", "--blocks", "10m", "--tolerance", "0", "--url", url, "--data",
		shell.data).expect(2, "", "--tolerance: must be from 1 to 1000")
	shell.run("function", "canary", "duel", "4", "--blocks", "1500ms", "--url", url, "--data", shell.data).
		expect(2, "", "must be whole seconds")
	shell.run("function", "canary", "duel", "4", "--blocks", "10m", "--more", "a", "--less", "a", "--url", url, "--data",
		shell.data).expect(2, "", "given twice")
}
