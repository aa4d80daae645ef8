package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// lifeService is a fake service that has one function, and answers each change of it with the request.
func lifeService(t *testing.T, function string) (url string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodGet {
			*asked = append(*asked, r.Method+" "+r.URL.Path+" "+string(body))
		}
		if r.URL.Path == "/demo/matchmaking/api/v1/functions" {
			function := map[string]any{"functions": []json.RawMessage{[]byte(function)}}
			answer(w, function)
			return
		}
		answer(w, json.RawMessage(function))
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

const lively = `{"name":"duel","md5Hash":"ab","status":{"state":"Running","instances":[]},"upload":3,"lastGoodUpload":2,
	"health":{"runs":190,"failed":9,"unserved":10,"failedShare":0.095,"lastError":"as told",
		"lastErrorTime":"2030-01-02T03:04:05Z","lastErrorConfig":"ranked","milliseconds":{"p50":1.2,"p99":40},
		"memoryBytes":{"p50":2000000,"p99":3000000}},
	"returnsUntil":"2030-01-02T04:00:00Z",
	"returned":{"time":"2030-01-02T03:00:00Z","from":4,"to":3,"failed":7,"runs":9,"repeated":4,"passed":3,"error":"oh"},
	"shadow":{"version":5,"runs":8,"skipped":2,"failed":1,"currentFailed":0,"compared":6,"matches":12,"currentMatches":14,
		"common":10,"score":3,"currentScore":7,"health":{"milliseconds":{"p50":2,"p99":3}}}}`

func TestFunctionGetSaysHowItDoes(t *testing.T) {
	url, _ := lifeService(t, lively)
	shell := newShell(t)
	shell.run("function", "get", "duel", "--url", url, "--data", shell.data).expect(0, `function          duel
state             Running
md5               ab
upload            3
last good upload  2
runs              200, 9.5% failed (19)
time              p50 1.2 ms, p99 40 ms
memory            p50 2.0 MB, p99 3.0 MB
last error        2030-01-02 03:04:05 UTC, config ranked: as told
goes back         to upload 2 if runs fail that it passes, until 2030-01-02 04:00:00 UTC
went back         from upload 4 to 3 at 2030-01-02 03:00:00 UTC: 7 of 9 runs failed, `+
		`3 of the 4 that were repeated on upload 3 did not: oh

OF RUNS OF BOTH   UPLOAD 3  UPLOAD 5, IN THE SHADOW
runs              8         8
failed            0         1
compared          6         6
matches           14        12
the same matches  10        10
mean score        0.5       0.25
time p50          1.2 ms    2 ms
time p99          40 ms     3 ms
skipped                     2
`, "")
	shell.run("function", "list", "--url", url, "--data", shell.data).expect(0, `NAME  STATE    UPLOAD  INSTANCES  FAILED  P50     P99    MD5
duel  Running  3               0  9.5%    1.2 ms  40 ms  ab
`, "")
}

func TestFunctionLifeCommands(t *testing.T) {
	url, asked := lifeService(t, lively)
	shell := newShell(t)
	for _, line := range [][]string{
		{"function", "shadow", "duel", "5"}, {"function", "shadow", "duel"}, {"function", "promote", "duel", "--no-wait"},
		{"function", "return", "duel", "off"}, {"function", "return", "duel", "on"},
	} {
		shell.run(append(line, "--url", url, "--data", shell.data)...).expect(0, "duel", "")
	}
	const path = "POST /demo/matchmaking/api/v1/functions/duel/actions/"
	want := []string{
		path + `shadow {"version":5}`, path + `shadow {"version":0}`, path + `promote {"version":5}`,
		path + `return {"automatic":false}`, path + `return {"automatic":true}`,
	}
	for i := range max(len(want), len(*asked)) {
		if i >= len(want) || i >= len(*asked) || (*asked)[i] != want[i] {
			t.Fatalf("asked %q, want %q", *asked, want)
		}
	}
	url, _ = lifeService(t, `{"name":"duel"}`)
	shell.run("function", "promote", "duel", "--url", url, "--data", shell.data).
		expect(1, "", "no upload of the function runs in the shadow")
	shell.run("function", "return", "duel", "maybe", "--url", url).expect(2, "", "on")
}
