package telemetry

import (
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
)

// Other is the value of labels beyond those that are told apart.
const Other = "other"

// Labels bounds how many values others can put into labels: names of projects, configs and functions are as many as
// somebody wants to make, and each combination is a series that whoever keeps the metrics pays for. The first ones that
// come are told apart for as long as the process lives, and all that come later are one, Other.
type Labels struct {
	keys  []string
	limit int

	mu    sync.RWMutex
	known map[string][]attribute.KeyValue
}

// Of is the labels with these values, one for each key. They are made once, so it may be called often; nobody may
// change them.
func (l *Labels) Of(values ...string) []attribute.KeyValue {
	name := strings.Join(values, "\x00")
	l.mu.RLock()
	labels, known := l.known[name]
	l.mu.RUnlock()
	if known {
		return labels
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if labels, known = l.known[name]; known {
		return labels
	}
	labels = make([]attribute.KeyValue, len(l.keys))
	full := len(l.known) >= l.limit
	for i, key := range l.keys {
		value := values[i]
		if full {
			value = Other
		}
		labels[i] = attribute.String(key, strings.ToValidUTF8(value, "�"))
	}
	if !full {
		l.known[name] = labels
	}
	return labels
}
