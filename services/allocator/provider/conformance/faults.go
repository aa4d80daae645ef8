package conformance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/process/processtest"
)

// FaultyFixture is a provider under test whose hosting system can be made to misbehave.
type FaultyFixture struct {
	Fixture
	Server *Server
	// Allocates and Releases select the calls that take a server and that give one back.
	Allocates, Releases Calls
	// Secrets must appear in no error and no log, and neither must the secrets of requests.
	Secrets []string
	// Log is what the provider logs.
	Log *LogBuffer
}

// LogBuffer keeps a log for tests to search.
type LogBuffer struct{ processtest.Buffer }

// Logger writes into the buffer at every level.
func (b *LogBuffer) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// RunFaults tests a provider whose hosting system misbehaves: a match gets one server or none, no server leaks, and
// every call ends.
func RunFaults(t *testing.T, open func(t *testing.T) FaultyFixture) {
	for _, kind := range []Fault{Slow, Lost, Twice, Garbage, Truncated, Endless, Broken, Away, Hang, HangAfter} {
		t.Run("allocate/"+kind.String(), func(t *testing.T) { testFault(t, open, kind, allocatesThrough) })
		t.Run("give up/"+kind.String(), func(t *testing.T) { testFault(t, open, kind, givesUp) })
		t.Run("release/"+kind.String(), func(t *testing.T) { testFault(t, open, kind, releasesThrough) })
	}
	for _, test := range []struct {
		name string
		run  func(t *testing.T, f *faulty)
	}{
		{"every answer is lost once", loses},
		{"a system that repeats the request", echoes},
		{"expired certificate", expires},
		{"certificate of somebody else", impostor},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &faulty{FaultyFixture: open(t), t: t}
			test.run(t, f)
			f.looksForSecrets(t)
		})
	}
}

func testFault(
	t *testing.T, open func(t *testing.T) FaultyFixture, kind Fault, run func(t *testing.T, f *faulty, kind Fault),
) {
	t.Helper()
	f := &faulty{FaultyFixture: open(t), t: t}
	run(t, f, kind)
	f.looksForSecrets(t)
}

// limit returns a context that ends when a call hangs.
func (f *faulty) limit() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(f.t.Context())
	f.Server.OnHang(cancel)
	return expiring{ctx}, cancel
}

// expiring is a context that ends as at a deadline.
type expiring struct{ context.Context }

func (e expiring) Err() error {
	if e.Context.Err() == nil {
		return nil
	}
	return context.DeadlineExceeded
}

// Value hides the context within, which would cancel those that are made of this one.
func (expiring) Value(any) any { return nil }

// faulty is a fixture that keeps the errors it saw.
type faulty struct {
	FaultyFixture
	t    *testing.T
	errs []string
}

const serverToken = "header.server-token-hunter2.signature"

func (f *faulty) request(match string) *provider.Request {
	r := f.Fixture.request("p", match)
	r.Token = serverToken
	return r
}

// once calls Allocate.
func (f *faulty) once(r *provider.Request) (provider.Result, error) {
	ctx, cancel := f.limit()
	defer cancel()
	result, err := f.Provider.Allocate(ctx, r)
	f.note(err)
	f.note(result.Err)
	return result, err
}

func (f *faulty) note(err error) {
	for ; err != nil; err = errors.Unwrap(err) {
		f.errs = append(f.errs, err.Error(), fmt.Sprintf("%+v", err))
	}
}

// noError reports whether a provider cannot notice the fault.
func (k Fault) noError() bool { return k == Slow || k == Twice }

// allocatesThrough: a fault of the allocation costs another call, never a second server.
func allocatesThrough(t *testing.T, f *faulty, kind Fault) {
	r := f.request("m")
	f.Server.Break(f.Allocates, kind)
	result, err := f.once(r)
	switch {
	case err == nil && !kind.noError() && result.Status != provider.Pending && result.Status != provider.Allocated:
		t.Errorf("Allocate: %v, %v", result.Status, result.Err)
	case err != nil && (kind.noError() || provider.Final(err)):
		t.Errorf("Allocate: %v", err)
	}
	if f.allocate(t, r) == "" {
		t.Error("Allocated without a connection")
	}
	f.expectInUse(t, 1)
	f.release(t, r.Ref)
	f.expectInUse(t, 0)
}

