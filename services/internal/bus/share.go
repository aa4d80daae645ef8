package bus

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// crowded is how full the stream of logs may be, as a part of its bytes, before those with the most lines lose some.
// What is left is for what comes until the next look. Of the stream of events it is the part that one project may have
// of what the others leave.
const crowded = 0.75

// ShareLogs keeps projects from pushing out the lines of others. While the stream is crowded, the projects with the
// most messages lose their oldest ones, until what is left fits: each keeps as much as every other that has more than
// its share, and a project with less loses nothing. The functions of such a project share in the same way. It returns
// how many messages were removed. Any number of processes may call it.
func (b *Bus) ShareLogs(ctx context.Context) (removed uint64, err error) {
	stream, err := b.js.Stream(ctx, logStream)
	if err != nil {
		b.restoreMissing(err)
		return 0, unavailable(err)
	}
	about := stream.CachedInfo()
	room := float64(about.Config.MaxBytes) * crowded
	if about.Config.MaxBytes <= 0 || float64(about.State.Bytes) <= room {
		return 0, nil
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(logs+">"))
	if err != nil {
		return 0, unavailable(err)
	}
	most := uint64(float64(info.State.Msgs) * room / float64(max(1, info.State.Bytes)))
	for subject, keep := range shares(info.State.Subjects, most) {
		// 0 would keep all.
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeKeep(max(1, keep))); err != nil {
			return removed, unavailable(err)
		}
		removed += info.State.Subjects[subject] - max(1, keep)
	}
	return removed, nil
}

// shares returns how many messages those logs keep that lose some, by subject, so that about most are left.
func shares(logs map[string]uint64, most uint64) map[string]uint64 {
	projects, all := map[string]map[string]uint64{}, map[string]uint64{}
	for subject, n := range logs {
		project := subject[:max(0, strings.LastIndexByte(subject, '.'))]
		if projects[project] == nil {
			projects[project] = map[string]uint64{}
		}
		projects[project][subject] = n
		all[project] += n
	}
	keep := map[string]uint64{}
	share := level(all, most)
	for project, own := range projects {
		if all[project] <= share {
			continue
		}
		each := level(own, share)
		for subject, n := range own {
			if n > max(1, each) {
				keep[subject] = each
			}
		}
	}
	return keep
}

// level is the number down to which those with more must go, so that all together have no more than most.
func level(counts map[string]uint64, most uint64) uint64 {
	left := uint64(len(counts))
	for _, n := range slices.Sorted(maps.Values(counts)) {
		if n > most/left {
			return most / left
		}
		most -= n
		left--
	}
	return math.MaxUint64 // all fit
}

const (
	// eventBytes is the header that says how many bytes of its project's events were published so far, this message
	// included: JetStream counts the messages of a project, and not their bytes.
	eventBytes = "Mm-Event-Bytes"
	// eventOverhead is about what a message of events takes in the stream besides its data.
	eventOverhead = 128
	// eventLooks is how many times a project that fills the whole stream looks at its share meanwhile.
	eventLooks = 256
)

// publishedBytes is what the header eventBytes of a message says.
func publishedBytes(msg *jetstream.RawStreamMsg) uint64 {
	n, _ := strconv.ParseUint(msg.Header.Get(eventBytes), 10, 64)
	return n
}

// shareEvents keeps a project from pushing out the events of others. It may have three quarters of the room that the
// others leave: beyond that it loses its oldest events. Its last message always stays, since the next one refers to it.
// published is how many bytes of its events were published so far. It returns how many messages were removed.
func (b *Bus) shareEvents(ctx context.Context, subject string, published uint64) (removed uint64, err error) {
	stream, err := b.js.Stream(ctx, eventStream)
	if err != nil {
		return 0, unavailable(err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(subject))
	if err != nil {
		return 0, unavailable(err)
	}
	first, err := stream.GetMsg(ctx, 1, jetstream.WithGetMsgSubject(subject))
	if err != nil {
		return 0, unavailable(err)
	}
	messages, all := float64(info.State.Subjects[subject]), float64(info.State.Bytes)
	own := float64(published) - float64(publishedBytes(first)) + float64(len(first.Data)+eventOverhead)
	if publishedBytes(first) == 0 || own < 0 { // the header is missing, or another message's
		own = all * messages / max(1, float64(info.State.Msgs))
	}
	share := crowded * max(0, float64(info.Config.MaxBytes)-max(0, all-own))
	if info.Config.MaxBytes <= 0 || own <= share {
		return 0, nil
	}
	keep := max(1, uint64(messages*share/own))
	if err := stream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeKeep(keep)); err != nil {
		return 0, unavailable(err)
	}
	return uint64(messages) - min(keep, uint64(messages)), nil
}
