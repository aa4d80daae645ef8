package beacon_test

import (
	"cmp"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/beacon"
)

var (
	delay  = flag.Bool("delay", false, "measure beside delays that are set")
	shaper = flag.String("shaper", "", "what delays in this network namespace: netem or tbf")
)

// Bytes on the loopback of a greeting and of the question after it: what a beacon measures is how long these take.
const measured = (48 + 42) + (beacon.QuestionSize + 42)

// What a beacon measures is at most a millisecond beside the delay of the network, in the median of five medians. The
// delay is tc's, in a network namespace of the test's own: netem's, or where the kernel has none a token bucket's with
// room for one datagram. Without both a relay delays.
func TestDelay(t *testing.T) {
	if !*delay {
		t.Skip("this is part of make check PART=delay")
	}
	if *shaper == "" {
		for _, name := range []string{"netem", "tbf"} {
			text, err := elsewhere(t, "tc", shape(name, time.Millisecond)...)
			if err != nil {
				t.Logf("no %s: %v: %s", name, err, text)
				continue
			}
			text, err = elsewhere(t, os.Args[0], "-test.run=^TestDelay$", "-test.v", "-delay", "-shaper", name)
			t.Logf("%s", text)
			must(t, err)
			return
		}
		t.Log("no tc: a relay delays instead")
	}
	// What else this machine does is no delay of the network: all threads go before it, where that is allowed.
	chrt := exec.CommandContext(t.Context(), "chrt", "--all-tasks", "--fifo", "--pid", "1", strconv.Itoa(os.Getpid()))
	if text, err := chrt.CombinedOutput(); err != nil {
		t.Logf("other processes disturb this one: %v: %s", err, text)
	}
	r := start(t, func(*beacon.Options) {})
	for _, oneWay := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond} {
		region := client.Region{Name: "eu", Protocol: "beacon", UDP: r.Addr().String()}
		if *shaper != "" {
			command(t, "ip", "link", "set", "lo", "up")
			command(t, "tc", shape(*shaper, oneWay)...)
		} else {
			region.UDP = relay(t, r.Addr(), oneWay)
		}
		var medians []time.Duration
		for range 5 {
			got := client.MeasureRegions(t.Context(), []client.Region{region}, client.MeasureOptions{Probes: 20})[0]
			must(t, got.Err)
			medians = append(medians, got.RTT)
		}
		slices.Sort(medians)
		off := medians[2] - 2*oneWay
		t.Logf("%s: delay %v: medians %v, off by %v", cmp.Or(*shaper, "relay"), 2*oneWay, medians, off)
		if off.Abs() > time.Millisecond {
			t.Errorf("delay %v: off by %v", 2*oneWay, off)
		}
	}
}

// shape are the arguments of tc that delay each datagram, or that let what is measured take as long both ways.
func shape(name string, oneWay time.Duration) []string {
	args := []string{"qdisc", "replace", "dev", "lo", "root", name}
	if name == "netem" {
		return append(args, "delay", oneWay.String())
	}
	rate := fmt.Sprintf("%.0fbit", 8*measured/(2*oneWay).Seconds())
	return append(args, "rate", rate, "burst", "200", "latency", "10s")
}

// elsewhere runs a command in a network namespace of its own.
func elsewhere(t *testing.T, name string, args ...string) ([]byte, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	return c.CombinedOutput()
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if text, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, text)
	}
}

// relay passes datagrams on to a beacon, and its answers back, each after a delay: one at a time, as probes are sent.
func relay(t *testing.T, to netip.AddrPort, delay time.Duration) string {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	socket := conn.(*net.UDPConn)
	go func() {
		var player netip.AddrPort
		in := make([]byte, 2048)
		for {
			n, from, err := socket.ReadFromUDPAddrPort(in)
			if err != nil {
				return
			}
			due, next := time.Now().Add(delay), to
			if from == to {
				next = player
			} else {
				player = from
			}
			<-time.After(delay - 3*time.Millisecond/2) // timers are a millisecond late
			for time.Now().Before(due) {
			}
			_, _ = socket.WriteToUDPAddrPort(in[:n], next)
		}
	}()
	return socket.LocalAddr().String()
}
