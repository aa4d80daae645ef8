package suite

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"matchmaker.dev/services/beacon"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/keyring"
)

// region is a beacon, and a relay before it that answers otherwise on bad days.
type region struct {
	name, url string
	protocol  string // beacon if it is empty
	address   string // 127.0.0.1:0 if it is empty
	day       day    // good if it is nil
	*beacon.Beacon
	http  http.Handler
	relay *net.UDPConn
	end   context.CancelFunc

	mu    sync.Mutex
	asked []time.Time // the first questions of probes
}

const here = "127.0.0.1:0"

// day is what a relay sends in place of the beacon's answer.
type day func(answer []byte) [][]byte

// open begins a region.
func (g *game) open(ctx context.Context, r *region) {
	ctx, r.end = context.WithCancel(ctx)
	r.protocol = cmp.Or(r.protocol, "beacon")
	if r.day == nil {
		r.day = good
	}
	keys := filepath.Join(g.storage, r.name+".keys")
	_, err := keyring.Add(keys, time.Now())
	if err == nil {
		r.Beacon, err = beacon.New(ctx, beacon.Options{
			Settings: beacon.Settings{Region: r.name, UDP: "127.0.0.1:0", Keys: keys, Rate: 1e6, Burst: 1e6},
			Log:      slog.New(slog.DiscardHandler), Wall: time.Now,
			Elapsed: func() time.Duration { return time.Since(g.epoch) },
		})
	}
	if err == nil {
		var conn net.PacketConn
		if conn, err = (&net.ListenConfig{}).ListenPacket(ctx, "udp", cmp.Or(r.address, here)); err == nil {
			r.relay, _ = conn.(*net.UDPConn)
		}
	}
	if err != nil {
		g.fail("region %s: %v", r.name, err)
		r.end()
		return
	}
	e := web.New(slog.New(slog.DiscardHandler), web.Options{})
	r.Part().Routes(e)
	r.http = e
	go func() { _ = r.Run(ctx) }()
	go r.pass(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.regions = append(g.regions, r)
}

// opened are the regions so far.
func (g *game) opened() []*region {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.regions)
}

func (r *region) close() {
	r.end()
	_ = r.relay.Close()
}

// pass passes datagrams between clients and the beacon, with a socket for each client.
func (r *region) pass(ctx context.Context) {
	clients := map[netip.AddrPort]net.Conn{}
	question := make([]byte, 2048)
	for {
		n, from, err := r.relay.ReadFromUDPAddrPort(question)
		if err != nil {
			for _, c := range clients {
				_ = c.Close()
			}
			return
		}
		if n > 4 && question[4] != 3 {
			r.mu.Lock()
			r.asked = append(r.asked, time.Now())
			r.mu.Unlock()
		}
		if r.protocol != "beacon" {
			question[0], question[1] = 0, 0
			_, _ = r.relay.WriteToUDPAddrPort(question[:n], from)
			continue
		}
		to := clients[from]
		if to == nil {
			if to, err = (&net.Dialer{}).DialContext(ctx, "udp", r.Addr().String()); err != nil {
				continue
			}
			clients[from] = to
			go r.back(to, from)
		}
		_, _ = to.Write(question[:n])
	}
}

func (r *region) back(conn net.Conn, to netip.AddrPort) {
	answer := make([]byte, 2048)
	for {
		n, err := conn.Read(answer)
		if err != nil {
			return
		}
		for _, text := range r.day(slices.Clone(answer[:n])) {
			_, _ = r.relay.WriteToUDPAddrPort(text, to)
		}
	}
}

// probes are when the region was asked.
func (r *region) probes() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// Days of beacons.

func good(answer []byte) [][]byte { return [][]byte{answer} }
func deaf([]byte) [][]byte        { return nil }

// otherNonce has a true receipt for another question.
func otherNonce(answer []byte) [][]byte {
	answer[8] ^= 1
	return [][]byte{answer}
}

// garbage is what other programs send, and pieces of an answer.
func garbage(answer []byte) [][]byte {
	noise := make([]byte, len(answer))
	_, _ = rand.Read(noise)
	otherKind, otherMagic := slices.Clone(answer), slices.Clone(answer)
	otherKind[4] += 2
	otherMagic[0] = 'M'
	return [][]byte{{}, noise, answer[:30], answer[:len(answer)-12], otherKind, otherMagic}
}

// longer is longer than the question.
func longer(answer []byte) [][]byte {
	return [][]byte{append(answer, make([]byte, beacon.QuestionSize)...)}
}

// forged has all of them before the beacon's own answer.
func forged(answer []byte) (all [][]byte) {
	for _, d := range []day{otherNonce, garbage, longer, good} {
		all = append(all, d(slices.Clone(answer))...)
	}
	return all
}

// list puts the regions into the answer of the service.
func (g *game) list(body map[string]any) {
	list := []any{}
	for _, r := range g.opened() {
		one := map[string]any{"name": r.name, "protocol": r.protocol, "udp": r.relay.LocalAddr().String()}
		if r.url != "" {
			one["url"] = r.url
		}
		list = append(list, one)
	}
	body["regions"], body["receiptSeconds"] = list, 40
}

// probe answers by HTTP, for the region that the path names.
func (g *game) probe(w http.ResponseWriter, c *call) {
	g.check(c.Header.Get("Authorization") == "", "a beacon gets the player's token")
	for _, r := range g.opened() {
		if c.URL.Path == "/"+r.name+beacon.Path {
			c.URL.Path = beacon.Path
			r.http.ServeHTTP(w, c.Request)
		}
	}
}

// believed is what the service believes of receipts: milliseconds by region.
func (g *game) believed(receipts []string) map[string]float64 {
	var text string
	for _, r := range g.regions {
		text += "- {region: " + r.name + ", udp: '" + r.relay.LocalAddr().String() + "', keys: " + r.name + ".keys}\n"
	}
	file := filepath.Join(g.storage, "regions.yaml")
	err := os.WriteFile(file, []byte(text), 0o600)
	var v *receipt.Verifier
	if err == nil {
		v, err = receipt.Open(receipt.Settings{File: file, Age: time.Minute}, time.Now)
	}
	var all map[string]float64
	if err == nil {
		all, err = v.Verify(receipts, &http.Request{RemoteAddr: "127.0.0.1:1"})
	}
	if err != nil {
		g.fail("the service does not believe the receipts: %v", err)
	}
	return all
}
