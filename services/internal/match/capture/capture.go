// Package capture packs one run of a match function: the request that the function got, and what it answered. On a
// developer's machine the function gets the same request again, to the byte, and so has to answer the same.
package capture

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

const (
	// MaxRaw is how many bytes a run may have that is captured.
	MaxRaw = 16 << 20
	// MaxSent is how many it may have when it is packed.
	MaxSent = 8 << 20
	// PartSize is how many bytes a message of the bus carries of a capture.
	PartSize = 256 << 10
)

// ErrTooLarge is the failure of a run that has more than can be captured.
var ErrTooLarge = fmt.Errorf("capture: the run has more than can be captured, which is %d MiB, or %d when it is "+
	"packed: narrow the pools", MaxRaw>>20, MaxSent>>20)

// Pack packs a run. Errors: ErrTooLarge.
func Pack(c *pb.Capture) ([]byte, error) {
	if proto.Size(c) > MaxRaw {
		return nil, ErrTooLarge
	}
	raw, err := proto.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	if _, err := w.Write(raw); err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	if packed.Len() > MaxSent {
		return nil, ErrTooLarge
	}
	return packed.Bytes(), nil
}

// Unpack is the inverse of Pack. It takes no more memory than a capture may have, whatever it is given.
func Unpack(packed []byte) (*pb.Capture, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, errors.New("it is no capture of a run")
	}
	raw, err := io.ReadAll(io.LimitReader(r, MaxRaw+1))
	if err != nil || len(raw) > MaxRaw {
		return nil, errors.New("it is no capture of a run, or a part of it is missing")
	}
	c := new(pb.Capture)
	if err := proto.Unmarshal(raw, c); err != nil || len(c.GetRequest()) == 0 {
		return nil, errors.New("it is no capture of a run")
	}
	return c, nil
}
