package agones

import "k8s.io/apimachinery/pkg/util/validation"

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

func isLabelValue(text string) bool { return len(validation.IsValidLabelValue(text)) == 0 }

func isLabelKey(text string) bool { return len(validation.IsQualifiedName(text)) == 0 }

func isNamespace(text string) bool { return len(validation.IsDNS1123Subdomain(text)) == 0 }
