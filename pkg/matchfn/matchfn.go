// Package matchfn is for writing match functions: WebAssembly modules that
// turn waiting tickets into proposals of matches. A function is a Go program
// whose main does nothing:
//
//	package main
//
//	import "matchmaker.dev/pkg/matchfn"
//
//	var function = matchfn.Register(match, matchfn.Attributes("skill"), matchfn.Properties())
//
//	func match(r *matchfn.Run) error {
//		skill, wait := r.Attribute("skill"), r.Wait()
//		order := matchfn.SortBy(skill)
//		for i := 0; i+1 < len(order); i++ {
//			a, b := order[i], order[i+1]
//			gap := skill[b] - skill[a]
//			if gap <= 25+min(wait[a], wait[b]) {
//				r.Propose(-gap, a, b)
//				i++ // both are taken
//			}
//		}
//		return nil
//	}
//
//	func main() {}
//
// It is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o pair.wasm .
//
// and tested natively with go test and package fake.
//
// # Tickets are numbers
//
// A run is over a fixed set of tickets, numbered from 0. Everything known
// about them comes as columns with one element for each ticket: skill[7] and
// wait[7] belong to ticket 7. Columns are views of the request: cheap to get,
// and gone when the run is over, so keep no slice of them between runs. A
// ticket that lacks an attribute has NaN there, which no comparison accepts.
//
// # What a run is told, and nothing else
//
// The clock and the random numbers of the sandbox are fixed: use [Run.Now] and
// [Run.Rand], and the same request always gives the same answer. There are no
// files and no network. [Run.Log], and whatever else is printed, goes to the
// function's log.
//
// # Errors
//
// An error that a function returns fails the run: nothing is proposed and the
// text is shown with the config. Mistakes in using a [Run], such as the name
// of a pool that the config lacks, do the same after the function has
// returned. A panic costs the instance its life; its stack is in the log.
package matchfn

import "matchmaker.dev/pkg/matchfn/block"

// Function is a match function and what it wants to know of tickets.
type Function struct {
	match    func(*Run) error
	manifest block.Manifest
	answer   block.AnswerBuilder
	// late is what is proposed with a Run whose function has returned. Without it that would be in the answer of another run.
	late block.AnswerBuilder
}

// Option narrows what travels to a function.
type Option func(*block.Manifest)

// Attributes names the attributes that the function reads, of tickets and of
// backfill tickets; none at all is allowed. Without this option every attribute
// travels, which a function that takes names from its settings needs.
// "created" need not be named.
func Attributes(names ...string) Option {
	return func(m *block.Manifest) { m.EveryAttribute, m.Attributes = false, names }
}

// Properties names the properties that the function reads, of tickets and of
// backfill tickets. Properties() says that it reads none, which makes requests
// smaller. Without this option every property travels.
func Properties(names ...string) Option {
	return func(m *block.Manifest) { m.EveryProperty, m.Properties = false, names }
}

// New returns a function that is not the module's: for tests and tools.
func New(match func(*Run) error, options ...Option) *Function {
	f := &Function{match: match, manifest: block.Manifest{EveryAttribute: true, EveryProperty: true}}
	for _, option := range options {
		option(&f.manifest)
	}
	return f
}

// Register makes match the function of this module. Call it once, in the
// declaration of a package variable of main. Natively it is New.
func Register(match func(*Run) error, options ...Option) *Function {
	f := New(match, options...)
	export(f)
	return f
}

// Manifest says which columns the function wants.
func (f *Function) Manifest() block.Manifest { return f.manifest }

// Answer runs the function on a request and returns its answer, both in the
// format of package block. The answer is valid until the next call.
func (f *Function) Answer(request []byte) []byte {
	f.answer.Reset()
	in, err := block.ParseRequest(request)
	if err != nil {
		return f.answer.Fail(err.Error())
	}
	if f.match == nil {
		return f.answer.Fail("there is no function: nil was given to Register or New")
	}
	r := &Run{in: in, manifest: &f.manifest, out: &f.answer}
	err = f.match(r)
	r.out = &f.late
	switch {
	case err != nil:
		return f.answer.Fail(err.Error())
	case r.err != nil:
		return f.answer.Fail(r.err.Error())
	case f.late.Len() > 0:
		f.late.Reset()
		return f.answer.Fail("a Run was used to propose after its function had returned: every run has a Run of its own")
	}
	return f.answer.Finish()
}
