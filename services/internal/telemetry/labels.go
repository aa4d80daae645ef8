package telemetry

import (
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
)

// Other is the value of all labels beyond the limit.
const Other = "other"

// Labels bounds the number of label values that users choose, such as names of projects, configs and functions: each
// combination is a time series that costs money. The first combinations keep their values for as long as the process
// lives; all later ones become Other.
type Labels struct {
	keys  []string
	limit int

	mu    sync.RWMutex
	known map[string][]attribute.KeyValue
}

// Of returns the labels with these values, one for each key. They are shared: do not change them.
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
