package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/test/languages"
)

// function measures what a run of a match function costs, beside the same code in this process.
func (r *round) function(ctx context.Context) (err error) {
	s, err := newTestbed(ctx, r.binary.Matchmaker, r.Pair)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, n := range r.Tickets {
		r.report("%d tickets", n)
		c, err := s.rounds(ctx, n, r.For/2, r.seed())
		if err != nil {
			return fmt.Errorf("%d tickets: %w", n, err)
		}
		c.report(r, count(n)+" tickets")
	}
	if err := s.empty(ctx, r); err != nil {
		return err
	}
	if err := s.parallel(ctx, r); err != nil {
		return err
	}
	return r.scan(ctx)
}

// testbed runs functions.
type testbed struct {
	dir    string
	box    *sandbox.Supervisor
	module *sandbox.Module
}

func newTestbed(ctx context.Context, binary, file string) (s *testbed, err error) {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s = &testbed{}
	if s.dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return nil, err
	}
	if s.box, err = sandbox.New(sandbox.Options{Dir: s.dir, Binary: binary,
		Log: slog.New(slog.DiscardHandler)}); err == nil {
		s.module, _, err = s.box.Load(ctx, "", wasm)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *testbed) close() error {
	if s.box != nil {
		s.box.Close()
	}
	return os.RemoveAll(s.dir)
}

func (s *testbed) start(ctx context.Context) (*sandbox.Instance, error) {
	return s.box.Start(ctx, s.module, "bench", func(string) {})
}

// queueOf is an index of n tickets: realistic skills, three more attributes, and waiting times of up to half a minute.
func queueOf(n int, seed uint64) (*pool.Index, error) {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a simulation
	ix := pool.New()
	for i := range n {
		raw, err := proto.Marshal(&pb.Ticket{
			Created:        now - 30_000 + int64(i)*30_000/int64(n),
			AttributeNames: []string{"level", "ping", "region", "skill"},
			AttributeValues: []float64{float64(random.IntN(100)), 20 + 80*random.Float64(), float64(random.IntN(4)),
				1500 + 300*random.NormFloat64()},
		})
		if err != nil {
			return nil, err
		}
		if err := ix.Put(fmt.Sprintf("019a9e3c-0000-7000-8000-%012d", i), raw); err != nil {
			return nil, err
		}
	}
	return ix, nil
}

// now is the time of the runs.
const now = 1_900_000_000_000

// everyone is a run over all tickets.
func everyone() *pb.RunRequest {
	least := 0.0
	return &pb.RunRequest{
		Now: now, Seed: 1, Settings: []byte("{}"),
		Pools: map[string]*pb.Pool{"everyone": {Filters: []*pb.Filter{{Attribute: "ping", Min: &least}}}},
	}
}

// worker runs a function with an instance, and the same function in this process.
type worker struct {
	instance *sandbox.Instance
	inside   inside
	invoker  invocation.Invoker
	needs    invocation.Needs
	run      invocation.Run
	parts    []byte
}

// inside is an instance without a sandbox.
type inside struct{ function *matchfn.Function }

func (inside) Name() string { return "inside" }

func (inside) Buffer() []byte { return nil }

func (inside) ReleaseBuffer() {}

func (inside) Memory() int { return 1 << 30 }

func (inside) Reserves(int) bool { return false }

func (inside) Reserve(context.Context, int, time.Duration) ([]byte, error) { return nil, nil }

func (n inside) Run(_ context.Context, request []byte, _ time.Duration) ([]byte, sandbox.Stats, error) {
	return n.function.Answer(request), sandbox.Stats{}, nil
}

func (s *testbed) worker(ctx context.Context, ix *pool.Index) (*worker, error) {
	instance, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	w := &worker{instance: instance, needs: invocation.NeedsOf(s.module.Manifest),
		inside: inside{matchfn.New(languages.Pair, matchfn.Properties())}}
	w.run = invocation.Run{Request: everyone(), Index: ix, Answer: w.answer, Rest: wait.Rest}
	return w, nil
}

// answer marshals a part, as the bus does.
func (w *worker) answer(part *pb.RunPart) (err error) {
	w.parts, err = proto.MarshalOptions{}.MarshalAppend(w.parts[:0], part)
	return err
}

// work does one run with an instance and marshals the answer. It does not send it over the bus.
func (w *worker) work(ctx context.Context, instance invocation.Instance) (*pb.RunStats, error) {
	w.run.Began = time.Now()
	w.run.Deadline = w.run.Began.Add(5 * time.Second)
	last, err := w.invoker.Invoke(ctx, &w.run, instance, w.needs)
	if err != nil {
		return nil, err
	}
	return last.GetStats(), w.answer(last)
}

