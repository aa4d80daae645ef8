package fields

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"matchmaker.dev/services/internal/edge/problem"
)

// MaxQueues is how many queues a ticket may wait in.
const MaxQueues = 16

// LongestQueue is the length in bytes of a queue's name. Scripts write it as one byte.
const LongestQueue = 64

// CheckQueues returns the queues of a ticket, sorted, and an Invalid error that names the member when they are outside
// the limits.
func CheckQueues(queues []string) ([]string, error) {
	if n := len(queues); n > MaxQueues {
		return nil, problem.New(problem.Invalid, "queues: %d of them, at most %d are allowed", n, MaxQueues).
			Exceeds("max-queues")
	}
	seen := make(map[string]bool, len(queues))
	for i, name := range queues {
		if reason := QueueProblem(name); reason != "" {
			err := problem.New(problem.Invalid, "queues.%d: %s", i, reason)
			if len(name) > LongestQueue {
				err = err.Exceeds("queue-length")
			}
			return nil, err
		}
		if seen[name] {
			return nil, problem.New(problem.Invalid, "queues.%d: %q is given twice", i, name)
		}
		seen[name] = true
	}
	return slices.Sorted(slices.Values(queues)), nil
}

// QueueProblem says why a text is not the name of a queue, "" if it is one.
func QueueProblem(name string) string {
	switch {
	case name == "":
		return "the name of a queue is empty"
	case len(name) > LongestQueue:
		return fmt.Sprintf("the name of a queue has %d bytes, at most %d are allowed", len(name), LongestQueue)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r)
	}):
		return "spaces and control characters are not allowed in the name of a queue"
	}
	return ""
}
