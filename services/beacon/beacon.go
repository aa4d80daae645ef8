// Package beacon measures how far clients are from a region, and signs what it measured. A beacon runs beside a fleet
// and needs neither Redis nor NATS.
//
// It measures with its own clock, in two steps: it answers a client's nonce with the time and an authenticator, and
// takes the time again when the client sends both back. So a client may seem farther than it is, and never nearer. It
// keeps nothing between the steps.
//
// No answer is longer than its question, so that questions with a forged source gain nothing. Questions are limited by
// network, in memory of a fixed size.
package beacon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/platform/wait"
)

// Options are what a beacon needs.
type Options struct {
	Settings Settings
	Log      *slog.Logger
	// Wall is the time of receipts, Elapsed measures round trips.
	Wall    func() time.Time
	Elapsed func() time.Duration
	Meter   telemetry.Meter
}

// Beacon answers probes.
type Beacon struct {
	Options
	conn    *net.UDPConn
	secret  [32]byte // of authenticators; each process has its own
	ring    *keyring.Ring
	key     atomic.Pointer[[]byte]
	limiter *limiter
	proxies []netip.Prefix
	probers sync.Pool // for HTTP
	counts  [outcomes]atomic.Int64
}

// renewEvery is how often the keys are read again, and the metrics are brought up to date.
const renewEvery = 5 * time.Second

// New opens the socket and the keys.
func New(ctx context.Context, o Options) (*Beacon, error) {
	b := &Beacon{Options: o, limiter: newLimiter(o.Settings.Rate, o.Settings.Burst)}
	rand.Read(b.secret[:])
	b.probers.New = func() any { return b.newProber() }
	var err error
	if b.proxies, err = o.Settings.Proxies.Networks(); err != nil {
		return nil, err
	}
	if b.ring, err = keyring.Open(o.Settings.Keys, o.Wall); err != nil {
		return nil, fmt.Errorf("--beacon-keys: %w", err)
	}
	if err := b.renew(); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(ctx, "udp", o.Settings.UDP)
	if err != nil {
		return nil, fmt.Errorf("--udp-listen: %w", err)
	}
	b.conn = conn.(*net.UDPConn)
	return b, nil
}

// Addr is where it answers by UDP.
func (b *Beacon) Addr() netip.AddrPort { return b.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// Part is the beacon as a part of a process.
func (b *Beacon) Part() app.Part { return app.Part{Name: "beacon", Routes: b.routes, Run: b.Run} }

// Run answers until ctx ends.
func (b *Beacon) Run(ctx context.Context) error {
	b.Log.InfoContext(ctx, "answering probes", "region", b.Settings.Region, "address", b.Addr().String())
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	defer context.AfterFunc(ctx, func() { _ = b.conn.Close() })()
	var answering sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		answering.Go(func() {
			if err := b.serve(); !errors.Is(err, net.ErrClosed) {
				fail(err)
			}
		})
	}
	questions := b.Meter.Counter("matchmaker.beacon.questions", "{question}",
		"Questions that a beacon got, by outcome: greeted (the first of a probe), granted (the second, answered with a "+
			"receipt), malformed, unproven, limited.")
	for range wait.Every(ctx, renewEvery) {
		if err := b.renew(); err != nil {
			b.Log.WarnContext(ctx, "the keys of receipts cannot be derived, the old one stays in use", "error", err)
		}
		for o := range outcomes {
			if n := b.counts[o].Swap(0); n > 0 {
				questions.Add(ctx, n, telemetry.WithLabels([]attribute.KeyValue{
					attribute.String("outcome", o.String())}))
			}
		}
	}
	_ = b.conn.Close()
	answering.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// renew takes the first key of the file.
func (b *Beacon) renew() error {
	keys, err := b.ring.Derived(receipt.Purpose)
	if err != nil {
		return err
	}
	if old := b.key.Load(); old == nil || string(*old) != string(keys[0]) {
		b.key.Store(&keys[0])
	}
	return nil
}

// serve answers datagrams until the socket is closed.
func (b *Beacon) serve() error {
	p := b.newProber()
	question, answer := make([]byte, 2048), make([]byte, 0, QuestionSize)
	for {
		n, from, err := b.conn.ReadFromUDPAddrPort(question)
		if err != nil {
			return err
		}
		text, o := p.answer(answer[:0], question[:n], from, b.Elapsed())
		b.counts[o].Add(1)
		if len(text) > 0 {
			_, _ = b.conn.WriteToUDPAddrPort(text, from) // a client that cannot be reached is no failure of this process
		}
	}
}
