package message_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

func TestSprintfReplacesVerbs(t *testing.T) {
	got := message.Sprintf("%d %d %d %v %s %q %q %s%%", 1, uint32(2), uint64(3), 4.5, "a", "b\n", []byte("\xff"),
		errors.New("e"))
	if want := `1 2 3 4.5 a "b\n" "\xff" e%%`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := message.Sprintf("%q", strings.Repeat("x", 100)), `"`+strings.Repeat("x", 60)+`"...`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := message.Errorf("100%").Error(); got != "100%" {
		t.Error(got)
	}
}

func TestSprintSeparatesBySpaces(t *testing.T) {
	got := message.Sprint("a b", []byte("c"), errors.New("e"), true, -1, int64(-2), uint32(3), 0.25,
		[]uint32{4, 5}, []uint32(nil), time.Second, struct{}{}, int8(-3), int16(-4), int32(-5), uint(6), uint8(7),
		uint16(8), uint64(9), float32(0.1), []float64{1.5, -2}, []string{"x", "y"}, nil)
	if want := "a b c e true -1 -2 3 0.25 [4 5] [] 1s (?) -3 -4 -5 6 7 8 9 0.1 [1.5 -2] [x y] nil"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
