package runner

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

func TestRation(t *testing.T) {
	now := time.Unix(1000, 0)
	r := newRation(func() time.Time { return now })
	if !r.take(printBurst) || r.take(1) {
		t.Error("at once it is not exactly the burst")
	}
	now = now.Add(time.Second)
	if !r.take(printRate) || r.take(1) {
		t.Error("after a second it is not exactly the rate")
	}
	now = now.Add(time.Hour)
	if !r.take(printBurst) || r.take(1) {
		t.Error("after an hour it is not exactly the burst")
	}
	now = now.Add(-time.Minute) // a clock that is set back gives nothing
	if r.take(1) {
		t.Error("a clock that went back gave something")
	}
}

// messages is a journal that keeps what it is to send.
func messages(allow func(int) bool) (*journal, *[]string) {
	var sent []string
	return &journal{now: func() time.Time { return time.UnixMilli(7) }, allow: allow, instance: "i", say: func(l *pb.LogLines) {
		if l.GetTime() != 7 || l.GetInstance() != "i" {
			sent = append(sent, l.String())
		}
		sent = append(sent, l.GetText())
	}}, &sent
}

func TestLinesAreSentTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, sent := messages(func(int) bool { return true })
		if j.due != nil {
			t.Error("something is due at first")
		}
		j.line("one")
		first := j.due
		time.Sleep(linger / 2) //nolint:forbidigo // of the bubble's time
		j.event("two\nand %s", "a half")
		if j.due != first || len(*sent) > 0 {
			t.Error("what comes later is not sent with what came first")
		}
		<-j.due
		j.flush()
		if got := fmt.Sprintf("%q", *sent); got != `["one\n[runner] two\n[runner] and a half\n"]` || j.due != nil {
			t.Errorf("sent %s", got)
		}
		j.flush()
		if len(*sent) != 1 {
			t.Error("sent nothing")
		}
	})
}

// No message is longer than the log's limits count on: a line that is goes on in the next one.
func TestMessagesAreShort(t *testing.T) {
	j, sent := messages(func(int) bool { return true })
	want := ""
	write := func(line string) {
		j.line(line)
		want += line + "\n"
	}
	for range 1000 {
		write(strings.Repeat("x", 99))
	}
	write("1234" + strings.Repeat("€", 3*bus.MaxLogText))
	write("z")
	j.line("\xff")
	want += "\ufffd\n"
	j.flush()
	if got := strings.Join(*sent, ""); got != want {
		t.Errorf("%d bytes came, of %d", len(got), len(want))
	}
	for _, m := range *sent {
		if len(m) > bus.MaxLogText || !utf8.ValidString(m) {
			t.Errorf("a message of %d bytes: %.20q", len(m), m)
		}
	}
	if most := 1000/(bus.MaxLogText/100) + 10 + 2; len(*sent) > most {
		t.Errorf("%d messages, more than %d", len(*sent), most)
	}
}

func TestAFloodOfLinesIsDropped(t *testing.T) {
	open := true
	j, sent := messages(func(int) bool { return open })
	j.line("before")
	open = false
	j.line("lost")
	j.line("lost too")
	j.event("killed")
	open = true
	j.line("after")
	j.flush()
	want := "before\n[runner] killed\n[runner] 2 lines were dropped: in the long run a function may print 256 KiB a second on a runner\nafter\n"
	if got := strings.Join(*sent, ""); got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// That lines were dropped is told also when the function prints no more, and what it complains of counts as well.
func TestAFloodThatEndsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, sent := messages(func(bytes int) bool { return bytes < 10 })
		j.line("too much of it")
		j.complaint(errors.New("far too many tickets"))
		j.complaint(errors.New("no map"))
		<-j.due
		j.flush()
		want := "[runner] 2 lines were dropped: in the long run a function may print 256 KiB a second on a runner\n[runner] no map\n"
		if got := strings.Join(*sent, ""); got != want || j.due != nil {
			t.Errorf("sent %q, want %q", got, want)
		}
		j.line("once more than it may")
		<-j.due
		j.flush()
		want += "[runner] a line was dropped: in the long run a function may print 256 KiB a second on a runner\n"
		if got := strings.Join(*sent, ""); got != want || j.due != nil {
			t.Errorf("sent %q, want %q", got, want)
		}
	})
}
