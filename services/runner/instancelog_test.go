package runner

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

func TestLogBudget(t *testing.T) {
	budget := newTestFunction(t, 0).logBudget
	now := time.Now()
	take := func(bytes int) bool { return budget.AllowN(now, bytes) }
	if !take(logBurst) || take(1) {
		t.Error("at once it is not exactly the burst")
	}
	now = now.Add(time.Second)
	if !take(logRate) || take(1) {
		t.Error("after a second it is not exactly the rate")
	}
	now = now.Add(time.Hour)
	if !take(logBurst) || take(1) {
		t.Error("after an hour it is not exactly the burst")
	}
	now = now.Add(-time.Minute)
	if take(1) {
		t.Error("a clock that is set back adds to the budget")
	}
}

// overBudget is how the report of dropped lines ends.
const overBudget = "in the long run a function may print 256 KiB a second on a runner, all of a project 1024 KiB"

// newTestLog is a log with a budget of bytes, which collects what it sends.
func newTestLog(bytes int) (*instanceLog, *[]string) {
	var sent []string
	return &instanceLog{
		now: time.Now, shown: func() time.Time { return time.UnixMilli(7) }, budget: rate.NewLimiter(0, bytes),
		project: rate.NewLimiter(rate.Inf, 0), instance: "i",
		send: func(l *pb.LogLines) {
			if l.GetTime() != 7 || l.GetInstance() != "i" {
				sent = append(sent, l.String())
			}
			sent = append(sent, l.GetText())
		},
	}, &sent
}

func TestLinesAreSentTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, sent := newTestLog(logBurst)
		if l.due != nil {
			t.Error("something is due at first")
		}
		l.line("one")
		first := l.due
		time.Sleep(logDelay / 2) //nolint:forbidigo // of the bubble's time
		l.event("two\nand %s", "a half")
		if l.due != first || len(*sent) > 0 {
			t.Error("what comes later is not sent with what came first")
		}
		<-l.due
		l.flush()
		if got := fmt.Sprintf("%q", *sent); got != `["one\n[runner] two\n[runner] and a half\n"]` || l.due != nil {
			t.Errorf("sent %s", got)
		}
		l.flush()
		if len(*sent) != 1 {
			t.Error("sent nothing")
		}
	})
}

// No message is longer than bus.MaxLogText: a longer line continues in the next one.
func TestMessagesHaveALimit(t *testing.T) {
	l, sent := newTestLog(logBurst)
	want := ""
	write := func(line string) {
		l.line(line)
		want += line + "\n"
	}
	for range 1000 {
		write(strings.Repeat("x", 99))
	}
	write("1234" + strings.Repeat("€", 3*bus.MaxLogText))
	write("z")
	l.line("\xff")
	want += "\ufffd\n"
	l.flush()
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

func TestLinesOverTheBudgetAreDropped(t *testing.T) {
	l, sent := newTestLog(logBurst)
	l.line("before")
	l.budget.SetBurst(0)
	l.line("lost")
	l.line("lost too")
	l.event("killed")
	l.budget = rate.NewLimiter(0, logBurst)
	l.line("after")
	l.flush()
	want := "before\n[runner] killed\n" +
		"[runner] 2 lines were dropped: " + overBudget + "\nafter\n"
	if got := strings.Join(*sent, ""); got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// Dropped lines are reported even if the function prints no more. Its errors count against the budget too.
func TestDroppedLinesAreReportedInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, sent := newTestLog(16)
		l.line("far too much of it")
		l.functionError(errors.New("far too many tickets"))
		l.functionError(errors.New("no map"))
		<-l.due
		l.flush()
		want := "[runner] 2 lines were dropped: " + overBudget + "\n" +
			"[runner] no map\n"
		if got := strings.Join(*sent, ""); got != want || l.due != nil {
			t.Errorf("sent %q, want %q", got, want)
		}
		l.line("once more than it may")
		<-l.due
		l.flush()
		want += "[runner] a line was dropped: " + overBudget + "\n"
		if got := strings.Join(*sent, ""); got != want || l.due != nil {
			t.Errorf("sent %q, want %q", got, want)
		}
	})
}

// The runner marks each line of an error, which is charged for that.
func TestErrorsOfManyLinesAreCharged(t *testing.T) {
	l, sent := newTestLog(100)
	l.functionError(errors.New(strings.Repeat("\n", 50)))
	l.flush()
	if got := strings.Join(*sent, ""); len(got) > 200 || l.dropped != 0 {
		t.Errorf("sent %d bytes", len(got))
	}
	l.functionError(errors.New("a\nb"))
	l.flush()
	if got := strings.Join(*sent, ""); !strings.HasSuffix(got, "\n[runner] a\n[runner] b\n") {
		t.Errorf("sent %q", got)
	}
	l, sent = newTestLog(100)
	for range 100 {
		l.functionError(errors.New("a"))
	}
	l.flush()
	if got := strings.Count(strings.Join(*sent, ""), "[runner] a\n"); got > 10 {
		t.Errorf("%d short errors were sent", got)
	}
}

// A project does not get more by having more functions.
func TestFunctionsOfAProjectShareABudget(t *testing.T) {
	now := time.Now()
	h := newHostedProject(newTestFunction(t, 0).env, "p", func() {})
	sent, kept := 0, 0
	for range 20 {
		f := newFunction(t.Context(), h.env, functionKey{"p", "f"}, newFeed("p", 10, h.env.Log), h.logBudget)
		l := &instanceLog{now: func() time.Time { return now }, budget: f.logBudget, project: f.projectLog,
			send: func(*pb.LogLines) {}}
		for range logBurst >> 10 {
			sent++
			if l.allow(strings.Repeat("x", 1<<10-1)) {
				kept++
			}
		}
	}
	if kept != projectLogBurst>>10 {
		t.Errorf("%d KiB of %d are kept, want %d", kept, sent, projectLogBurst>>10)
	}
}

// TestLogsAreMeasured: bytes that are sent, and lines that the budget drops.
func TestLogsAreMeasured(t *testing.T) {
	l, sent := newTestLog(100)
	bytes, dropped := 0, 0
	l.measure = func(b, d int) { bytes, dropped = bytes+b, dropped+d }
	l.line(strings.Repeat("x", 89))
	l.line(strings.Repeat("y", 20))
	l.line("123456789")
	l.line("none is left")
	l.flush()
	if want := len(strings.Join(*sent, "")); bytes != want || want < 100 || dropped != 2 {
		t.Errorf("%d bytes and %d dropped lines are measured; sent were %d: %q", bytes, dropped, want, *sent)
	}
}
