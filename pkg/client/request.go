package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
)

// maxAnswer bounds what is read of one answer, in bytes: the largest honest one is the log of a function. Players'
// devices have less memory, and a list of 32 tickets has less than maxPlayerAnswer.
const (
	maxAnswer       = 64 << 20
	maxPlayerAnswer = 8 << 20
)

// stall is how long a try may go on while nothing of it is sent or comes: then the connection is taken for broken.
// The answer to an upload comes when the function is compiled; the service gives every answer within two minutes.
const (
	stall       = time.Minute
	uploadStall = 130 * time.Second
	whole       = 5 * time.Minute // for maxPlayerAnswer, after its header
)

// players are the calls of players and game servers.
var players = regexp.MustCompile(`^(\w+ v1/(tickets(/acceptance)?|parties(/.*)?|regions|queues|servers/token|` +
	`backfill|ratings/.*|matches/.*/result|players/.*/(match|ratings.*|standing))|POST v2/backfill|\w+ v2/backfill/.*)$`)

// errStalled is the error of a network, which is a reason to try again.
var errStalled = fmt.Errorf("nothing came for too long: %w", os.ErrDeadlineExceeded)

// request is what a call asks for, in a form that can be sent more than once.
type request struct {
	method string
	path   string // below the base, escaped: v1/tickets
	query  url.Values
	header http.Header
	body   content // nil: none
	// repeatable: sending it twice has the same effect as sending it once.
	repeatable bool
	// removes: the aim is that the thing be gone.
	removes bool
	// begun, when not nil, gets the header of an answer that is success, before its body is read.
	begun func(http.Header)
	// ownKey is the Idempotency-Key of a create that no other call has, "" for none.
	ownKey string
	// unanswered is set by do: a try may have been carried out, and no answer said so.
	unanswered bool
	// token is the one of the last try, and refused the 401 that it got. Then the next try has another one.
	token   string
	refused *Error
}

// limit is how many bytes are read of an answer.
func (r *request) limit() int64 {
	if players.MatchString(r.method + " " + r.path) {
		return maxPlayerAnswer
	}
	return maxAnswer
}

// plainCall is a request that the API document says all of.
type plainCall struct {
	method string
	// path has names in braces, for each of which there is a segment.
	path     string
	segments []string
	query    url.Values
	player   string // X-On-Behalf-Of
	body     any    // nil: none

	repeatable, removes bool
}

