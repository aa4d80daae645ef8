package invocation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/capture"
	"matchmaker.dev/services/internal/match/pool"
)

// requestShare is the part of a function's memory that a request may take, in quarters. The function needs some for
// itself.
const requestShare = 3

// reservations is how often the function is asked for memory for a request. Meanwhile tickets may come, so that the
// next selection is larger.
const reservations = 3

// encoder writes the request of one run. What it keeps is part of the Invoker.
type encoder struct {
	*Invoker
	run      *Run
	instance Instance
	needs    Needs
	names    names
	work     pool.Work
	stats    *pb.RunStats
	clock    *time.Time

	base *base // what the function keeps of the config; nil if it keeps nothing
	// mayKeep is set if the function may begin to keep the tickets, which it does if they are many.
	mayKeep bool

	retains   bool // the function is to keep the tickets, or keeps some already
	again     bool // all tickets that the function keeps are selected again, and nothing else
	continues bool // the function has tickets of earlier requests, and gets what changed
	ended     []uint32
	asked     []uint32 // the tickets of the selection that the run asks about

	selected    bool // the selections are of these versions of the indexes
	tickets     uint64
	backfilled  uint64
	left        LeftOut
	size        int // of the request; 0 when there is no ticket, unless the function is only checked
	buffer      []byte
	outgrown    bool // the buffer is too short
	inBuffer    bool // the request lies in the buffer
	copied      bool // there is no buffer
	insideLimit error
	unnamed     error // why the function named no columns
}

// encode selects the tickets of a run and writes its request, which is empty if there is no ticket. It computes the
// size of the request before. A request that is too long is not written, and the run fails.
func (e *encoder) encode(life context.Context) ([]byte, error) {
	r, limit := e.run.Request, e.parts.deadline
	named, err := e.name(life)
	e.unnamed = err // the run fails for it, but not before it is known which tickets it is about
	settings := e.needs.parse(r.GetSettings())
	if e.names, err = e.needs.of(r, settings, named); err != nil {
		return nil, err
	}
	if err = e.players.name(e.needs.players, settings, named); err != nil {
		return nil, err
	}
	e.pin(e.names.filters, e.names.attributes, r.GetReport().GetAttributes())
	if e.copied = e.unnamed != nil; !e.copied {
		e.buffer = e.instance.Buffer()
	}
	for range reservations {
		e.view()
		switch {
		case e.work.Late():
			return nil, limit.check("its tickets were selected and written")
		case e.insideLimit != nil:
			return nil, e.insideLimit
		case e.size == 0:
			return nil, nil
		case !e.outgrown:
			if e.writeRest(); e.work.Late() {
				return nil, limit.check("its tickets were selected and written")
			}
			e.pin(e.columns.slow, e.backfills.columns.slow)
			request, err := e.request.Finish()
			if err != nil {
				return nil, FunctionError{err}
			}
			e.commit()
			return request, nil
		}
		// The function is asked without a lock on the index: it may never answer.
		if e.buffer, err = e.instance.Reserve(life, e.size, limit.left()); err != nil {
			return nil, err
		}
		e.copied = e.buffer == nil // what the function answered is not aligned
	}
	return nil, FunctionError{errors.New("the tickets of its pools became more while its request was written: try again")}
}

// pin gives attributes their columns in the indexes.
func (e *encoder) pin(lists ...[]string) {
	for _, list := range lists {
		if len(list) == 0 {
			continue
		}
		e.work.Count(int(e.run.Index.Use(e.run.now(), list)))
		if e.run.Backfills != nil {
			e.work.Count(int(e.run.Backfills.Use(e.run.now(), list)))
		}
	}
}

// view does what has to be done while the indexes do not change.
func (e *encoder) view() {
	if e.run.Backfills == nil || !e.run.Request.GetBackfills() {
		e.backfills.list = e.backfills.list[:0]
		e.run.Index.ViewFor(&e.work, func(v pool.View) { e.write(v.In(e.run.Request.GetQueue()), nil) })
		return
	}
	e.run.Backfills.ViewFor(&e.work, func(b pool.View, of func(id string) *pb.Backfill) {
		b = b.In(e.run.Request.GetQueue())
		if e.selected && e.backfilled != b.Version() {
			e.selected = false
		}
		e.backfilled = b.Version()
		if !e.selected {
			e.backfills.choose(b, of, e.run.Request.GetPools())
		}
		e.run.Index.ViewFor(&e.work, func(v pool.View) { e.write(v.In(e.run.Request.GetQueue()), &b) })
	})
}

// write selects, computes the size of the request and writes it, if there is room for it.
func (e *encoder) write(v pool.View, b *pool.View) {
	r, s := e.run.Request, &e.selection
	if !e.selected || e.tickets != v.Version() {
		e.choose(v)
		e.findAsked()
		e.stats.Population, e.stats.Crossing = v.Count(r.GetCensus()), v.Crossing()
		if !r.GetUncounted() {
			e.stats.Queues, e.stats.Players = v.Queues(pool.MostQueues, r.GetQueue()), v.AllPlayers()
			e.stats.QueuePlayers = v.QueuePlayers(e.stats.GetQueues())
		}
		e.selected, e.tickets = true, v.Version()
		e.stats.Query += lap(e.clock)
		if e.work.Late() {
			return
		}
		e.left = LeftOut{}
		e.columns.choose(v, s, e.needs, e.names, &e.work, &e.left)
		e.columns.measure(s, &e.work)
		e.players.measure(v, s, &e.work)
		if b != nil {
			e.backfills.columns.choose(*b, &e.backfills.selection, e.needs, e.names, &e.work, &e.left)
			e.backfills.columns.measure(&e.backfills.selection, &e.work)
			e.backfills.roster.choose(e.backfills.list, &e.players, &e.work)
			var kept *pool.IncrementalSelection
			if e.continues {
				kept = &e.base.kept
			}
			e.backfills.roster.bar(v, s, kept)
		}
	}
	e.size = 0
	if s.N() == 0 && !e.continues && !r.GetCheck() || e.again && !e.retains || e.work.Late() {
		return
	}
	meta := e.meta()
	size := e.sizeOf(meta)
	e.stats.Bytes = size.Bytes()
	if e.insideLimit = e.check(size); e.insideLimit != nil {
		return
	}
	e.size = int(size.Bytes())
	if e.outgrown = e.size > len(e.buffer); e.outgrown && e.ownBuffer() {
		e.outgrown = false
		e.request.Reserve(e.size)
		e.buffer = nil
	}
	if e.outgrown {
		return
	}
	e.inBuffer = e.buffer != nil
	e.request.StartIn(e.buffer, meta)
	e.writeTickets(v)
	if b != nil {
		e.writeBackfills(*b, v)
	}
}

