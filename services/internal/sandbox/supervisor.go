package sandbox

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/services/internal/platform/keylock"
	"matchmaker.dev/services/internal/platform/quota"
	"matchmaker.dev/services/internal/platform/wait"
)

// Options are what a [Supervisor] needs.
type Options struct {
	// Dir is where modules and their machine code are cached, also for a later Supervisor. It is created. No other
	// process may write there, because its files are executed.
	Dir string
	// Code is a folder of machine code that Supervisors of this user's processes share: see [UserCode]. A Supervisor for
	// modules of strangers has none. It is created. Where it cannot be used, the Supervisor says so and goes on without
	// it.
	Code   string
	Limits Limits
	// Cache bounds what unheld modules take of Dir.
	Cache CacheLimits
	Log   *slog.Logger
	// Require makes New fail when a child finds holes in its walls; otherwise New logs them.
	Require bool
	// Now is the clock for the age of cached modules, time.Now by default.
	Now func() time.Time
	// Binary is what children execute, this process's own binary by default.
	Binary string
	// Args are the arguments with which Binary calls Main, {Command} by default.
	Args []string
}

// Supervisor starts instances of match functions.
type Supervisor struct {
	dir         string
	limits      Limits
	log         *slog.Logger
	binary      string
	args        []string
	null        *os.File
	fileRules   *ruleset // of every child
	newMemory   func(size int) *sharedMemory
	cacheLimits CacheLimits
	code        *codeCache // nil when there is none
	now         func() time.Time

	quick, slow *quota.Queue // of modules that are compiled
	starts      *quota.Queue // of instances

	life       context.Context // until Close
	end        context.CancelFunc
	background sync.WaitGroup
	pruning    sync.Mutex
	loading    keylock.Locks // of modules that are loaded or removed, by hash

	mu        sync.Mutex
	cached    map[string]*cacheEntry // those that were loaded and are on disk, by hash
	disk      int64                  // what modules took at the last look
	processes map[*process]bool
	launches  sync.WaitGroup // grows while mu is held, and never once closed is set
	closed    bool
}

// New makes a Supervisor, and lets a child try its walls. Close ends it.
func New(o Options) (*Supervisor, error) {
	limits, err := o.Limits.complete()
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Dir == "" {
		return nil, errors.New("sandbox: no folder given")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder, whose x bit is the way in
		return nil, err
	}
	if o.Binary == "" {
		if o.Binary, err = self(); err != nil {
			return nil, err
		}
	}
	if o.Args == nil {
		o.Args = []string{Command}
	}
	rules, err := newRuleset(o.Binary)
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	b := &Supervisor{
		dir: dir, limits: limits, log: o.Log, binary: o.Binary, args: append([]string{"matchmaker"}, o.Args...), null: null,
		fileRules: rules, newMemory: newSharedMemory,
		cacheLimits: o.Cache.complete(), now: o.Now,
		cached: map[string]*cacheEntry{}, processes: map[*process]bool{},
	}
	b.life, b.end = context.WithCancel(context.Background()) //nolint:forbidigo // until Close
	b.makeQueues()
	if o.Code != "" {
		if b.code, err = openCodeCache(o.Code); err != nil {
			b.log.Warn("the folder of machine code cannot be used: modules are compiled again", "folder", o.Code, "error", err)
		}
	}
	b.background.Go(func() {
		for range wait.Every(b.life, pruneInterval) {
			b.prune()
		}
	})
	if err := b.inspect(o.Require); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close kills all processes and waits until they ended. Instances must still be closed.
func (b *Supervisor) Close() {
	b.mu.Lock()
	closed := b.closed
	b.closed = true
	b.mu.Unlock()
	if closed {
		return
	}
	b.end()
	b.background.Wait()
	b.launches.Wait()
	b.mu.Lock()
	living := slices.Collect(maps.Keys(b.processes))
	b.mu.Unlock()
	for _, p := range living {
		p.kill(failure(Closed, "the sandbox was closed"))
		<-p.exited
	}
	b.code.close()
	_ = b.null.Close()
}

// beginLaunch lets Close wait for a launch, until launches.Done. It returns an error when the sandbox is closed.
func (b *Supervisor) beginLaunch() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return failure(Closed, "the sandbox was closed")
	}
	b.launches.Add(1)
	return nil
}

// Start starts an instance of a module that the caller holds. It returns after the function's _initialize. The log gets
// the lines that the function prints (without newline, valid UTF-8, at most 8 KiB), in order, from the goroutine that
// calls Start or Run. Name is for this process's own log. The error is an *Error, or of the kind Unavailable when the
// process could not be created. After an error the caller should release the module and open it again, which repairs
// damaged files.
//
// A few instances start at a time, fairly by owner, see enterStart: the time that a start may take begins when its turn
// comes.
func (b *Supervisor) Start(ctx context.Context, m *Module, name string, log func(line string)) (*Instance, error) {
	started, err := b.enterStart(ctx, m.owner)
	if err != nil {
		return nil, err
	}
	defer started()
	i, _, _, err := b.start(ctx, m.Hash, name, b.limits.Start, log)
	if err != nil {
		b.markSuspect(m.Hash, err)
	}
	return i, err
}

// start returns the processor time of an instance that failed.
func (b *Supervisor) start(
	ctx context.Context, hash, name string, within time.Duration, log func(line string),
) (*Instance, Manifest, time.Duration, error) {
	began := time.Now()
	p, err := b.spawn(childSettings{
		Module: b.moduleFile(hash), Compiled: b.compiledFolder(hash),
		Memory: b.limits.Memory, Shared: true, Data: processMemory + b.limits.Memory, Log: b.limits.Log,
		Answer: b.limits.Answer,
	}, log, rule{path: b.folder(hash), access: readable})
	if err != nil {
		return nil, Manifest{}, 0, err
	}
	var manifest Manifest
	var h head
	err = p.within(ctx, within, busy*within, "the start", func() (err error) {
		var body []byte
		if h, body, err = p.receive(readyFrame, nil); err != nil {
			return err
		}
		manifest, err = block.ParseManifest(body)
		return err
	})
	if err != nil {
		p.close()
		return nil, Manifest{}, p.childTime(), err
	}
	i := &Instance{name: name, process: p}
	b.log.DebugContext(ctx, "function instance started", "instance", name, "pid", i.Pid(), "took", time.Since(began),
		"memory", h.memory)
	return i, manifest, 0, nil
}

// Use is an instance's use of the resources that its walls bound.
type Use struct {
	Threads    int64
	Addresses  int64 // bytes of its address space
	PageTables int64 // bytes
	Errors     int64 // bytes that it wrote to its standard error
}

// MostUsed returns the most of each that any instance has now.
func (b *Supervisor) MostUsed() (most Use) {
	b.mu.Lock()
	instances := make([]*process, 0, len(b.processes))
	for p := range b.processes {
		if p.instance {
			instances = append(instances, p)
		}
	}
	b.mu.Unlock()
	for _, p := range instances {
		use := p.use()
		most = Use{
			Threads: max(most.Threads, use.Threads), Addresses: max(most.Addresses, use.Addresses),
			PageTables: max(most.PageTables, use.PageTables), Errors: max(most.Errors, p.stderr.written.Load()),
		}
	}
	return most
}

// Processes returns how many processes and threads the container or unit has that this process is in, and how many it
// may have; 0 where that is not known, or there is no limit.
func Processes() (used, limit int) { return processCount("/proc/self/cgroup", "/sys/fs/cgroup") }
