package main

import (
	"bytes"
	"context"
	"time"
)

// watchFlag is the flag of commands that can print again what they print.
type watchFlag struct {
	Watch bool `short:"w" help:"Print it again whenever it changes, until Ctrl-C. --timeout limits each look."`
}

// watchInterval is the time between two looks.
const watchInterval = 2 * time.Second

func (w watchFlag) watches() bool { return w.Watch }

// repeat calls look, which prints to the session that it gets, again and again until ctx ends, which is no error. It
// prints what differs from the time before.
func (s *session) repeat(ctx context.Context, look func(ctx context.Context, s *session) error) error {
	var last []byte
	for {
		seen, notes, err := s.lookOnce(ctx, look)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Ctrl-C is how watching ends
		case err != nil:
			return err
		}
		if last == nil || !bytes.Equal(seen, last) {
			if err := s.replace(seen); err != nil {
				return err
			}
			if _, err := s.err.Write(notes); err != nil {
				return err
			}
			last = seen
		}
		if s.sleep(ctx, watchInterval) != nil {
			return nil //nolint:nilerr // likewise
		}
	}
}

// lookOnce returns what look prints, which is not nil, and what it notes.
func (s *session) lookOnce(
	ctx context.Context, look func(ctx context.Context, s *session) error,
) (printed, notes []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	out, says := bytes.NewBuffer([]byte{}), new(bytes.Buffer)
	one := *s
	one.out, one.err, one.watched = out, says, s
	err = look(ctx, &one)
	return out.Bytes(), says.Bytes(), err
}

// replace prints in place of what a terminal shows.
func (s *session) replace(text []byte) error {
	if s.width > 0 && !s.structured() {
		text = append([]byte(clearScreen), text...)
	}
	_, err := s.out.Write(text)
	return err
}
