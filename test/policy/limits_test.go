package policy

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsNameMetricsThatExist: each metric that a document names is one of the code.
func TestDocumentsNameMetricsThatExist(t *testing.T) {
	known, found := metrics(t), 0
	for path, text := range documents(t) {
		for _, name := range regexp.MustCompile("`(matchmaker_[a-z_]+)[`{]").FindAllStringSubmatch(text, -1) {
			if found++; !isMetric(known, name[1]) {
				t.Errorf("%s names the metric %s, which the code does not have", path, name[1])
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d metrics were found in the documents", found)
	}
}

// TestDocumentsNameLimitsOfTheCode: a limit that is no setting stands in the code and on one page. A change of one
// changes the other, and this table.
func TestDocumentsNameLimitsOfTheCode(t *testing.T) {
	const operations, format, hosting = "docs/operations.md", "pkg/matchfn/block/FORMAT.md", "deploy/hosting/README.md"
	for _, c := range []struct{ file, code, page, says string }{
		{"internal/edge/web/body.go", "BodyLimit = 64 << 10", operations, "| below 64 KiB; "},
		{"internal/state/create.go", "memoryParts = 64", operations, "| a 64th of `--max-ticket-memory` |"},
		{"director/proposals.go", "proposalMemory = 512 << 20", operations, "| 512 MiB; half of what the others leave |"},
		{"internal/match/schedule/segment.go", "firstRest = 250 * time.Millisecond maxRest = 5 * time.Second", operations,
			"| rest 250 ms to 5 s; "},
		{"internal/match/schedule/pools.go", "aloneAs = 3", operations, "together as often as three |"},
		{"internal/sandbox/limits.go", "Compile: 30 * time.Second, CompileMemory: gib", operations, "| 30 s; 1 GiB |"},
		{"registry/admission.go", "maxUploads, maxProjectUploads = 1024, 32", operations, "| 1,024, of a project 32; "},
		{"registry/admission.go", "uploadMemory = 256 << 20", operations, " 256 MiB; 60 s |"},
		{"internal/edge/web/web.go", "ReadTimeout = time.Minute", operations, " 256 MiB; 60 s |"},
		{"registry/restart.go", "Rate{PerSecond: 0.5, Burst: 60}", operations, "| 0.5 a second, 60 at once |"},
		{"internal/sandbox/limits.go", "Log: 64 * kib", operations, "| 64 KiB; 256 KiB/s, of a project 1 MiB/s |"},
		{"runner/instancelog.go", "logRate = 256 << 10", operations, "| 64 KiB; 256 KiB/s, of a project 1 MiB/s |"},
		{"runner/backlog.go", "maxFunctionRuns = 1024 maxProjectRuns = 2048", operations, "| 1,024 a function; 2,048 and "},
		{"runner/backlog.go", "maxProjectBytes = 32 << 20", operations, " 32 MiB a project; 128 MiB |"},
		{"internal/state/script/include/names.lua", "FIRST, RETRY, LOST, FIELDS, UNUSED, SWEEP = 1024, ", operations,
			"| 128 at first; "},
		{"internal/state/script/include/names.lua", "MANY_JOIN, MOST_JOIN = 500, 1000", operations,
			"| proposed tickets of a backfill ticket | 1,000 |"},
		{"internal/state/party.go", "MaxPartySize = 48 << 10", operations, "| bytes of a party | 48 KiB |"},
		{"internal/state/pause.go", "PausedPlayers = 1 << 16", operations, "| pausing players | 65,536 |"},
		{"insight/page.go", "maxLook = 500_000", operations, "| 500,000 in 5 s; 1,000; 16 |"},
		{"party/player.go", "Rate{PerSecond: 0.5, Burst: 10}", operations, "| 0.5 a second, one in a process |"},
		{"party/service.go", "Rate{PerSecond: 5, Burst: 20}", operations,
			"| parties a studio reads; renewals of a server's token | 5 a second, 20 at once; "},
		{"allocator/service.go", "Rate{PerSecond: 1, Burst: 10}", operations, " 20 at once; 1, 10 |"},
		{"internal/sandbox/limits.go", "Answer: 32 * mib", format, "at most 32 MiB, in at most 64 sections"},
		{"internal/match/invocation/answer.go", "maxProposalsPerTicket = 2 maxMentionsPerTicket = 10", format,
			"at most 2 × (N + M) + 1,000 proposals, with at most 10 × (N + M) + 1,000 tickets"},
		{"internal/sandbox/limits.go", "Run: 5 * time.Second", "functions/README.md", "A run may take 5 seconds, "},
		{"internal/sandbox/limits.go", "Module: 8 * mib", "functions/README.md", "20 functions of 8 MiB each"},
		{"registry/upload.go", "maxPinned = 16", "docs/functions.md", "up to 16 of a function"},
		{"internal/edge/fields/queue.go", "MaxQueues = 16", "docs/api.md", "up to 16 `queues`"},
		{"internal/match/capture/capture.go", "MaxSent = 8 << 20", "docs/api.md", "a file of up to 8 MiB"},
		{"party/party.go", "maxKicked = 100", "docs/parties.md", "Removed players (100 at most)"},
		{"party/player.go", "exportedEach = 1000 exportedBytes = 8 << 20", "docs/privacy.md",
			"1,000 of a kind, of tickets 8 MiB"},
		{"internal/match/definition/project.go", "shortestSilence = 20 longestSilence = 5 * 60", "docs/settings.md",
			"(20 to 300)"},
		{"internal/match/definition/config.go", "LongestAcceptance = 120", "docs/api.md", "(1 to 120)"},
		{"registry/canary.go", "canaryTime, longestCanary = 12 * time.Hour, 22 * time.Hour", "docs/functions.md",
			"(12 h, at most 22 h)"},
		{"internal/match/canary/compare.go", "leastUnits, leastRuns = 4, 10", "docs/functions.md",
			"Fewer than four values, or ten runs"},
		{"registry/rollback.go", "provingFailure = 20", "docs/functions.md", "at least one run in twenty fails"},
		{"allocator/agones/allocation.go", "maxPayload = 192 << 10", hosting, "192 KiB with `agones`"},
		{"allocator/agones/allocation.go", "maxShared = 8 << 10", hosting, "(8 KiB with several matches on a server)"},
		{"allocator/multiplay/multiplay.go", "maxPayload = 30_000", hosting, "30,000 bytes with `multiplay`"},
		{"allocator/manager/manager.go", "maxPayload = 256 << 10", hosting, "256 KiB with `http`"},
		{"allocator/gameserver/gameserver.go", "MaxPayload = 4 << 20", hosting, "4 MiB with `local`"},
		{"allocator/devserver/devserver.go", "MaxPayload = 96 << 10", hosting, "96 KiB with a command"},
	} {
		for path, text := range map[string]string{"services/" + c.file: c.code, c.page: c.says} {
			if !strings.Contains(strings.Join(strings.Fields(withoutComments(read(t, path))), " "), text) {
				t.Errorf("%s has no %q: is the limit the same in %s and %s?", path, text, c.file, c.page)
			}
		}
	}
}

// withoutComments leaves out what follows // on a line, which stands between the constants of a block.
func withoutComments(text string) string {
	return regexp.MustCompile(`(?m)\s//.*$`).ReplaceAllString(text, "")
}

// TestEveryLimitStartsAtZero: package web counts the refusals of every limit from the start.
func TestEveryLimitStartsAtZero(t *testing.T) {
	_, rules, _ := strings.Cut(read(t, "services/internal/edge/web/metrics.go"), "var rules = []string{")
	rules, _, ended := strings.Cut(rules, "\n}\n")
	if !ended {
		t.Fatal("package web has no list of rules")
	}
	named, found := regexp.MustCompile(`(?:Exceeds\(|LimitError\(|Limit\{Name: )"([A-Za-z.-]+)"`), 0
	walk(t, func(path string) {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, limit := range named.FindAllStringSubmatch(read(t, path), -1) {
			if found++; !strings.Contains(rules, `"`+limit[1]+`"`) {
				t.Errorf("%s: package web does not start the rule %s at 0", path, limit[1])
			}
		}
	})
	if found < 20 {
		t.Errorf("only %d limits were found in the code", found)
	}
}

// metrics are the names that the code gives to instruments.
func metrics(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	literal := regexp.MustCompile(`"(matchmaker\.[a-z_.]+)"`)
	walk(t, func(path string) {
		if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
			for _, found := range literal.FindAllStringSubmatch(read(t, path), -1) {
				names[strings.ReplaceAll(found[1], ".", "_")] = true
			}
		}
	})
	return names
}

// isMetric reports whether an instrument is exported by a name, which ends in its unit and kind.
func isMetric(known map[string]bool, name string) bool {
	name = strings.TrimSuffix(name, "_total")
	for _, unit := range []string{"", "_seconds", "_bytes", "_ratio"} {
		if known[strings.TrimSuffix(name, unit)] {
			return true
		}
	}
	return false
}
