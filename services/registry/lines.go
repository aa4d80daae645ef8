package registry

import (
	"cmp"
	"slices"
	"strings"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
)

// omittedLines stands for lines of an instance that did not fit.
const omittedLines = "[earlier lines are left out]"

// recent collects lines up to a number of bytes: with add until it is full, or with push, which drops the oldest ones.
type recent struct {
	each      bool // each line counts besides, since it is answered with its time and so on
	bytesLeft int
	lines     []*pb.LogLines
	first     int             // of lines that is kept
	cut       map[string]bool // the instances that lost lines
}

// sizeOf is the bytes of a message.
func sizeOf(l *pb.LogLines) int { return len(l.GetText()) }

// lineBytes is about how many bytes a line takes in an answer besides its text.
const lineBytes = 200

// sizeOf is the bytes that a message counts.
func (r *recent) sizeOf(l *pb.LogLines) int {
	size := sizeOf(l)
	if r.each {
		size += lineBytes * (1 + strings.Count(l.GetText(), "\n"))
	}
	return size
}

// add keeps lines while they fit, and returns false when they do not. The first message always fits.
func (r *recent) add(l *pb.LogLines) bool {
	if r.bytesLeft < r.sizeOf(l) && len(r.lines) > 0 {
		return false
	}
	r.bytesLeft -= r.sizeOf(l)
	r.lines = append(r.lines, l)
	return true
}

// push keeps lines and drops the oldest ones to make room.
func (r *recent) push(l *pb.LogLines) bool {
	r.bytesLeft -= r.sizeOf(l)
	r.lines = append(r.lines, l)
	for r.bytesLeft < 0 {
		oldest := r.lines[r.first]
		r.lines[r.first] = nil
		r.first++
		r.bytesLeft += r.sizeOf(oldest)
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

// list is the lines, the earliest first.
func (r *recent) list() []response.LogLine {
	lines := []response.LogLine{}
	for _, l := range r.lines[r.first:] {
		number, mark := uint32(0), 0
		marks := l.GetMarks()
		for text := range strings.Lines(l.GetText()) {
			for mark+1 < len(marks) && marks[mark+1].GetLine() <= number {
				mark++
			}
			millis, config := l.GetTime(), ""
			if len(marks) > 0 {
				millis, config = marks[mark].GetTime(), marks[mark].GetConfig()
			}
			lines = append(lines, response.LogLine{Time: iso8601(millis), Upload: l.GetUpload(), Config: config,
				Instance: l.GetInstance(), Text: strings.TrimSuffix(text, "\n")})
			number++
		}
	}
	// All times have the same length, so their texts sort in the order of the times.
	slices.SortStableFunc(lines, func(a, b response.LogLine) int { return cmp.Compare(a.Time, b.Time) })
	return lines
}
