package registry

import (
	"strings"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// omittedLines stands for lines of an instance that did not fit.
const omittedLines = "[earlier lines are left out]"

// recent collects lines up to a number of bytes: with add until it is full, or with push, which drops the oldest ones.
type recent struct {
	bytesLeft int
	lines     []*pb.LogLines
	first     int             // of lines that is kept
	cut       map[string]bool // the instances that lost lines
}

// sizeOf is the bytes that a message counts.
func sizeOf(l *pb.LogLines) int { return len(l.GetText()) }

// add keeps lines while they fit, and returns false when they do not. The first message always fits.
func (r *recent) add(l *pb.LogLines) bool {
	if r.bytesLeft < sizeOf(l) && len(r.lines) > 0 {
		return false
	}
	r.bytesLeft -= sizeOf(l)
	r.lines = append(r.lines, l)
	return true
}

// push keeps lines and drops the oldest ones to make room.
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

// texts joins the lines of each instance, in order.
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
