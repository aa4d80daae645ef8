package client_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// udp answers datagrams on a socket of this machine with what answer returns; nil for nothing.
func udp(t *testing.T, answer func(question []byte) []byte) string {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		in := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(in)
			if err != nil {
				return
			}
			if text := answer(in[:n]); text != nil {
				_, _ = conn.WriteToUDPAddrPort(text, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// PlayFab's beacons, and the echo of agones-ping, are measured, without receipts.
func TestMeasureSourcesThatAreNotBelieved(t *testing.T) {
	playfab := udp(t, func(q []byte) []byte {
		if len(q) < 2 || q[0] != 0xff || q[1] != 0xff {
			return nil
		}
		return append([]byte{0, 0}, q[2:]...)
	})
	echo := udp(t, func(q []byte) []byte { return q })
	got := client.MeasureRegions(t.Context(), []client.Region{
		{Name: "p", Protocol: "playfab", UDP: playfab}, {Name: "e", Protocol: "echo", UDP: echo},
		{Name: "not playfab's", Protocol: "playfab", UDP: echo}, {Name: "?", Protocol: "icmp", UDP: echo}, {Name: "none"},
		{Name: "bad", Protocol: "echo", UDP: "bad"},
	}, client.MeasureOptions{Probes: 1})
	for i, l := range got {
		if answered := i < 2; (l.Err == nil) != answered || (l.RTT > 0) != answered || len(l.Receipts) > 0 {
			t.Errorf("%+v", l)
		}
	}
	if l := got[2]; l.Sent != 1 || l.Lost != 1 {
		t.Errorf("a region that answers something else: %+v", l)
	}
}

// Probes that are not answered are counted, and late and foreign answers are no answers to others.
func TestMeasureCountsLoss(t *testing.T) {
	var questions atomic.Int64
	echo := udp(t, func(q []byte) []byte {
		if questions.Add(1)%2 == 1 {
			return append(append([]byte(nil), q...), 1)
		}
		return q
	})
	got := client.MeasureRegions(t.Context(), []client.Region{{Name: "e", Protocol: "echo", UDP: echo}},
		client.MeasureOptions{Probes: 4})[0]
	if got.Sent != 4 || got.Lost < 2 || got.Lost == 4 || got.RTT <= 0 || got.Err != nil {
		t.Errorf("%+v", got)
	}
}

func TestMeasureEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	silent := udp(t, func([]byte) []byte { cancel(errors.New("enough")); return nil })
	got := client.MeasureRegions(ctx, []client.Region{{Name: "s", Protocol: "beacon", UDP: silent}},
		client.MeasureOptions{Probes: 20, Timeout: 2 * time.Second})[0]
	if got.Sent != 1 || got.Lost != 1 || got.Err == nil {
		t.Errorf("%+v", got)
	}
}

// Latencies are measured once for a network, by one call for all, and again when they are old or forgotten.
func TestLatenciesAreKept(t *testing.T) {
	echo := udp(t, func(q []byte) []byte { return q })
	s := newService(t, reply{status: 200, body: `{"regions":[{"name":"e","protocol":"echo","udp":"` + echo +
		`"}],"receiptSeconds":600}`})
	api, clock := newClient(t, s)
	kept := api.Latencies(client.MeasureOptions{Probes: 2})
	get := func(network string, asked int) {
		t.Helper()
		all, err := kept.Get(t.Context(), network)
		if err != nil || len(all) != 1 || all[0].RTT <= 0 || len(s.requests()) != asked {
			t.Errorf("%v, %v, after %d requests, want %d", all, err, len(s.requests()), asked)
		}
	}
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			if _, err := kept.Get(t.Context(), "home"); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	get("home", 1)
	get("phone", 2)
	get("home", 2)
	clock.now = clock.now.Add(4 * time.Minute)
	get("home", 2)
	clock.now = clock.now.Add(time.Minute)
	get("home", 3)
	kept.Forget("home")
	get("home", 4)
	for _, network := range strings.Split("abcdefgh", "") {
		clock.now = clock.now.Add(time.Second)
		if _, err := kept.Get(t.Context(), network); err != nil {
			t.Error(err)
		}
	}
	get("home", 13) // of more than eight networks, the oldest is forgotten
}
