package invocation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// A function that works on changes is checked after one run of a hundred of a config, and more seldom if the checks
// would take more than a thousandth of the time: the runs that come during a check wait for it, and would determine
// p99.
const (
	checkRuns  = 100
	checkPause = 1000
)

// CheckError says that a function overlooks matches when it works on changes.
type CheckError struct{ error }

func (e CheckError) Unwrap() error { return e.error }

// Due reports whether a run, which was answered without an error, is to be followed by a check.
func (k *Session) Due(r *Run) bool {
	if k == nil {
		return false
	}
	b := k.bases[r.Key]
	return b != nil && b.runs >= checkRuns && r.now().Sub(b.checked) >= checkPause*b.took
}

// Check gives the function all tickets that it left over in the last run, as if they were new, at the time of that run.
// If it finds a match now it is wrong, and the error is a CheckError. After that it should get all tickets in each run.
// After another error the instance must not be used again, as after Invoke. The base begins anew with these tickets, so
// that what the function has is never older than some runs.
//
// The answer of the run must have been sent. If tickets left meanwhile, there is no check.
func (inv *Invoker) Check(life context.Context, r *Run, instance Instance, n Needs) error {
	began := time.Now()
	b := r.Session.bases[r.Key]
	request := proto.CloneOf(r.Request)
	request.Census = nil
	// Backfill tickets that the run filled would be filled again.
	again := &Run{
		Request: request, Index: r.Index, Session: r.Session, Key: r.Key,
		Began: began, Deadline: began.Add(r.Deadline.Sub(r.Began)), Now: r.Now, Budget: r.Budget,
	}
	inv.parts.begin(again)
	err := inv.check(life, again, instance, n, b)
	b.checked, b.took = again.now(), time.Since(began)
	r.Session.debt += b.took
	if err != nil {
		r.Session.drop(b)
	}
	return err
}

func (inv *Invoker) check(life context.Context, r *Run, instance Instance, n Needs, b *base) error {
	defer instance.ReleaseBuffer()
	clock := time.Now()
	e := &encoder{
		Invoker: inv, run: r, instance: instance, needs: n, stats: &pb.RunStats{}, clock: &clock, base: b, again: true,
		work: pool.Work{Deadline: r.Deadline},
	}
	request, err := e.encode(life)
	if _, mild := errors.AsType[FunctionError](err); mild || err == nil && request == nil {
		if e.retains { // the tickets have other numbers now, and the function does not know
			r.Session.drop(b)
		}
		return nil // another time
	}
	if err != nil {
		return err
	}
	bytes, _, err := instance.Run(life, request, inv.parts.deadline.left())
	if err != nil {
		return err
	}
	answer, err := inv.reader.Read(bytes, b.kept.All().N(), 0)
	switch {
	case err != nil:
		return err
	case answer.Failure != "":
		return CheckError{fmt.Errorf("it fails with the tickets that it left over: %s", answer.Failure)}
	case answer.Len() > 0:
		return CheckError{fmt.Errorf("it left over %d tickets and proposed %d matches when it got the same tickets at once",
			b.kept.Live(), answer.Len())}
	}
	return nil
}

// pay returns what checks took that was not paid.
func (k *Session) pay() (debt time.Duration) {
	if k != nil {
		debt, k.debt = k.debt, 0
	}
	return debt
}