// costs are the costs of the parts of many rounds. The least cost of each part is shown, since other load on the
// machine only adds to it.
type costs struct {
	encode, pipe, run, check, query, answer times
	// of the same function in this process
	insideEncode, alone, insideCheck  times
	processorInside, processorSandbox times
}

// leastRounds is how many rounds there are at least.
const leastRounds = 9

// rounds measures runs over n tickets, in turns with the same in this process, so that other load affects both.
func (s *testbed) rounds(ctx context.Context, n int, over time.Duration, seed uint64) (*costs, error) {
	ix, err := queueOf(n, seed)
	if err != nil {
		return nil, err
	}
	w, err := s.worker(ctx, ix)
	if err != nil {
		return nil, err
	}
	defer w.instance.Close()
	for range 3 { // so that memory has grown
		if _, err := w.work(ctx, w.instance); err != nil {
			return nil, err
		}
		if _, err := w.work(ctx, w.inside); err != nil {
			return nil, err
		}
	}
	runtime.GC()
	c := &costs{}
	for end := time.Now().Add(over); len(c.run) < leastRounds || time.Now().Before(end); {
		if err := c.round(ctx, w); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *costs) round(ctx context.Context, w *worker) error {
	self, child := os.Getpid(), w.instance.Pid()
	began, used := time.Now(), processorTime(self)+processorTime(child)
	stats, err := w.work(ctx, w.instance)
	if err != nil {
		return err
	}
	all, usedSandbox := time.Since(began), processorTime(self)+processorTime(child)-used
	used = processorTime(self)
	native, err := w.work(ctx, w.inside)
	if err != nil {
		return err
	}
	usedInside := processorTime(self) - used

	µs := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
	query, encode := µs(stats.GetQuery()), µs(stats.GetEncode())
	compute, check := µs(stats.GetCompute()), µs(stats.GetDecode())
	pipe := µs(stats.GetRun()) - compute
	c.query, c.encode, c.pipe, c.run, c.check = append(c.query, query), append(c.encode, encode), append(c.pipe,
		pipe), append(c.run, compute), append(c.check, check)
	c.insideEncode, c.insideCheck = append(c.insideEncode, µs(native.GetEncode())), append(c.insideCheck,
		µs(native.GetDecode()))
	c.alone = append(c.alone, µs(native.GetRun()))
	c.answer = append(c.answer, all-query-encode-pipe-compute-check)
	if usedInside > 0 {
		c.processorInside, c.processorSandbox = append(c.processorInside, usedInside), append(c.processorSandbox, usedSandbox)
	}
	return nil
}

// Aims of a run beside the same job in one process, and beside the function alone.
const (
	insideAim = 1.3
	aloneAim  = 2.0
)

// report adds the readings. sandbox is encode, pipe, run and check; in one process is encode, the function and check.
func (c *costs) report(r *round, load string) {
	least := func(all ...times) (sum time.Duration) {
		for _, t := range all {
			sum += t.quantile(0)
		}
		return sum
	}
	inside, sandbox := least(c.insideEncode, c.alone, c.insideCheck), least(c.encode, c.pipe, c.run, c.check)
	r.add(load+": a run in the sandbox", millis, in(millis, sandbox)).than("the same job in one process",
		in(millis, inside)).atMost(insideAim)
	r.add(load+": a run in the sandbox, to the function alone", millis, in(millis, sandbox)).than("the function alone",
		in(millis, least(c.alone))).atMost(aloneAim)
	if len(c.processorInside) > 0 {
		r.add(load+": processor time of a run", millis, in(millis, least(c.processorSandbox))).than(
			"the same job in one process", in(millis, least(c.processorInside)))
	}
	r.add(load+": the answer to the director", millis, in(millis, least(c.answer)))
}

// empty measures a run without tickets: the way to the instance and back.
func (s *testbed) empty(ctx context.Context, r *round) error {
	instance, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer instance.Close()
	var builder block.RequestBuilder
	builder.Start(block.Meta{Now: now})
	request, err := builder.Finish()
	if err != nil {
		return err
	}
	var took times
	for range 2000 {
		began := time.Now()
		if _, _, err := instance.Run(ctx, request, 0); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	r.add("a run without tickets: p50", micros, in(micros, took.quantile(0.5)))
	return nil
}
