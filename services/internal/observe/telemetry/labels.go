package telemetry

import (
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/services/internal/platform/quota"
)

// Other is the value of all labels beyond the limit.
const Other = "other"

// Labels bounds the number of label values that studios choose, such as names of projects, configs and functions: each
// combination is a time series that costs money. What players invent is no label. The first key is whose they are, the
// project: each may have half of the combinations that the others leave. The first ones keep their values for as long
// as the process lives; of later ones all keys but the project become Other, and the project too if it has none.
type Labels struct {
	keys []string

	mu     sync.RWMutex
	known  map[string]*labelled
	owned  *quota.Shares[string] // how many of them each project has
	others map[string]*labelled  // by project, and Other
}

// labelled are labels, and the option to measure with them.
type labelled struct {
	labels []attribute.KeyValue
	option metric.MeasurementOption
}

// Of returns the labels with these values, one for each key. They are shared: do not change them.
func (l *Labels) Of(values ...string) []attribute.KeyValue { return l.find(values).labels }

// Option returns the option to measure with these labels, for those that are used too often to make it each time.
func (l *Labels) Option(values ...string) metric.MeasurementOption { return l.find(values).option }

func (l *Labels) find(values []string) *labelled {
	name := strings.Join(values, "\x00")
	l.mu.RLock()
	found, known := l.known[name]
	l.mu.RUnlock()
	if known {
		return found
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if found, known = l.known[name]; known {
		return found
	}
	owner := values[0]
	if !l.owned.Take(owner, 1) {
		if l.owned.Of(owner) == 0 {
			owner = Other
		}
		if found, known = l.others[owner]; !known {
			all := slices.Repeat([]string{Other}, len(l.keys))
			all[0] = owner
			found = l.label(all)
			l.others[owner] = found
		}
		return found
	}
	found = l.label(values)
	l.known[name] = found
	return found
}

func (l *Labels) label(values []string) *labelled {
	labels := make([]attribute.KeyValue, len(l.keys))
	for i, key := range l.keys {
		labels[i] = attribute.String(key, strings.ToValidUTF8(values[i], "�"))
	}
	return &labelled{labels, WithLabels(labels)}
}
