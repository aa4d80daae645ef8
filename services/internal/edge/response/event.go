package response

import (
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Time is a time as most answers have it: in UTC, with milliseconds.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// EventKind is the name of a kind of event.
func EventKind(k pb.Event_Kind) string {
	return strings.ToLower(strings.TrimPrefix(k.String(), "KIND_"))
}
