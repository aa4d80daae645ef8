package gameservertest_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"matchmaker.dev/services/allocator/gameserver/gameservertest"
)

func TestHelloIsRepeated(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	heard := make(chan int)
	go func() {
		buf := make([]byte, 512)
		for n := 1; ; n++ {
			_, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if n == 2 {
				_, _ = conn.WriteTo([]byte("nonsense"), from)
				_, _ = conn.WriteTo([]byte(`{"welcome":"a","match":"m","players":1}`), from)
				heard <- n
				return
			}
		}
	}()
	w, err := gameservertest.Hello(t.Context(), conn.LocalAddr().String(), "a")
	if err != nil || w.Match != "m" {
		t.Errorf("Hello() = %+v, %v", w, err)
	}
	<-heard
}

func TestHelloEndsWithItsContext(t *testing.T) {
	// An unread socket.
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _, _ = conn.ReadFrom(make([]byte, 512))
		cancel()
	}()
	if _, err := gameservertest.Hello(ctx, conn.LocalAddr().String(), "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("Hello() = %v, want the context's error", err)
	}
}
