package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// wire is a keep-alive connection with a minimum of HTTP/1.1: it sends requests as they are, and reads status and body
// of answers. It costs a tenth of net/http's client, which would take more of the machine than what is measured.
type wire struct {
	conn   net.Conn
	reader *bufio.Reader
	body   []byte
	// again is the Retry-After of the last answer.
	again time.Duration
}

func dial(ctx context.Context, address string) (*wire, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, reader: bufio.NewReaderSize(conn, 4<<10)}, nil
}

// orDial returns the connection, or a new one if it is nil.
func (w *wire) orDial(ctx context.Context, address string) (*wire, error) {
	if w != nil {
		return w, nil
	}
	return dial(ctx, address)
}

func (w *wire) close() { _ = w.conn.Close() }

// patience sets the time at which requests without an answer fail.
func (w *wire) patience(until time.Time) { _ = w.conn.SetDeadline(until) }

// do sends a request and reads its answer. The body is good until the next call.
func (w *wire) do(request []byte) (status int, body []byte, err error) {
	status, length, err := w.begin(request)
	if err != nil {
		return 0, nil, err
	}
	body, err = w.rest(length)
	return status, body, err
}

// follow asks for a stream, and reads it until it tells of the assignment.
func (w *wire) follow(request []byte) error {
	status, _, err := w.begin(request)
	for err == nil {
		var line []byte
		if line, err = w.line(); bytes.HasPrefix(line, []byte("event: assigned")) {
			return nil
		}
		if status != http.StatusOK {
			return fmt.Errorf("a stream is answered %d: %s", status, line)
		}
	}
	return err
}

// chunked is the length of a body that comes in chunks.
const chunked = -1

// begin sends a request and reads the status and the headers of its answer. length is the body's length.
func (w *wire) begin(request []byte) (status, length int, err error) {
	if _, err := w.conn.Write(request); err != nil {
		return 0, 0, err
	}
	line, err := w.line()
	if err != nil {
		return 0, 0, err
	}
	// HTTP/1.1 201 Created
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, 0, fmt.Errorf("not an answer of HTTP/1.1: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, err
	}
	known := status == http.StatusNoContent
	w.again = 0
	for {
		if line, err = w.line(); err != nil {
			return 0, 0, err
		}
		if len(line) == 0 {
			break
		}
		const name, retryAfter = "Content-Length:", "Retry-After:" // as net/http writes them
		switch {
		case bytes.HasPrefix(line, []byte(name)):
			known = true
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(name):]))); err != nil {
				return 0, 0, err
			}
		case bytes.HasPrefix(line, []byte(retryAfter)):
			n, _ := strconv.Atoi(string(bytes.TrimSpace(line[len(retryAfter):])))
			w.again = time.Duration(n) * time.Second
		case bytes.Equal(line, []byte("Transfer-Encoding: chunked")):
			known, length = true, chunked
		}
	}
	if !known {
		return 0, 0, errors.New("an answer without Content-Length or chunks")
	}
	return status, length, nil
}

// rest reads the body of an answer. It is good until the next call.
func (w *wire) rest(length int) (body []byte, err error) {
	if w.body = w.body[:0]; length != chunked {
		err := w.more(length)
		return w.body, err
	}
	for {
		line, err := w.line()
		if err != nil {
			return nil, err
		}
		size, err := strconv.ParseUint(string(line), 16, 31)
		if err != nil {
			return nil, err
		}
		if err := w.more(int(size)); err != nil {
			return nil, err
		}
		if line, err = w.line(); err != nil {
			return nil, err
		}
		if len(line) > 0 {
			return nil, fmt.Errorf("a chunk is longer than it says: %q", line)
		}
		if size == 0 {
			return w.body, nil
		}
	}
}

// more appends so many bytes to the body.
func (w *wire) more(n int) error {
	from := len(w.body)
	w.body = slices.Grow(w.body, n)[:from+n]
	_, err := io.ReadFull(w.reader, w.body[from:])
	return err
}

// line is the next line without its end.
func (w *wire) line() ([]byte, error) {
	line, err := w.reader.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

// post and get are the bytes of requests. header is further headers, each with its end.
func post(host, path, token, header, body string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, host, token, header, len(body), body)
}

func get(host, path, token, header string) []byte {
	return request(http.MethodGet, host, path, token, header)
}

// request is a request without a body.
func request(method, host, path, token, header string) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n", method, path, host, token,
		header)
}