// ownBuffer reports whether a request is written in this process, and copied: when it is short, or no memory is shared.
func (e *encoder) ownBuffer() bool { return e.copied || !e.instance.Reserves(e.size) }

func (e *encoder) meta() block.Meta {
	r := e.run.Request
	budget := cmp.Or(e.run.Budget, e.parts.deadline.left())
	return block.Meta{
		Now: r.GetNow(), Seed: r.GetSeed(), Budget: uint32(budget.Milliseconds()),
		Tickets: e.selection.N(), Backfills: len(e.backfills.list),
		LeftOutAttributes: e.left.Attributes, LeftOutProperties: e.left.Properties,
	}
}

// sizeOf computes the size of the request.
func (e *encoder) sizeOf(meta block.Meta) *block.RequestSize {
	r := e.run.Request
	var size block.RequestSize
	size.Meta(meta, len(r.GetSettings()))
	e.columns.add(&size, &e.selection, r.GetPools())
	e.players.add(&size, e.selection.N())
	size.Asked(len(e.asked))
	e.addBase(&size)
	if len(e.backfills.list) > 0 {
		e.backfills.add(&size, r.GetPools(), &e.players)
	}
	return &size
}

// check is an error if a request is too long for the function.
func (e *encoder) check(size *block.RequestSize) error {
	const mib = 1 << 20
	memory := e.instance.Memory()
	most := min(int64(memory)/4*requestShare, block.MaxRequest)
	if size.Bytes() <= most {
		return nil
	}
	with := ""
	if n := e.players.are.N; n > e.selection.N() {
		with = fmt.Sprintf(" with %d players", n)
	}
	return FunctionError{fmt.Errorf("the request would have %d MiB: %d columns × %d tickets%s; it may have %d MiB, since "+
		"the function may use %d: declare fewer attributes or properties, or narrow the pools",
		(size.Bytes()+mib-1)/mib, size.Columns(), e.selection.N()+len(e.backfills.list), with, most/mib, memory/mib)}
}

func (e *encoder) writeTickets(v pool.View) {
	b, s := &e.request, &e.selection
	b.Config(e.run.Request.GetSettings())
	if cap(e.created) > maxKeptCreated && cap(e.created) > 4*s.N() {
		e.created = nil
	}
	e.created = slices.Grow(e.created[:0], s.N())[:s.N()]
	v.Column(s, pool.Created, e.created)
	copy(b.Created(), e.created)
	e.writeBase(v)
	if len(e.asked) > 0 {
		copy(b.Asked(len(e.asked)), e.asked)
	}
	e.columns.writeAttributes(v, s, &e.work, b, block.KindAttribute)
	e.players.write(v, s, &e.work, b)
}

// writeRest writes what needs no view. Changes of tickets need not wait for it, nor the runs of other configs for them.
func (e *encoder) writeRest() {
	b, pools := &e.request, e.run.Request.GetPools()
	e.columns.writeRest(&e.selection, &e.work, pools, b, block.KindProperty, block.KindPool)
	e.players.writeRest(&e.selection, &e.work, b)
	if len(e.backfills.list) > 0 {
		e.backfills.columns.writeRest(&e.backfills.selection, &e.work, pools, b, block.KindBackfillProperty,
			block.KindBackfillPool)
	}
}

// maxKeptCreated is for how many tickets a run keeps memory that has fewer.
const maxKeptCreated = 1 << 17

// copyOf copies a request before the function gets it, which may write into it.
func copyOf(request []byte) ([]byte, error) {
	if len(request) > capture.MaxRaw {
		return nil, FunctionError{capture.ErrTooLarge}
	}
	return slices.Clone(request), nil
}

// capture sends a run that asks for it: the request, and the answer or why there is none.
func (e *encoder) capture(request, answer []byte, failure error) error {
	r := e.run.Request
	c := &pb.Capture{
		Config: r.GetConfig(), Function: r.GetFunction(), Time: r.GetNow(), Asked: askedOf(r), Request: request,
		Answer: answer,
	}
	if failure != nil {
		c.Answer, c.Error = nil, failure.Error()
	}
	for i := range e.selection.N() {
		c.Tickets = append(c.Tickets, e.selection.ID(i))
	}
	for _, b := range e.backfills.list {
		c.Backfills = append(c.Backfills, b.GetId())
	}
	packed, err := capture.Pack(c)
	if err != nil {
		return FunctionError{err}
	}
	for part := range slices.Chunk(packed, capture.PartSize) {
		if err := e.run.Answer(&pb.RunPart{Apart: true, Capture: part}); err != nil {
			return FunctionError{err}
		}
	}
	return nil
}
