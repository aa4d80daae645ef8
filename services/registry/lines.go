package registry

import (
	"strings"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// omittedLines stands where an instance has lines that there was no room for.
const omittedLines = "[earlier lines are left out]"

// recent collects lines, of no more than room bytes in all. Either with add, until there is no more room, or with push,
// which makes room.
type recent struct {
	bytesLeft int
	lines     []*pb.LogLines
	first     int             // of lines that is kept
	cut       map[string]bool // the instances that lost lines
}

// sizeOf is the bytes that a message takes of the room.
func sizeOf(l *pb.LogLines) int { return len(l.GetText()) }

// add keeps lines while there is room; false when there is none. The first always has room.
func (r *recent) add(l *pb.LogLines) bool {
	if r.bytesLeft < sizeOf(l) && len(r.lines) > 0 {
		return false
	}
	r.bytesLeft -= sizeOf(l)
	r.lines = append(r.lines, l)
	return true
}

// push keeps lines in place of the oldest.
func (r *recent) push(l *pb.LogLines) bool {
	r.bytesLeft -= sizeOf(l)
	r.lines = append(r.lines, l)
	for r.bytesLeft < 0 {
		oldest := r.lines[r.first]
		r.lines[r.first] = nil
		r.first++
		r.bytesLeft += sizeOf(oldest)
		if r.cut == nil {
			r.cut = map[string]bool{}
		}
		r.cut[oldest.GetInstance()] = true
	}
	if r.first > len(r.lines)/2 {
		r.lines = append(r.lines[:0], r.lines[r.first:]...)
		r.first = 0
	}
	return true
}

// texts joins what each instance wrote, in its order.
func (r *recent) texts() map[string]string {
	kept := map[string][]string{}
	for instance := range r.cut {
		kept[instance] = []string{omittedLines + "\n"}
	}
	for _, l := range r.lines[r.first:] {
		kept[l.GetInstance()] = append(kept[l.GetInstance()], l.GetText())
	}
	all := make(map[string]string, len(kept))
	for instance, texts := range kept {
		all[instance] = strings.TrimSuffix(strings.Join(texts, ""), "\n")
	}
	return all
}