// givesUp: a server that may have been allocated can be given back without asking again.
func givesUp(t *testing.T, f *faulty, kind Fault) {
	r := f.request("m")
	f.Server.Break(f.Allocates, kind)
	if _, err := f.once(r); provider.Final(err) {
		t.Errorf("Allocate: %v, which is final", err)
	}
	f.release(t, r.Ref)
	f.expectInUse(t, 0)
}

// releasesThrough: a fault of a release costs another call.
func releasesThrough(t *testing.T, f *faulty, kind Fault) {
	r, other := f.request("m"), f.request("other")
	f.allocate(t, r)
	kept := f.allocate(t, other)
	f.Server.Break(f.Releases, kind)
	ctx, cancel := f.limit()
	defer cancel()
	err := f.Provider.Release(ctx, r.Ref)
	f.note(err)
	if provider.Final(err) || err != nil && kind.noError() {
		t.Errorf("Release: %v", err)
	}
	f.release(t, r.Ref)
	f.expectInUse(t, 1)
	if got := f.allocate(t, other); got != kept {
		t.Errorf("releasing a match moved another one from %s to %s", kept, got)
	}
}

// loses: whichever call's answer is lost, there is one server in the end.
func loses(t *testing.T, f *faulty) {
	for lost := range 6 {
		r := f.request(fmt.Sprint("m", lost))
		skip := lost
		f.Server.Break(func(*http.Request, []byte) bool { skip--; return skip < 0 }, Lost)
		f.allocate(t, r)
		f.expectInUse(t, 1)
		f.release(t, r.Ref)
		f.expectInUse(t, 0)
	}
}

// echoes: the message of a system that repeats the request is in no error.
func echoes(t *testing.T, f *faulty) {
	r := f.request("m")
	for range 3 {
		f.Server.Break(nil, Echo)
		if _, err := f.once(r); err == nil {
			t.Error("a refusal is no error")
		}
		f.Server.Break(nil, Echo)
		_, err := f.Provider.Poll(t.Context(), []provider.Ref{r.Ref})
		f.note(err)
		f.Server.Break(nil, Echo)
		f.note(f.Provider.Release(t.Context(), r.Ref))
	}
	f.Server.Heal()
	f.release(t, r.Ref)
	f.expectInUse(t, 0)
}

// expires: no call is made to a system whose certificate has expired.
func expires(t *testing.T, f *faulty) {
	r := f.request("m")
	f.Server.Renew(time.Now().Add(-time.Minute))
	before := f.Server.Calls()
	if _, err := f.once(r); err == nil || !strings.Contains(err.Error(), "certificate has expired") ||
		provider.Final(err) {
		t.Errorf("an expired certificate: %v", err)
	}
	if f.Server.Calls() != before {
		t.Error("a call was made under an expired certificate")
	}
	f.Server.Renew(time.Now().Add(time.Minute))
	f.allocate(t, r)
	f.expectInUse(t, 1)
}

// impostor: no call is made to a system with the certificate of another authority.
func impostor(t *testing.T, f *faulty) {
	genuine := f.Server.Authority
	f.Server.Authority = NewAuthority(t)
	f.Server.Renew(time.Now().Add(time.Minute))
	before := f.Server.Calls()
	if _, err := f.once(f.request("m")); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("a certificate of somebody else: %v", err)
	}
	if f.Server.Calls() != before {
		t.Error("a call was made to somebody else")
	}
	f.Server.Authority = genuine
}

// looksForSecrets searches the log and all errors.
func (f *faulty) looksForSecrets(t *testing.T) {
	t.Helper()
	said := f.Log.String() + strings.Join(f.errs, "\n")
	for _, secret := range append([]string{serverToken, "server-token", "harbour"}, f.Secrets...) {
		if strings.Contains(said, secret) {
			t.Errorf("%q is readable in:\n%s", secret, said)
		}
	}
}
