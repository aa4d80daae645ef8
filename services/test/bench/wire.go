package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// wire is a keep-alive connection with a minimum of HTTP/1.1: it sends requests as they are, and reads status and body
// of answers. It costs a tenth of net/http's client, which would take more of the machine than what is measured.
type wire struct {
	conn   net.Conn
	reader *bufio.Reader
	body   []byte
}

func dial(ctx context.Context, address string) (*wire, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, reader: bufio.NewReaderSize(conn, 4<<10)}, nil
}

func (w *wire) close() { _ = w.conn.Close() }

// patience sets the time at which requests without an answer fail.
func (w *wire) patience(until time.Time) { _ = w.conn.SetDeadline(until) }

// do sends a request and reads its answer. The body is good until the next call.
func (w *wire) do(request []byte) (status int, body []byte, err error) {
	if _, err := w.conn.Write(request); err != nil {
		return 0, nil, err
	}
	line, err := w.line()
	if err != nil {
		return 0, nil, err
	}
	// HTTP/1.1 201 Created
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, nil, fmt.Errorf("not an answer of HTTP/1.1: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, err
	}
	length := -1
	for {
		if line, err = w.line(); err != nil {
			return 0, nil, err
		}
		if len(line) == 0 {
			break
		}
		const name = "Content-Length:" // as net/http writes it
		if bytes.HasPrefix(line, []byte(name)) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(name):]))); err != nil {
				return 0, nil, err
			}
		}
	}
	if length < 0 {
		return 0, nil, errors.New("an answer without Content-Length")
	}
	if cap(w.body) < length {
		w.body = make([]byte, length)
	}
	body = w.body[:length]
	_, err = io.ReadFull(w.reader, body)
	return status, body, err
}

// line is the next line without its end.
func (w *wire) line() ([]byte, error) {
	line, err := w.reader.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

// post and get are the bytes of requests.
func post(host, path, token, body string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, host, token, len(body), body)
}

func get(host, path, token, header string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n", path, host, token, header)
}
