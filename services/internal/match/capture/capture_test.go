package capture_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/capture"
)

func TestUnpackIsTheInverseOfPack(t *testing.T) {
	want := &pb.Capture{Config: "c", Function: "f", Tickets: []string{"a", "b"}, Request: []byte("MMRQ"),
		Answer: []byte("x")}
	packed, err := capture.Pack(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := capture.Unpack(packed)
	if err != nil || !proto.Equal(got, want) {
		t.Fatal(got, err)
	}
	for n := range packed {
		if _, err := capture.Unpack(packed[:n]); err == nil {
			t.Fatalf("the first %d bytes are a capture", n)
		}
	}
}

func TestCapturesAreBounded(t *testing.T) {
	noise := make([]byte, capture.MaxSent+1)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for name, request := range map[string][]byte{"large": make([]byte, capture.MaxRaw), "noise": noise} {
		if _, err := capture.Pack(&pb.Capture{Request: request}); !errors.Is(err, capture.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range 3 {
		if _, err := w.Write(make([]byte, capture.MaxRaw)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := capture.Unpack(bomb.Bytes()); err == nil {
		t.Error("more zeros than there may be are a capture")
	}
}
