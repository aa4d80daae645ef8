package agones

import (
	"regexp"
	"strings"
)

// Labels and annotations that we put on game servers. A server that takes one match has the fixed ones. They are
// overwritten when the server is made ready and allocated again, so that it is not taken for its former match's. A
// server that takes several has one of each per match, named by the allocation.
const (
	labelFleet      = "agones.dev/fleet" // Agones' own
	labelAllocation = "matchmaker.dev/allocation"
	labelMatch      = "matchmaker.dev/match"
	labelProject    = "matchmaker.dev/project"
	// labelDense is on all servers that take several matches.
	labelDense = "matchmaker.dev/dense"
	// annotationData is the match for the server: a provider.Payload in JSON.
	annotationData = "matchmaker.dev/match-data"
	// annotationReleased is the allocation that was released last. The server that still runs it ends it.
	annotationReleased = "matchmaker.dev/released"

	prefixAllocation = "allocation.matchmaker.dev/"
	prefixData       = "match-data.matchmaker.dev/"

	// The values of a label of prefixAllocation.
	held     = "held"
	released = "released"
)

// The syntax of names, labels and namespaces:
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set and
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names.
var (
	labelName = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

func isLabelValue(text string) bool { return text == "" || labelName.MatchString(text) }

// isLabelKey: a name, which may have the prefix of a subdomain.
func isLabelKey(text string) bool {
	prefix, name, found := strings.Cut(text, "/")
	return !found && labelName.MatchString(text) || isNamespace(prefix) && labelName.MatchString(name)
}

func isNamespace(text string) bool { return len(text) <= 253 && subdomain.MatchString(text) }