// ask makes a call that is answered with a T.
func ask[T any](ctx context.Context, c *Client, p plainCall) (*T, error) {
	answer := new(T)
	if err := c.call(ctx, p, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// call makes a call. into is as for do.
func (c *Client) call(ctx context.Context, p plainCall, into any) error {
	header, err := onBehalfOf(p.player)
	if err != nil {
		return err
	}
	r := &request{method: p.method, path: p.path, query: p.query, header: header, repeatable: p.repeatable,
		removes: p.removes}
	for _, value := range p.segments {
		before, rest, _ := strings.Cut(r.path, "{")
		name, after, _ := strings.Cut(rest, "}")
		escaped, err := segment(name, value)
		if err != nil {
			return err
		}
		r.path = before + escaped + after
	}
	if p.body != nil {
		if r.body, err = encode(p.body); err != nil {
			return err
		}
	}
	_, err = c.do(ctx, r, into)
	return err
}

// content is a request body. open begins a reader of its own for each try, since a transport may still read the last
// one when its answer is in.
type content interface {
	open() (body io.Reader, size int64)
	kind() string // media type
}

// document is a JSON body.
type document []byte

func (d document) open() (io.Reader, int64) { return bytes.NewReader(d), int64(len(d)) }
func (d document) kind() string             { return "application/json" }

// encode is v as a JSON body.
func encode(v any) (document, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("client: request body: %w", err)
	}
	return body, nil
}

// do sends r, again when the policy says so, and decodes the answer's JSON into the value at into unless that is nil.
// It returns the answer's header.
func (c *Client) do(ctx context.Context, r *request, into any) (http.Header, error) {
	lost := false // a try was sent, and its answer never seen
	for attempt := 1; ; attempt++ {
		header, err := c.try(ctx, r, into)
		if err == nil {
			return header, nil
		}
		if c.mayRenew(r, err) {
			attempt--
			continue
		}
		status := Status(err)
		if r.removes && lost && IsNotFound(err) {
			return header, nil // the try whose answer was lost removed it
		}
		lost = lost || status == 0
		r.unanswered = r.unanswered || status == 0 || status >= http.StatusInternalServerError
		wait, again := c.retry.again(attempt, err, r.repeatable)
		if !again || ctx.Err() != nil {
			return nil, err
		}
		if deadline, ok := ctx.Deadline(); ok && deadline.Before(c.retry.Now().Add(wait)) {
			return nil, err
		}
		if c.retry.Notify != nil {
			c.retry.Notify(err, wait)
		}
		if stopped := c.retry.Sleep(ctx, wait); stopped != nil {
			return nil, fmt.Errorf("%w, while waiting to repeat after: %w", stopped, err)
		}
	}
}

// try sends r once.
func (c *Client) try(ctx context.Context, r *request, into any) (http.Header, error) {
	most := stall
	if _, is := r.body.(*upload); is {
		most = uploadStall
	}
	most, all := c.retry.scaled(most), c.retry.scaled(whole*time.Duration(r.limit()/maxPlayerAnswer))
	ctx, begins, end := whileMoving(ctx, 1<<63-1, all, errStalled)
	defer end()
	ctx, moves, stop := whileMoving(ctx, most, most, errStalled)
	defer stop()
	req, err := c.prepare(ctx, r, moves)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(req)
	if err != nil {
		if stalled(ctx) {
			err = fmt.Errorf("%s /%s: %w", r.method, r.path, errStalled)
		}
		return nil, fmt.Errorf("client: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	moves()
	if begins(); r.begun != nil && answer.StatusCode/100 == 2 {
		r.begun(answer.Header)
	}
	body, err := io.ReadAll(moving{io.LimitReader(answer.Body, r.limit()+1), moves})
	if err == nil && int64(len(body)) > r.limit() {
		return nil, fmt.Errorf("client: %s /%s: the answer has more than %d bytes", r.method, r.path, r.limit())
	}
	if err != nil {
		if stalled(ctx) {
			err = errStalled
		}
		return nil, fmt.Errorf("client: %s /%s: reading the answer: %w", r.method, r.path, err)
	}
	if answer.StatusCode/100 != 2 {
		return nil, newError(r, answer, body, c.retry.Now())
	}
	if into == nil {
		return answer.Header, nil
	}
	if file, is := into.(*[]byte); is {
		*file = body
		return answer.Header, nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return nil, fmt.Errorf("client: %s /%s: the %d answer is not what the API says: %w", r.method, r.path,
			answer.StatusCode, err)
	}
	return answer.Header, nil
}

// whileMoving ends a context with an error when moves was not called for so long: for first at first, then for most.
func whileMoving(
	ctx context.Context, first, most time.Duration, otherwise error,
) (_ context.Context, moves, stop func()) {
	ctx, giveUp := context.WithCancelCause(ctx)
	quiet := time.AfterFunc(first, func() { giveUp(otherwise) })
	return ctx, func() { quiet.Reset(most) }, func() {
		quiet.Stop()
		giveUp(nil)
	}
}

// moving tells when something was read.
type moving struct {
	io.Reader
	moves func()
}

func (m moving) Read(to []byte) (int, error) {
	defer m.moves()
	return m.Reader.Read(to)
}

// stalled tells that a try was given up because nothing moved.
func stalled(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errStalled) }

// prepare makes the HTTP request, which tells when a part of its body is read.
func (c *Client) prepare(ctx context.Context, r *request, moves func()) (*http.Request, error) {
	address := c.base + "/" + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	maps.Copy(req.Header, r.header)
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "application/json, application/problem+json")
	if r.body != nil {
		body, size := r.body.open()
		req.Body, req.ContentLength = io.NopCloser(moving{body, moves}), size
		// With it the transport picks another connection when an idle one turns out to be closed before anything was written,
		// for a POST as well.
		req.GetBody = func() (io.ReadCloser, error) {
			body, _ := r.body.open()
			return io.NopCloser(moving{body, moves}), nil
		}
		req.Header.Set("Content-Type", r.body.kind())
	}
	return req, c.authorize(req, r)
}

// mayRenew reports whether a request that failed is to be sent once more with another token.
func (c *Client) mayRenew(r *request, err error) bool {
	e, answered := errors.AsType[*Error](err)
	if !answered || e.Status != http.StatusUnauthorized || c.token == nil || r.refused != nil {
		return false
	}
	r.refused = e
	return true
}

// printable reports whether a text has ASCII that a header can have.
func printable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

func (c *Client) authorize(req *http.Request, r *request) error {
	if c.token == nil {
		return nil
	}
	wish := tokenWish{now: c.retry.Now}
	if r.refused != nil {
		wish.refused = r.token
	}
	token, err := c.token(context.WithValue(req.Context(), wishKey{}, wish))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoToken, err)
	}
	token = strings.TrimSpace(token)
	if token == "" || !printable(token) {
		return fmt.Errorf("%w: the token source gave an empty one, or none that a header can have", ErrNoToken)
	}
	if r.refused != nil && token == r.token {
		return r.refused
	}
	r.token = token
	req.Header.Set("Authorization", "Bearer "+token)
	return nil
}
