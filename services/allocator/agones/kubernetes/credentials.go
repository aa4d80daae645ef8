package kubernetes

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"matchmaker.dev/services/internal/platform/textfile"
)

// credentials are for a call's header Authorization; an empty secret is none. The zero time of expires is never.
type credentials struct {
	scheme, secret string
	expires        time.Time
}

// valid reports whether there are credentials that have not expired.
func (c *credentials) valid(now time.Time) bool {
	return c != nil && (c.expires.IsZero() || now.Before(c.expires))
}

// source reads credentials, and keeps them until they expire or are refused.
type source struct {
	read  func(context.Context) (*credentials, error)
	log   *slog.Logger
	now   func() time.Time
	last  atomic.Pointer[credentials]
	reads singleflight.Group
}

// fileAge is how long a token is used before its file is read again. The kubelet replaces a token when a fifth of its
// lifetime is left, two minutes at least.
const fileAge = 50 * time.Second

// readFile has the source read a token from a file.
func (s *source) readFile(path string) error {
	read := func() (*credentials, error) {
		text, err := textfile.Read(path)
		token := strings.TrimSpace(string(text))
		if err == nil && token == "" {
			err = fmt.Errorf("%s is empty", path)
		}
		return &credentials{"Bearer", token, s.now().Add(fileAge)}, err
	}
	s.read = func(context.Context) (*credentials, error) { return read() }
	_, err := read()
	return err
}

// get returns credentials that have not expired. When they cannot be read, the old ones stay in use until they are
// refused. Reading goes on when ctx ends: the next call needs them too.
func (s *source) get(ctx context.Context) (*credentials, error) {
	if last := s.last.Load(); last.valid(s.now()) {
		return last, nil
	}
	read := s.reads.DoChan("", func() (any, error) {
		last := s.last.Load()
		if last.valid(s.now()) {
			return last, nil
		}
		c, err := s.read(context.WithoutCancel(ctx))
		if err != nil && last != nil {
			s.log.WarnContext(ctx, "credentials could not be read, the old ones stay in use", "error", err)
			return last, nil
		}
		if err == nil {
			s.last.Store(c)
		}
		return c, err
	})
	select {
	case r := <-read:
		c, _ := r.Val.(*credentials)
		return c, r.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// refuse drops credentials: the next call reads them again.
func (s *source) refuse(c *credentials) { s.last.CompareAndSwap(c, nil) }
