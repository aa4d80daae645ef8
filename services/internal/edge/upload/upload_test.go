package upload

import (
	"fmt"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// function has the uploads n to 1, of which those in worked did so, the later ones of them later.
func function(n, current int64, worked ...int64) *pb.Function {
	f := &pb.Function{Name: "duel", Version: current}
	for number := n; number > 0; number-- {
		f.Versions = append(f.Versions, &pb.FunctionVersion{Version: number, Module: fmt.Sprint("module-", number)})
	}
	for i, number := range worked {
		Of(f, number).Worked = int64(i + 1)
	}
	return f
}

func TestFiveBadUploadsDoNotPushOutTheLastOneThatWorked(t *testing.T) {
	f := function(1, 1, 1)
	for number := int64(2); number <= 7; number++ {
		f.Versions = append([]*pb.FunctionVersion{{Version: number}}, f.GetVersions()...)
		f.Version = number
		f.Versions = Retain(f, 5, nil)
	}
	if got := numbers(f.GetVersions()); got != "7 6 5 4 1" {
		t.Errorf("kept are %s", got)
	}
}

func TestRetain(t *testing.T) {
	for name, c := range map[string]struct {
		f      *pb.Function
		most   int
		pinned map[int64]bool
		want   string
	}{
		"the newest":                     {function(5, 5), 3, nil, "5 4 3"},
		"the one that runs":              {function(5, 1), 3, nil, "5 4 1"},
		"the last one that worked":       {function(6, 6, 1, 2), 3, nil, "6 5 2"},
		"the one that worked last, late": {function(6, 6, 2, 1), 3, nil, "6 5 1"},
		"one that a config names":        {function(6, 6, 3), 3, map[int64]bool{1: true}, "6 3 1"},
		"more than fit are protected":    {function(6, 6, 3), 1, map[int64]bool{1: true, 2: true}, "6 3 2 1"},
		"few":                            {function(2, 2), 3, nil, "2 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := numbers(Retain(c.f, c.most, c.pinned)); got != c.want {
				t.Errorf("kept are %s, want %s", got, c.want)
			}
		})
	}
	f := function(6, 6)
	f.Shadow = 1
	if got := numbers(Retain(f, 2, nil)); got != "6 1" {
		t.Errorf("with a shadow, kept are %s", got)
	}
}

func TestTrialTarget(t *testing.T) {
	now := time.UnixMilli(1000)
	f := function(3, 3, 1, 2)
	if TrialTarget(f, now) != nil {
		t.Error("a function that is on no trial goes back")
	}
	f.TrialUntil = 1001
	if got := TrialTarget(f, now).GetVersion(); got != 2 {
		t.Errorf("it goes back to %d", got)
	}
	if TrialTarget(f, now.Add(time.Millisecond)) != nil {
		t.Error("it goes back when the trial is over")
	}
	f.NoReturn = true
	if TrialTarget(f, now) != nil {
		t.Error("it goes back although the studio does not want it")
	}
	if LastGood(function(3, 3)) != nil {
		t.Error("an upload worked that never ran")
	}
}

func TestAs(t *testing.T) {
	f := function(3, 3)
	f.Generation, f.Shadow, f.TrialUntil = 7, 2, 9
	as := As(f, 2)
	if as.GetModule() != "module-2" || as.GetVersion() != 2 || as.GetGeneration() != 7 || as.GetShadow() != 0 ||
		as.GetTrialUntil() != 0 {
		t.Errorf("as upload 2 it is %v", as)
	}
	if As(f, 4) != nil {
		t.Error("there is no upload 4")
	}
}

func TestPinned(t *testing.T) {
	pinned := Pinned(map[string]*pb.Config{
		"a": {Function: "duel", Upload: 2}, "b": {Function: "duel", Upload: 3}, "c": {Function: "duel"},
		"d": {Function: "raid", Upload: 2},
	})
	if len(pinned) != 2 || len(pinned["duel"]) != 2 || !pinned["duel"][2] || !pinned["duel"][3] || !pinned["raid"][2] {
		t.Errorf("pinned are %v", pinned)
	}
}

func numbers(versions []*pb.FunctionVersion) string {
	var list []string
	for _, v := range versions {
		list = append(list, fmt.Sprint(v.GetVersion()))
	}
	return strings.Join(list, " ")
}
