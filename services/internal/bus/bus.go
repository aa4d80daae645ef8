// Package bus connects the services over NATS. It is the only package that imports the NATS client.
//
// Every subject has one typed function that publishes and one that subscribes; the messages are types of the proto
// module. Redis holds the work to do; a message says which service must act now. A lost message costs time, never a
// ticket.
//
//	mm.poke.<project>               tickets or configs changed        ticket, config, … → director
//	mm.function.<project>           functions changed                 registry, config → runners
//	mm.run.<project>.<function>     run a function, parts come back   director → one runner
//	mm.parts.<service>.<bus>-<project>.<run>
//	                                parts of a run's answer           runner → director, …
//	mm.match.<project>              a match to allocate (JetStream)   director → one allocator
//	mm.assigned.<project>           tickets have a result or are gone allocator, director, … → every ticket service
//	mm.runner                       heartbeats of runners             runner → registry, runners
//	mm.log.<project>.<function>     lines of instances (JetStream)    runner → registry
//	mm.event.<project>              what happened (JetStream)         director → subscribers
//
// The modules of functions are in JetStream's object store. The context of a trace, and the correlation id of a
// request, travel in the headers.
package bus

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/protobuf/proto"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/platform/wait"
)

// URLFile is the file with the URL of a development service's bus.
const URLFile = "nats.url"

// Options say which NATS to use.
type Options struct {
	Server Server
	Events Events
	Logs   Logs
	// Name tells this process from others, for NATS's own monitoring.
	Name string
	// Service is the account that this process has, see RightsOf: it tells which streams the process makes and waits for,
	// and where its answers come in. account.All when empty.
	Service string
	// Login replaces the files of Server.
	Login account.Login
	// Pulse is how often the server is asked for a sign of life; 0 means every 2 s. See missed.
	Pulse time.Duration
	// AckWait is how long a match may stay in one allocator's hands without a sign of life, before another gets it. All
	// allocators have the same. 0 means ten seconds.
	AckWait time.Duration
	// Wait is how long NATS may take to answer a request whose context has no deadline, and to take a match into the work
	// queue. 0 means five seconds.
	Wait time.Duration
	// PartsPending is how many bytes of one project's parts may wait in this process. NATS drops more: no project can fill
	// the memory, and parts of other projects are not behind them. 0 means 64 MiB.
	PartsPending int
	// Rest lets others work, between two parts of a long answer. wait.Rest when nil.
	Rest func()
	// MatchBytes is the most bytes of the work queue; 0 means 256 MiB.
	MatchBytes int64
	// LogMessages is the most messages of one function's log; 0 means as many as Logs.Size has room for.
	LogMessages int64
	Log         *slog.Logger
	// Propagator carries the context of traces; W3C trace context when nil.
	Propagator propagation.TextMapPropagator
}

// Bus is a connection to NATS that repairs itself. It is safe for concurrent use.
type Bus struct {
	conn       *nats.Conn
	js         jetstream.JetStream
	log        *slog.Logger
	propagator propagation.TextMapPropagator
	options    Options
	prepared   atomic.Bool
	restoring  atomic.Bool
	heartbeats atomic.Uint64 // those sent in parts
	// life ends with the bus.
	life context.Context
	end  context.CancelFunc

	// inbox is where the parts of this bus's runs come in, a project behind it.
	inbox string

	mu sync.Mutex
	// answers has the answers of each project that has runs.
	answers map[string]*answers

	// connError is why there is no connection; nil while there is one.
	connError atomic.Pointer[string]
}

// A server that leaves this many pings unanswered is given up for another one, after 6 s. It may hang or be cut off
// without notice; the client's defaults take minutes to find out.
const (
	pulse  = 2 * time.Second
	missed = 2
)

// Connect returns at once, even when no server answers yet: the connection is made, and made again after a loss, in the
// background until Close. Of ctx it keeps the values alone.
func Connect(ctx context.Context, o Options) (*Bus, error) {
	b := &Bus{log: o.Log, propagator: o.Propagator, options: o, answers: map[string]*answers{}}
	b.life, b.end = context.WithCancel(context.WithoutCancel(ctx))
	if b.propagator == nil {
		b.propagator = propagation.TraceContext{}
	}
	b.options.Server.Replicas = max(1, o.Server.Replicas)
	settings.Complete(&b.options.Events)
	settings.Complete(&b.options.Logs)
	b.options.Events.Bytes = b.options.Events.room()
	b.options.Service = cmp.Or(o.Service, account.All)
	if o.Rest == nil {
		b.options.Rest = wait.Rest
	}
	b.inbox = b.options.Service + "." + strings.TrimPrefix(nats.NewInbox(), nats.InboxPrefix)
	b.options.AckWait = cmp.Or(b.options.AckWait, ackWait)
	options, err := b.connection(o)
	if err != nil {
		return nil, err
	}
	if b.conn, err = nats.Connect(o.Server.URL, options...); err != nil {
		if malformed, ok := errors.AsType[*url.Error](err); ok {
			err = malformed.Err // without the URL, which may hold a password
		}
		return nil, problem.Wrap(problem.Invalid, err, "nats: cannot use the server URL or the credentials")
	}
	answer := cmp.Or(o.Wait, 5*time.Second)
	// A message without an answer would count as under way until the connection breaks, and after 4,000 none is sent.
	if b.js, err = jetstream.New(b.conn, jetstream.WithDefaultTimeout(answer),
		jetstream.WithPublishAsyncTimeout(answer)); err != nil {
		return nil, err
	}
	return b, nil
}

