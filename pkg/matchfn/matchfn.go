// Package matchfn is the SDK for match functions: WebAssembly modules that turn waiting tickets into proposals of
// matches. A function is a Go program whose main does nothing:
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
// Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o pair.wasm .
//
// and test it natively with go test and package fake.
//
// # Tickets are numbers
//
// A run has a fixed set of tickets, numbered from 0. Their data are columns with one element for each ticket: skill[7]
// and wait[7] belong to ticket 7. Columns are views of the request. They cost little and are valid only during the run,
// so do not keep them. A ticket without an attribute has NaN there, which makes every comparison false.
//
// # A run depends only on its request
//
// The clock and the random numbers of the sandbox are fixed: use [Run.Now] and [Run.Rand]. The same request always
// gives the same answer. There are no files and no network. [Run.Log] and all other output go to the function's log.
//
// # Functions that keep their tickets
//
// A [Matcher] keeps the tickets that it left over. Its next run has only what changed, so that it takes time for that
// and not for a crowd that waits. Write one if your players wait for each other in large numbers: it is given all
// tickets at once in the same way, as new ones. The pairs above are adjacent tickets, so a Matcher for them would keep
// them sorted, and look at those beside new ones.
//
// # Errors
//
// An error that a function returns fails the run: nothing is proposed, and the error is shown with the config. A wrong
// use of a [Run], such as the name of a pool that the config does not have, has the same effect after the function has
// returned. A panic ends the instance; its stack is in the log.
//
// An error of the settings begins with "settings:", as errors of [Settings] do. When a config is put, its function is
// asked without a ticket, and the config is refused if it returns such an error. So look at the settings first.
package matchfn

import "matchmaker.dev/pkg/matchfn/block"

// Function is a match function with its manifest.
type Function struct {
	begin    func(*Settings) (Matcher, error)
	manifest block.Manifest
	kept     map[uint32]Matcher // by the number of the base
	naming   naming
	answer   block.AnswerBuilder
	// late gets the proposals of a Run whose function has returned. They must not get into the answer of another run.
	late block.AnswerBuilder
}

// Option limits the columns that a function gets.
type Option func(*Function)

// Attributes names the attributes of tickets and backfill tickets that the function reads, at most 256; there may be
// none. "created" need not be named. [AttributesNamedBy] adds attributes that settings name.
//
// A function without either option gets the attributes that a string in its settings or a filter of its pools names,
// and of all others the 64 that most tickets of its pools have. [Run.LeftOut] says how many it did not get. Declare
// what the function reads: then it gets that for sure, and nothing else.
func Attributes(names ...string) Option {
	return func(f *Function) { f.manifest.Attributes = append([]string{}, names...) }
}

// AttributesNamedBy says that settings name attributes that the function reads. The value of such a setting is a string
// or a list of strings. A path is member names separated by dots, as in [Settings]:
//
//	matchfn.Register(match, matchfn.Attributes("skill"), matchfn.AttributesNamedBy("attribute", "teams.by"))
//
// The member * is every member or element. A path that ends in @ means the names of the members of an object, as in
// "values.@". A setting may be absent: name its default in [Attributes].
func AttributesNamedBy(settings ...string) Option {
	return func(f *Function) { f.manifest.AttributeSettings = append([]string{}, settings...) }
}

// Properties names the properties of tickets and backfill tickets that the function reads, at most 256. Properties()
// names none, which makes requests smaller. A function that declares no properties gets some, as with [Attributes].
func Properties(names ...string) Option {
	return func(f *Function) { f.manifest.Properties = append([]string{}, names...) }
}

// PropertiesNamedBy is AttributesNamedBy for properties.
func PropertiesNamedBy(settings ...string) Option {
	return func(f *Function) { f.manifest.PropertySettings = append([]string{}, settings...) }
}

// New returns a function that is not the module's function, for tests and tools.
func New(match func(*Run) error, options ...Option) *Function {
	if match == nil {
		return newFunction(nil, options)
	}
	return newFunction(func(*Settings) (Matcher, error) { return simple(match), nil }, options)
}

func newFunction(begin func(*Settings) (Matcher, error), options []Option) *Function {
	f := &Function{begin: begin, kept: map[uint32]Matcher{}}
	for _, option := range options {
		option(f)
	}
	return f
}

// Register makes match the function of this module. Call it once, in the declaration of a package variable of main.
// Natively it is the same as New.
func Register(match func(*Run) error, options ...Option) *Function {
	f := New(match, options...)
	export(f)
	return f
}

// Manifest returns which columns the function gets.
func (f *Function) Manifest() block.Manifest { return f.manifest }

// Answer runs the function on a request and returns its answer, both in the format of package block. The answer is
// valid until the next call.
func (f *Function) Answer(request []byte) []byte {
	f.answer.Reset()
	in, err := block.ParseRequest(request)
	if err != nil {
		return f.answer.Fail(err.Error())
	}
	if f.begin == nil {
		return f.answer.Fail("there is no function: Register or New got nil")
	}
	if in.Naming {
		return f.name(in.Config)
	}
	r := &Run{in: in, manifest: &f.manifest, naming: &f.naming, out: &f.answer}
	err = f.match(r)
	r.out = &f.late
	if err != nil || r.err != nil || f.late.Len() > 0 {
		f.forget(in.Base) // its matcher may have done half of its work
	}
	switch {
	case err != nil:
		return f.answer.Fail(err.Error())
	case r.err != nil:
		return f.answer.Fail(r.err.Error())
	case f.late.Len() > 0:
		f.late.Reset()
		return f.answer.Fail("a Run was used after its function had returned: each run has its own Run")
	}
	return f.answer.Finish()
}
