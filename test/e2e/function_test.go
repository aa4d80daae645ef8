package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
)

// logs waits until the log of one of a function's instances has a text, and returns the logs of all.
func (p *project) logs(t *testing.T, function, text string) (logs map[string]string) {
	t.Helper()
	eventually(t, "the log of "+function+" has "+text, func() bool {
		var err error
		if logs, err = p.developer(t).GetFunctionLog(within(t), function, 0); err != nil {
			t.Fatal(err)
		}
		for _, lines := range logs {
			if strings.Contains(lines, text) {
				return true
			}
		}
		return false
	})
	return logs
}

// rollback: a new version that fails leaves the tickets waiting, since the studio does not want the function to go back
// by itself. After a rollback they are matched.
func rollback(t *testing.T, p *project) {
	p.upload(t, "pairs", p.s.made.actor)
	p.put(t, "config", rules{function: "pairs", settings: map[string]any{"part": "pair"}, hosting: true})
	p.match(t, attributes{"number": 1})

	if _, err := p.developer(t).SetFunctionReturn(within(t), "pairs", false); err != nil {
		t.Fatal(err)
	}
	before := p.generations(t, "pairs")
	p.upload(t, "pairs", p.s.made.duel)
	eventually(t, "the new version alone runs", func() bool {
		now := p.generations(t, "pairs")
		return len(now) == 1 && !before[slices.Collect(maps.Keys(now))[0]]
	})
	ada, bob := p.ticket(t, "ada", attributes{"number": 1}), p.ticket(t, "bob", attributes{"number": 2})
	p.logs(t, "pairs", `"part"`) // duel does not know this setting
	ada.mustWait(t)
	bob.mustWait(t)

	versions, err := p.developer(t).GetFunctionVersions(within(t), "pairs")
	if err != nil || len(versions) != 2 || !versions[0].Current || versions[1].Version != 1 {
		t.Fatalf("the versions are %+v, %v", versions, err)
	}
	if _, err := p.developer(t).RollbackFunction(within(t), "pairs", 1); err != nil {
		t.Fatal(err)
	}
	together(t, ada, bob)
}

// generations are the generations of the function's instances, which are part of their names.
func (p *project) generations(t *testing.T, function string) map[string]bool {
	t.Helper()
	f, err := p.developer(t).GetFunction(within(t), function)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, i := range f.Status.Instances {
		generation, _, _ := strings.Cut(strings.TrimPrefix(i.Name, function+"-"), "-")
		found[generation] = true
	}
	return found
}

// awaitInstance waits until a runner has an instance of a function, and the function's log says so.
func (p *project) awaitInstance(t *testing.T, function, runner string) {
	t.Helper()
	eventually(t, "the log of "+function+" has an instance of "+runner,
		func() bool { return p.began(t, function, runner) })
	eventually(t, "an instance of "+runner+" runs", func() bool { return p.runs(t, function, runner) })
}

// awaitNoInstance waits until the function's status has no instance of a runner. The function's log must still have
// their output.
func (p *project) awaitNoInstance(t *testing.T, function, runner string) {
	t.Helper()
	eventually(t, "the instances of "+runner+" are gone",
		func() bool { return !p.runs(t, function, runner) && p.runs(t, function, "") })
	if !p.began(t, function, runner) {
		t.Errorf("the log of %s has nothing of %s", function, runner)
	}
}

// runs reports whether a function runs and has instances on a runner, or on any runner when that is "".
func (p *project) runs(t *testing.T, function, runner string) bool {
	t.Helper()
	f, err := p.developer(t).GetFunction(within(t), function)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Status.Instances {
		if strings.Contains(i.Name, runner) {
			return f.Status.State == client.Running
		}
	}
	return false
}

// began reports whether a function's log has the start of an instance on a runner.
func (p *project) began(t *testing.T, function, runner string) bool {
	t.Helper()
	logs, err := p.developer(t).GetFunctionLog(within(t), function, 0)
	if err != nil {
		t.Fatal(err)
	}
	for instance, lines := range logs {
		if strings.Contains(instance, runner) && strings.Contains(lines, "[runner] started") {
			return true
		}
	}
	return false
}
