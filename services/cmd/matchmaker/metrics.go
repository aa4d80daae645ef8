package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/state"
)

// metrics serves /metrics where Prometheus is to find it: on a port of its own, since what a gateway
// lets in is for players. It returns the address, nil where there is none.
func (b *builder) metrics(ctx context.Context) (net.Addr, error) {
	if b.telemetry.Listen == "" {
		return nil, nil
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", b.telemetry.Listen)
	if err != nil {
		return nil, fmt.Errorf("--metrics-listen: %w", err)
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", b.telemetry.Metrics)
	server := web.Server(routes, b.log)
	b.closing(func(context.Context) error {
		_ = listener.Close() // it may be closed already, and is open when nothing was ever served
		return server.Close()
	})
	b.add(app.Part{Name: "metrics", Run: func(ctx context.Context) error {
		b.log.InfoContext(ctx, "metrics", "address", listener.Addr().String())
		defer context.AfterFunc(ctx, func() { _ = server.Close() })()
		if err := server.Serve(web.Listener(listener)); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}})
	return listener.Addr(), nil
}

// lookTime is how long a dependency may take to answer a request for the metrics.
const lookTime = time.Second

// streams measures what the streams of NATS take that this process makes, and its connections to Redis.
func (b *builder) streams() {
	b.telemetry.Meter.ObservableGauge("matchmaker.stream.size", "By",
		"Bytes of a stream of NATS (matches, logs, events, modules), and the most that it may have. The service says it "+
			"that makes the stream.",
		func(ctx context.Context, observe telemetry.Observe) {
			ctx, cancel := context.WithTimeout(ctx, lookTime)
			defer cancel()
			if !b.bus.Connected() {
				return
			}
			streams, err := b.bus.Streams(ctx)
			if err != nil {
				return // matchmaker.dependency.up says so
			}
			for _, s := range streams {
				if s.Stream == "modules" {
					s.Limit = int64(b.settings.Registry.AllModules) << 20
				}
				name := attribute.String("stream", s.Stream)
				observe(float64(s.Bytes), name, attribute.String("kind", "used"))
				observe(float64(s.Limit), name, attribute.String("kind", "limit"))
			}
		})
	b.telemetry.Meter.ObservableGauge("matchmaker.redis.connections", "{connection}",
		"Connections of this process to all servers of Redis, by pool (commands, feeds) and state (busy, idle).",
		func(_ context.Context, observe telemetry.Observe) {
			commands, feeds := b.store.Connections()
			for pool, c := range map[string]state.Connections{"commands": commands, "feeds": feeds} {
				of := attribute.String("pool", pool)
				observe(float64(c.Busy), of, attribute.String("state", "busy"))
				observe(float64(c.Open-c.Busy), of, attribute.String("state", "idle"))
			}
		})
}

// dependencies measures whether Redis and NATS answer this process.
func (b *builder) dependencies() {
	look := map[string]func(context.Context) error{
		"redis": b.store.Ping,
		"nats": func(ctx context.Context) error {
			if !b.bus.Connected() { // Ready stays nil when the server goes away
				return errors.New("not connected")
			}
			return b.bus.Ready(ctx)
		},
	}
	b.telemetry.Meter.ObservableGauge("matchmaker.dependency.up", "{dependency}",
		"1 while what the service needs answers, else 0.",
		func(ctx context.Context, observe telemetry.Observe) {
			ctx, cancel := context.WithTimeout(ctx, lookTime)
			defer cancel()
			for name, answers := range look {
				up := 0.0
				if answers(ctx) == nil {
					up = 1
				}
				observe(up, attribute.String("dependency", name))
			}
		})
	b.telemetry.Meter.ObservableGauge("matchmaker.clock.ahead", "s",
		"For how long the clock of the host is ahead of Redis's; negative when it is behind.",
		func(_ context.Context, observe telemetry.Observe) {
			if ahead, known := b.store.ClockAhead(); known {
				observe(ahead.Seconds())
			}
		})
	b.telemetry.Meter.ObservableGauge("matchmaker.redis.memory.free", "By",
		"What Redis has left of its maxmemory, in a cluster on the server that is nearest to its reserve. Less than 0 "+
			"when it has more than its maxmemory, as what exists may take.",
		func(_ context.Context, observe telemetry.Observe) {
			if m, known := b.store.Memory(); known {
				observe(float64(m.Free))
			}
		})
	b.telemetry.Meter.ObservableGauge("matchmaker.redis.memory.reserve", "By",
		"What creates leave free of it: while less is left, they are answered 503.",
		func(_ context.Context, observe telemetry.Observe) {
			if m, known := b.store.Memory(); known {
				observe(float64(m.Reserve))
			}
		})
}
