package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/platform/wait"
)

// What became of a request.
const (
	taken       = "taken"
	refused     = "refused"
	unreachable = "unreachable"
	forbidden   = "forbidden"
)

var outcomes = []string{taken, refused, unreachable, forbidden}

// outcome is what became of a request. reason is for the studio: it has nothing of the answer but its status.
type outcome struct {
	result, reason string
	status         int
	retryAfter     time.Duration
}

// maxAnswer is how many bytes of an answer are read, so that its connection can be used again, and maxHeaders how many
// its headers may have.
const (
	maxAnswer  = 4 << 10
	maxHeaders = 16 << 10
)

// sender sends requests to addresses that webhooks may reach.
type sender struct {
	client *http.Client
	time   time.Duration
}

func newSender(most time.Duration, networks []netip.Prefix) *sender {
	// The address is checked when it is known, so that no name can hide it.
	dialer := &net.Dialer{Timeout: most, KeepAlive: 15 * time.Second,
		Control: func(_, address string, _ syscall.RawConn) error { return check(address, networks) }}
	return &sender{time: most, client: &http.Client{
		Transport: &http.Transport{
			// No proxy: it would connect to what it is told.
			DialContext: dialer.DialContext, TLSHandshakeTimeout: most, ResponseHeaderTimeout: most,
			ForceAttemptHTTP2: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeaders,
			HTTP2:        wait.Pings(),
			MaxIdleConns: 256, MaxIdleConnsPerHost: maxRequests, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// send sends a body once.
func (s *sender) send(ctx context.Context, url string, body []byte, header http.Header) outcome {
	ctx, cancel := context.WithTimeout(ctx, s.time)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return outcome{result: forbidden, reason: "the URL cannot be used"}
	}
	r.Header = header
	r.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	r.Header.Set("User-Agent", "matchmaker")
	answer, err := s.client.Do(r)
	if err != nil {
		return failureOf(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	o := outcome{result: refused, status: answer.StatusCode, reason: fmt.Sprintf("it answered %d", answer.StatusCode)}
	switch {
	case o.status >= 200 && o.status < 300:
		return outcome{result: taken, status: o.status}
	case o.status >= 300 && o.status < 400:
		o.reason += ": redirects are not followed"
	case o.status == http.StatusTooManyRequests || o.status == http.StatusServiceUnavailable:
		o.retryAfter = wait.RetryAfter(answer.Header, time.Now())
	}
	return o
}

// failureOf says why there was no answer, in words that reveal nothing of what is behind an address.
func failureOf(ctx context.Context, err error) outcome {
	o := outcome{result: unreachable, reason: "the connection failed"}
	if errors.Is(err, errForbidden) {
		return outcome{result: forbidden, reason: errForbidden.Error()}
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		o.reason = "its name was not found"
	} else if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		o.reason = "its certificate is not valid"
	} else if e, ok := errors.AsType[net.Error](err); ctx.Err() != nil || ok && e.Timeout() {
		o.reason = "it did not answer in time"
	}
	return o
}

// errForbidden means that an address is not public.
var errForbidden = errors.New("its address is not public")

// special are networks that are not public, besides those that package netip knows.
var special = func() (all []netip.Prefix) {
	for _, text := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "240.0.0.0/4", "168.63.129.16/32", // of IPv4; the last one is the host in Azure
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
		"5f00::/16", "fec0::/10", // of IPv6, also those that stand for addresses of IPv4
	} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}()

// check returns an error for an address that webhooks may not reach. They may reach public ones, and networks that are
// allowed.
func check(address string, networks []netip.Prefix) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return errForbidden
	}
	ip := at.Addr().Unmap().WithZone("")
	contains := func(n netip.Prefix) bool { return n.Contains(ip) }
	public := ip.IsGlobalUnicast() && !ip.IsPrivate() && !slices.ContainsFunc(special, contains)
	if !public && !slices.ContainsFunc(networks, contains) {
		return errForbidden
	}
	return nil
}

// gapNumber is the number of a gap before a message.
const gapNumber = 1<<16 - 1

// eventID is the id of the nth event of a message. Two events have different ones, and each the same whenever it is
// sent. They are in the order of the events.
func eventID(e *pb.Event, n int) string {
	return fmt.Sprintf("%012x%012x%04x", e.GetTime(), e.GetPosition(), n)
}

// cloudEvent is an event as CloudEvents 1.0 has it in JSON.
type cloudEvent struct {
	SpecVersion     string         `json:"specversion"`
	ID              string         `json:"id"`
	Source          string         `json:"source"`
	Type            string         `json:"type"`
	Subject         string         `json:"subject,omitzero"`
	Time            string         `json:"time"`
	DataContentType string         `json:"datacontenttype"`
	Data            jsontext.Value `json:"data"`
}

// cloudEvent returns what is sent of an event. Its subject is the match, or the first ticket.
func (s *Service) cloudEvent(project string, it *item) ([]byte, error) {
	data, err := s.Encode(fmt.Sprintf("%d.%d", it.behind.message, it.behind.events), it.event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(&cloudEvent{SpecVersion: "1.0", ID: it.id, Source: "/" + project + "/matchmaking",
		Type: "dev.matchmaker." + response.EventKind(it.event.GetKind()), Subject: it.lane,
		Time: response.Time(time.UnixMilli(it.event.GetTime())), DataContentType: "application/json", Data: data})
}

// signed returns the headers of a body, as Standard Webhooks has them.
func signed(s *pb.WebhookSecrets, id string, body []byte, now time.Time) http.Header {
	at := strconv.FormatInt(now.Unix(), 10)
	signatures := sign(s.GetCurrent(), id, at, body)
	if len(s.GetPrevious()) > 0 && now.UnixMilli() < s.GetUntil() {
		signatures += " " + sign(s.GetPrevious(), id, at, body)
	}
	return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {at}, "Webhook-Signature": {signatures}}
}

func sign(secret []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
