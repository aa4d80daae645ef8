package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// The datagrams of beacons: docs/latency.md describes them.
const (
	beaconMagic                                          = "mmb\x01"
	questionSize                                         = 104
	nonceAt, echoEnd, receiptAt                          = 8, 48, 24
	beaconAsks, beaconGreets, clientProves, beaconGrants = 1, 2, 3, 4
	// rttAt is where a receipt has its round trip, in microseconds.
	rttAt, shortestGrant = 10, receiptAt + 40
)

var errOtherProtocol = errors.New("client: the region has a protocol that this version does not know")

// udpProbe is a socket that is connected to a region.
type udpProbe struct {
	conn     net.Conn
	protocol string
	in       [2048]byte
}

func newUDPProbe(ctx context.Context, protocol string, to netip.AddrPort) (probe, error) {
	switch protocol {
	case "beacon", "playfab", "echo":
	default:
		return nil, errOtherProtocol
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", to.String())
	if err != nil {
		return nil, fmt.Errorf("client: region: %w", err)
	}
	return &udpProbe{conn: conn, protocol: protocol}, nil
}

func (p *udpProbe) close() { _ = p.conn.Close() }

func (p *udpProbe) trip(ctx context.Context, timeout time.Duration) (time.Duration, string, error) {
	if err := p.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return 0, "", err
	}
	defer context.AfterFunc(ctx, func() { _ = p.conn.SetDeadline(time.Now()) })()
	if p.protocol == "beacon" {
		return p.beaconTrip()
	}
	question := make([]byte, 2, 34)
	if p.protocol == "playfab" {
		question[0], question[1] = 0xff, 0xff
	}
	question = append(question, rand.Text()...)
	start := time.Now()
	_, err := p.ask(question, func(answer []byte) bool {
		return len(answer) == len(question) && answer[0]|answer[1] == 0 && bytes.Equal(answer[2:], question[2:])
	})
	return time.Since(start), "", err
}

// beaconTrip is the two questions of a beacon. The round trip is what the beacon measured.
func (p *udpProbe) beaconTrip() (time.Duration, string, error) {
	var question [questionSize]byte
	copy(question[:], beaconMagic)
	question[len(beaconMagic)] = beaconAsks
	nonce := question[nonceAt:receiptAt]
	rand.Read(nonce)
	is := func(kind byte, shortest int) func([]byte) bool {
		return func(a []byte) bool {
			return len(a) >= shortest && string(a[:len(beaconMagic)]) == beaconMagic && a[len(beaconMagic)] == kind &&
				bytes.Equal(a[nonceAt:receiptAt], nonce)
		}
	}
	greeting, err := p.ask(question[:], is(beaconGreets, echoEnd))
	if err != nil {
		return 0, "", err
	}
	question[len(beaconMagic)] = clientProves
	copy(question[receiptAt:], greeting[receiptAt:echoEnd])
	grant, err := p.ask(question[:], is(beaconGrants, shortestGrant))
	if err != nil {
		return 0, "", err
	}
	receipt := grant[receiptAt:]
	rtt := time.Duration(binary.BigEndian.Uint32(receipt[rttAt:])) * time.Microsecond
	return rtt, base64.RawURLEncoding.EncodeToString(receipt), nil
}

// ask sends a question and returns the answer that belongs to it, which is no longer. Others, which are late or forged,
// are skipped.
func (p *udpProbe) ask(question []byte, isAnswer func([]byte) bool) ([]byte, error) {
	if _, err := p.conn.Write(question); err != nil {
		return nil, fmt.Errorf("client: region: %w", err)
	}
	for {
		n, err := p.conn.Read(p.in[:])
		if err != nil {
			return nil, fmt.Errorf("client: region: %w", err)
		}
		if n <= len(question) && isAnswer(p.in[:n]) {
			return p.in[:n], nil
		}
	}
}

// httpProbe asks a beacon by HTTP, on one connection.
type httpProbe struct {
	url       string
	transport *http.Transport
}

func newHTTPProbe(base string) *httpProbe {
	return &httpProbe{strings.TrimRight(base, "/") + "/probe",
		&http.Transport{Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: 1}}
}

func (p *httpProbe) close() { p.transport.CloseIdleConnections() }

func (p *httpProbe) trip(ctx context.Context, timeout time.Duration) (time.Duration, string, error) {
	// The connection is made before the beacon takes the time.
	ctx, cancel := context.WithTimeout(ctx, 3*timeout)
	defer cancel()
	var greeting struct{ Echo string }
	if err := p.get(ctx, p.url, &greeting); err != nil {
		return 0, "", err
	}
	var proof struct {
		RTT     float64
		Receipt string
	}
	if err := p.get(ctx, p.url+"?"+url.Values{"echo": {greeting.Echo}}.Encode(), &proof); err != nil {
		return 0, "", err
	}
	return time.Duration(proof.RTT * float64(time.Millisecond)), proof.Receipt, nil
}

func (p *httpProbe) get(ctx context.Context, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("client: region: %w", err)
	}
	res, err := p.transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("client: region: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, 4<<10)) // to its end, so that the connection stays
	if err != nil {
		return fmt.Errorf("client: region: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("client: region: the beacon answered %s", res.Status)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("client: region: the beacon's answer cannot be read: %w", err)
	}
	return nil
}
