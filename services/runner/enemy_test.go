package runner_test

import (
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Whatever a function does harms only its own run. That run fails with the reason, the function's log has it, other
// functions go on meanwhile, and the next run of the function is answered.
func TestHostileFunctionsHurtOnlyTheirOwnRun(t *testing.T) {
	w := newWorld(t)
	w.put(project, "enemy", w.enemy)
	w.put(project, "bystander", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("enemy", 1)
	w.waitServing("bystander", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	w.invokeOK("bystander", "pair", 1)

	for _, test := range []struct {
		do   string
		says string // part of the run's error; empty when it does no harm
		log  string // part of the log, besides the error
	}{
		{"loop", "deadline: the run took longer than", ""},
		{"recursion without a loop", "deadline: the run took longer than", ""},
		{"memory bomb", "memory: it wanted more memory than the limit of 64 MiB", "out of memory"},
		{"stack bomb", "memory: it wanted more memory than the limit of 64 MiB", ""},
		{"trap", "trap: ", "nil pointer dereference"},
		{"panic", "trap: ", "panic: as told"},
		{"exit", "exit: it exited with code 3", ""},
		{"deadlock", "trap: ", "all goroutines are asleep - deadlock"},

		{"answer beyond its memory", "garbage: mm_run returned 1000 bytes at 0xffff0000, memory has", ""},
		{"answer of 4 GiB", "garbage: mm_run returned 4294967295 bytes, the limit is", ""},
		{"answer at the end of memory", "garbage: mm_run returned 32 bytes at 0x7ffffff0, memory has", ""},
		{"nothing", "block: 0 bytes are less than a header", ""},
		{"three bytes", "block: ", ""},
		{"noise", "answer: ", ""},
		{"a request", "block: ", ""},
		{"a torn answer", "block: ", ""},
		{"a ticket that is none", "answer: proposal 0 has ticket 4000000000 of 2", ""},
		{"a ticket twice", "answer: proposal 0 has ticket 0 twice", ""},
		{"a score that is no number", "answer: the score of proposal 0 is NaN", ""},
		{"properties that are no JSON", "answer: proposal 0: match properties: ", ""},

		{"flood", "", "bytes dropped: the log of a run is limited to 65536 bytes"},
		{"stray prints", "", " stray "},
		{"reach out", "", "reached 0"},
	} {
		t.Run(test.do, func(t *testing.T) {
			budget := int64(60_000)
			if strings.HasPrefix(test.says, "deadline") {
				budget = 1000
			}
			bad := w.startRun(&pb.RunRequest{
				Project: project, Function: "enemy", Position: w.position(), Budget: budget,
				Settings: []byte(`{"do":"` + test.do + `"}`),
			})
			w.invokeOK("bystander", "pair", 1)
			a := w.awaitAnswer(bad)
			if a.error == "" != (test.says == "") || !strings.Contains(a.error, test.says) {
				t.Errorf("the run says %q, want %q", a.error, test.says)
			}
			if test.says == "" && len(a.proposals) != 1 {
				t.Errorf("%d proposals", len(a.proposals))
			}
			if test.says != "" {
				w.waitLogged("enemy", "[runner] "+a.error)
				w.waitReplaced("enemy", a.stats.GetInstance())
			}
			if test.log != "" {
				w.waitLogged("enemy", test.log)
			}
			w.invokeOK("enemy", "behave", 1)
		})
	}
	if log := w.waitLogged("bystander", "asked for pair"); strings.Contains(log, "[runner] ") &&
		strings.Contains(log, "another instance") {
		t.Errorf("the bystander was hurt:\n%s", log)
	}
}