// Ready is nil once the server has answered and the streams exist. It stays nil when the server goes away later:
// creating tickets and other work that needs no bus must go on.
func (b *Bus) Ready(context.Context) error {
	if !b.prepared.Load() {
		if !b.conn.IsConnected() {
			if why := b.connError.Load(); why != nil {
				return problem.New(problem.Unavailable, "%s", *why)
			}
			return problem.New(problem.Unavailable, notConnected)
		}
		return problem.New(problem.Unavailable, "the message bus has no streams yet")
	}
	return nil
}

// Connected reports whether there is a connection now.
func (b *Bus) Connected() bool { return b.conn.IsConnected() }

// Ping returns when the server has answered.
func (b *Bus) Ping(ctx context.Context) error { return unavailable(b.conn.FlushWithContext(ctx)) }

// Close sends what is buffered, for as long as ctx lasts, and closes the connection.
func (b *Bus) Close(ctx context.Context) error {
	var err error
	if b.conn.IsConnected() { // else no server listens
		err = b.conn.FlushWithContext(ctx)
	}
	b.end()
	b.conn.Close()
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrConnectionReconnecting) {
		return nil
	}
	return err
}

// Subscription ends with Stop.
type Subscription interface {
	// Stop takes no more messages. The channel is closed when those that were on their way here are handled.
	Stop() (done <-chan struct{})
}

// subscription is a plain one of NATS.
type subscription struct {
	sub  *nats.Subscription
	done chan struct{}
}

func newSubscription(sub *nats.Subscription) subscription {
	s := subscription{sub, make(chan struct{})}
	sub.SetClosedHandler(func(string) { close(s.done) })
	return s
}

func (s subscription) Stop() <-chan struct{} {
	_ = s.sub.Drain() // an error means that it, or the connection, is closed
	return s.done
}

// publish publishes a message with the context of the trace.
func (b *Bus) publish(ctx context.Context, subject string, m proto.Message) error {
	msg, err := b.message(ctx, subject, m)
	if err != nil {
		return err
	}
	return unavailable(b.conn.PublishMsg(msg))
}

func (b *Bus) message(ctx context.Context, subject string, m proto.Message) (*nats.Msg, error) {
	data, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	msg := &nats.Msg{Subject: subject, Data: data, Header: nats.Header{}}
	b.propagator.Inject(ctx, headers(msg.Header))
	if id := telemetry.CorrelationID(ctx); id != "" {
		msg.Header.Set(correlation, id)
	}
	return msg, nil
}

// correlation is the header with the correlation id of the request that caused a message.
const correlation = "X-Correlation-Id"

// extract returns ctx with the trace and the correlation id of a message.
func (b *Bus) extract(ctx context.Context, headers propagation.TextMapCarrier) context.Context {
	ctx = b.propagator.Extract(ctx, headers)
	if id := headers.Get(correlation); id != "" {
		ctx = telemetry.WithCorrelationID(ctx, id)
	}
	return ctx
}

// subscribe subscribes to a subject, or joins a queue group of it if queue is not empty. Messages are handled one after
// the other. One that cannot be read is logged and dropped.
func subscribe[M any, P interface {
	*M
	proto.Message
}](b *Bus, subject, queue string, handle func(ctx context.Context, subject string, m P, msg *nats.Msg)) (
	subscription, error) {
	receive := func(msg *nats.Msg) {
		m := P(new(M))
		if err := proto.Unmarshal(msg.Data, m); err != nil {
			b.log.Warn("message bus: unreadable message", "subject", msg.Subject, "error", err)
			return
		}
		handle(b.extract(b.life, headers(msg.Header)), msg.Subject, m, msg)
	}
	sub, err := b.conn.QueueSubscribe(subject, queue, receive)
	if err != nil {
		return subscription{}, unavailable(err)
	}
	return newSubscription(sub), nil
}

// subscribeProjects subscribes to the messages of all projects below a subject.
func subscribeProjects[M any, P interface {
	*M
	proto.Message
}](b *Bus, root string, handle func(project string, m P)) (Subscription, error) {
	return subscribe(b, root+"*", "", func(_ context.Context, subject string, m P, _ *nats.Msg) {
		handle(strings.ReplaceAll(strings.TrimPrefix(subject, root), "~", "."), m)
	})
}

// unavailable wraps an error of the connection; nil stays nil.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return problem.Wrap(problem.Unavailable, err, "the message bus did not take the message, try again")
}

// headers lets a propagator read and write the headers of a message.
type headers nats.Header

func (h headers) Get(key string) string { return nats.Header(h).Get(key) }
func (h headers) Set(key, value string) { nats.Header(h).Set(key, value) }
func (h headers) Keys() []string        { return slices.Collect(maps.Keys(h)) }
