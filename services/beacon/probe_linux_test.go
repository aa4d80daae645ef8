package beacon

import (
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"matchmaker.dev/services/internal/platform/keyring"
)

// BenchmarkProbe is the two answers of a probe, without the network.
func BenchmarkProbe(b *testing.B) {
	p, from := benchBeacon(b).newProber(), netip.MustParseAddrPort("192.0.2.1:1234")
	question, answer := make([]byte, QuestionSize), make([]byte, 0, QuestionSize)
	b.ReportAllocs()
	for b.Loop() {
		probe(b, p, question, answer, from)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "probes/s")
}

func probe(tb testing.TB, p *prober, question, answer []byte, from netip.AddrPort) {
	clear(question)
	copy(question, magic)
	question[kindAt] = ask
	greeting, _ := p.answer(answer, question, from, p.b.Elapsed())
	copy(question, greeting)
	question[kindAt] = prove
	if _, o := p.answer(answer, question, from, p.b.Elapsed()); o != granted {
		tb.Fatal(o)
	}
}

// BenchmarkSocket is what a probe costs the beacon's process, with a UDP socket: the time of the processor, of one
// thread that serves alone.
func BenchmarkSocket(b *testing.B) {
	one := benchBeacon(b)
	done := make(chan time.Duration)
	go func() {
		runtime.LockOSThread() // which ends with the goroutine
		before := threadTime()
		_ = one.serve()
		done <- threadTime() - before
	}()
	conn, err := (&net.Dialer{}).DialContext(b.Context(), "udp", one.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	const window = 64
	questions := make([][QuestionSize]byte, window)
	in := make([]byte, 2048)
	for sent := 0; sent < b.N; sent += window {
		for i := range questions {
			clear(questions[i][:])
			copy(questions[i][:], magic)
			questions[i][kindAt] = ask
			if _, err := conn.Write(questions[i][:]); err != nil {
				b.Fatal(err)
			}
		}
		for i := range questions {
			if _, err := conn.Read(in); err != nil {
				b.Fatal(err)
			}
			copy(questions[i][:], in[:greetingSize])
			questions[i][kindAt] = prove
		}
		for i := range questions {
			if _, err := conn.Write(questions[i][:]); err != nil {
				b.Fatal(err)
			}
		}
		for range questions {
			if _, err := conn.Read(in); err != nil {
				b.Fatal(err)
			}
		}
	}
	_ = one.conn.Close()
	probes := one.counts[granted].Load()
	used := <-done
	b.ReportMetric(float64(probes)/used.Seconds(), "probes/s/core")
}

// threadTime is the time of the processor that this thread has used.
func threadTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestProbesAllocateNothing(t *testing.T) {
	p, from := benchBeacon(t).newProber(), netip.MustParseAddrPort("192.0.2.1:1234")
	question, answer := make([]byte, QuestionSize), make([]byte, 0, QuestionSize)
	if n := testing.AllocsPerRun(100, func() { probe(t, p, question, answer, from) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func benchBeacon(tb testing.TB) *Beacon {
	tb.Helper()
	keys, start := filepath.Join(tb.TempDir(), "keys"), time.Now()
	if _, err := keyring.Add(keys, start); err != nil {
		tb.Fatal(err)
	}
	b, err := New(tb.Context(), Options{
		Settings: Settings{Region: "eu-west", UDP: "127.0.0.1:0", Keys: keys, Rate: 1e6, Burst: 1e6},
		Log:      slog.New(slog.DiscardHandler), Wall: time.Now, Elapsed: func() time.Duration { return time.Since(start) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.conn.Close() })
	return b
}
