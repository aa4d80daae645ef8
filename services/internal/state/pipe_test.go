package state

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// mute starts a server that accepts connections and never answers.
func mute(t *testing.T) *redis.Client {
	t.Helper()
	var lc net.ListenConfig
	listener, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	c := redis.NewClient(&redis.Options{Addr: listener.Addr().String(), Protocol: 2, DisableIdentity: true, MaxRetries: -1,
		ReadTimeout: 50 * time.Millisecond})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// When Redis hangs, queued commands fail with the batch before them.
func TestCommandsQueuedBehindATimedOutBatchFail(t *testing.T) {
	p := &pipe{redis: mute(t), trips: 1}
	for range 20 * pipeBatch {
		p.queue = append(p.queue, &request{redis.NewStatusCmd(t.Context(), "PING"), make(chan struct{})})
	}
	all := p.queue
	p.flush(t.Context())
	for i, s := range all {
		select {
		case <-s.done:
			if !timedOut(s.cmd.Err()) {
				t.Fatalf("command %d: %v", i, s.cmd.Err())
			}
		default:
			t.Fatalf("command %d still waits after the first batch", i)
		}
	}
	if p.trips != 0 || len(p.queue) != 0 {
		t.Errorf("%d batches are under way, %d commands wait", p.trips, len(p.queue))
	}
}

func TestCallerWhoLeavesDoesNotWaitForTheOthersBatch(t *testing.T) {
	p := &pipe{redis: mute(t), trips: pipeDepth}
	ctx, cancel := context.WithCancel(t.Context())
	answers := make(chan error)
	go func() { answers <- p.do(ctx, redis.NewStatusCmd(ctx, "PING")) }()
	cancel()
	if err := <-answers; !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left got %v", err)
	}
}

// batches counts round trips and the commands in them.
type batches struct {
	mu             sync.Mutex
	trips, carried int
	gate           chan struct{}
}

func (b *batches) count(n int) {
	b.mu.Lock()
	b.trips, b.carried = b.trips+1, b.carried+n
	b.mu.Unlock()
	<-b.gate
}

func (b *batches) DialHook(next redis.DialHook) redis.DialHook { return next }

func (b *batches) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		b.count(1)
		return reply(cmd)
	}
}

func (b *batches) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(_ context.Context, cmds []redis.Cmder) error {
		b.count(len(cmds))
		for _, cmd := range cmds {
			_ = reply(cmd)
		}
		return nil
	}
}

// reply answers an ECHO.
func reply(cmd redis.Cmder) error {
	echo, ok := cmd.(*redis.StringCmd)
	if !ok {
		return errors.New("not an ECHO")
	}
	text, _ := cmd.Args()[1].(string)
	echo.SetVal(text)
	return nil
}

func TestCommandsThatComeTogetherShareRoundTrips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &batches{gate: make(chan struct{})}
		c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) // never called
		t.Cleanup(func() { _ = c.Close() })
		c.AddHook(b)
		p := &pipe{redis: c}
		const callers = 2*pipeBatch + pipeDepth
		for i := range callers {
			go func() {
				text := string(rune('a' + i%26))
				cmd := redis.NewStringCmd(t.Context(), "ECHO", text)
				if err := p.do(t.Context(), cmd); err != nil || cmd.Val() != text {
					t.Errorf("an ECHO of %q is answered %q, %v", text, cmd.Val(), err)
				}
			}()
		}
		synctest.Wait() // the first batches are under way and blocked
		close(b.gate)
		synctest.Wait()
		if b.carried != callers || b.trips > 2*pipeDepth+1 {
			t.Errorf("%d of %d commands went in %d round trips, want at most %d", b.carried, callers, b.trips, 2*pipeDepth+1)
		}
		if p.trips != 0 || len(p.queue) != 0 {
			t.Errorf("%d batches are under way, %d commands wait", p.trips, len(p.queue))
		}
	})
}
