package agones

import "strings"

// Labels and annotations that we put on game servers. A server that takes one match has the fixed ones: when it is
// made ready and allocated again they are overwritten, so that nobody mistakes it for its former match's. One that takes
// several has one of each per match, named by the allocation.
const (
	labelFleet      = "agones.dev/fleet" // Agones' own
	labelAllocation = "matchmaker.dev/allocation"
	labelMatch      = "matchmaker.dev/match"
	labelProject    = "matchmaker.dev/project"
	// labelDense is on all servers that take several matches.
	labelDense = "matchmaker.dev/dense"
	// annotationData is what the server is told: a provider.Payload in JSON.
	annotationData = "matchmaker.dev/match-data"
	// annotationReleased is the allocation that was released last. The server that still runs it ends it.
	annotationReleased = "matchmaker.dev/released"

	prefixAllocation = "allocation.matchmaker.dev/"
	prefixData       = "match-data.matchmaker.dev/"

	// The values of a label of prefixAllocation.
	held     = "held"
	released = "released"
)

// labelValue tells whether a text can be a label's value: at most 63 letters, digits, '-', '_' and '.', a letter
// or digit first and last.
func labelValue(text string) bool {
	if len(text) > 63 {
		return false
	}
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (!strings.ContainsRune("-_.", r) || i == 0 || i == len(text)-1) {
			return false
		}
	}
	return true
}

// labelKey: a name as a value's, not empty, and maybe a DNS subdomain and a slash before it.
func labelKey(text string) bool {
	prefix, name, found := strings.Cut(text, "/")
	if !found {
		prefix, name = "", text
	}
	return name != "" && labelValue(name) && (!found || subdomain(prefix))
}

// subdomain: lower-case words of letters, digits and '-', with dots between.
func subdomain(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if part == "" || !labelValue(part) || part != strings.ToLower(part) || strings.Contains(part, "_") {
			return false
		}
	}
	return len(text) <= 253
}
