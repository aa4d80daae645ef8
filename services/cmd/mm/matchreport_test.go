package main

import (
	"testing"
	"time"
)

func TestReportShowsTables(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.now = time.Date(2030, 1, 2, 4, 4, 5, 0, time.UTC)
	const note = "mm: 3 matches are not in it as a whole: configs, regions and measures are too many for the room\n"
	shell.on(service, "report", "--config", "ranked").expect(0, `from  2030-01-02 03:04:05 UTC to 2030-01-02 04:04:05 UTC

ALL  OF                   COUNT  MEDIAN  90 %  MEAN
-    matches                  2
-    wait in seconds          4  2.5     9     4.125
-    skill gap                2  3       5     3
-    fun�                     2  0.5     0.5   0.5
-    left before the end      8                0.125
-    skill log-loss           3                0.61
-    skill Brier              3                0.21

QUEUE  OF               COUNT  MEDIAN  90 %  MEAN
q      matches              2
q      wait in seconds      4  2.5     9     4.125

PARTY    OF       COUNT  MEDIAN  90 %  MEAN
unknown  matches      1
6+       matches      1

RATING  ODDS OF THE FAVORITE  WON     PAIRS OF TEAMS
skill   77.0 %                66.7 %               3
`, note)
	for n, want := range []string{"", "queue", "party", "region"} {
		if got := service.reports[n]; got.Get("by") != want || got.Get("config") != "ranked" {
			t.Errorf("it asked for %v, want by %s", got, want)
		}
	}
	shell.on(service, "report", "--earlier", "1h", "--by", "queue").expect(0,
		`from    2030-01-02 03:04:05 UTC to 2030-01-02 04:04:05 UTC
before  2030-01-02 02:04:05 UTC to 2030-01-02 03:04:05 UTC

ALL  OF                   COUNT  MEDIAN  90 %  MEAN   COUNT BEFORE  MEDIAN BEFORE  90 % BEFORE  MEAN BEFORE
-    matches                  2                       1
-    wait in seconds          4  2.5     9     4.125  2             1              1            1
-    skill gap                2  3       5     3
-    fun�                     2  0.5     0.5   0.5
-    left before the end      8                0.125
-    skill log-loss           3                0.61
-    skill Brier              3                0.21
`, note)
	shell.on(service, "report", "-o", "json").expect(0, `"by": "party"`, note)
	shell.on(service, "report", "--by", "decile").expect(0, "wait in seconds", note)
	if by := service.reports[len(service.reports)-1].Get("by"); by != "decile" {
		t.Errorf("it asked by %s", by)
	}
}

func TestReportSinceAChange(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.now = time.Date(2030, 1, 2, 4, 4, 5, 0, time.UTC)
	shell.on(service, "report", "--since-change", "ranked").expect(1, "", "nothing is kept of config ranked")
	for range 2 {
		shell.in = duelOf100
		shell.on(service, "config", "put", "ranked", "-").expect(0, "ranked", "")
	}
	shell.on(service, "report", "--since-change", "ranked", "--by", "queue").expect(0,
		"from    2030-01-02 03:04:05 UTC to 2030-01-02 04:04:05 UTC\nbefore  2030-01-02 02:04:05 UTC", "mm: 3 matches")
	now, before := service.reports[0], service.reports[1]
	if now.Get("minRevision") != "2" || now.Has("maxRevision") || before.Get("maxRevision") != "1" ||
		before.Has("minRevision") || now.Get("config") != "ranked" || before.Get("config") != "ranked" ||
		now.Get("since") != before.Get("until") {
		t.Errorf("it asked for %v and %v", now, before)
	}
	shell.on(service, "config", "delete", "ranked").expect(0, "deleted", "")
	shell.on(service, "report", "--since-change", "ranked").expect(1, "", "config ranked is deleted")
}

func TestReportRefusesWhatMakesNoSense(t *testing.T) {
	shell, service := newShell(t), newService(t)
	for want, args := range map[string][]string{
		"--since must be more than --until":   {"--since", "1m", "--until", "2m"},
		"--earlier: must be 0 or more":        {"--earlier=-1h"},
		"--since: 90 days":                    {"--since", "2161h"},
		"--earlier: 1h0m0s at least":          {"--earlier", "59m"},
		"--since and --earlier: 90 days":      {"--since", "1081h", "--earlier", "1081h"},
		"--since-change says already which":   {"--since-change", "a", "--config", "b"},
		`--by: "moon" is none of config, rev`: {"--by", "queue,moon"},
	} {
		shell.on(service, append([]string{"report"}, args...)...).expect(2, "", want)
	}
}
