package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// redis asks a Redis server how much it stores. It speaks just enough of the protocol.
type redis struct {
	conn net.Conn
	in   *bufio.Reader
}

func dialRedis(ctx context.Context, address string) (*redis, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &redis{conn, bufio.NewReader(conn)}, nil
}

func (r *redis) close() { _ = r.conn.Close() }

// do sends commands at once, and returns their replies.
func (r *redis) do(commands ...[]string) ([]any, error) {
	var text strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&text, "*%d\r\n", len(c))
		for _, word := range c {
			fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(word), word)
		}
	}
	if _, err := io.WriteString(r.conn, text.String()); err != nil {
		return nil, err
	}
	replies := make([]any, len(commands))
	for i := range replies {
		var err error
		if replies[i], err = r.reply(); err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// reply reads a number, a text or a list; nil is what does not exist.
func (r *redis) reply() (any, error) {
	line, err := r.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, line := line[0], strings.TrimSpace(line[1:])
	switch kind {
	case '+':
		return line, nil
	case '-':
		return nil, errors.New(line)
	}
	n, err := strconv.ParseInt(line, 10, 64)
	switch {
	case err != nil:
		return nil, err
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		text := make([]byte, n+2)
		_, err := io.ReadFull(r.in, text)
		return string(text[:n]), err
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = r.reply(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// familySample is how many keys of a family are measured. The others count as their mean.
const familySample = 200

// family is the keys of one kind.
type keyFamily struct {
	keys   int
	sample []string
}

// sizes adds the MiB of each family of keys, of all data, and how many keys there are.
func (r *redis) sizes(now map[string]float64) error {
	families := map[string]*keyFamily{}
	for cursor := "0"; ; {
		got, err := r.do([]string{"SCAN", cursor, "COUNT", "2000"})
		if err != nil {
			return err
		}
		page, _ := got[0].([]any)
		if len(page) != 2 {
			return fmt.Errorf("unexpected reply to SCAN: %v", got)
		}
		cursor, _ = page[0].(string)
		keys, _ := page[1].([]any)
		for _, k := range keys {
			key, _ := k.(string)
			name := familyOf(key)
			if families[name] == nil {
				families[name] = &keyFamily{}
			}
			f := families[name]
			if f.keys++; len(f.sample) < familySample {
				f.sample = append(f.sample, key)
			}
		}
		if cursor == "0" {
			break
		}
	}
	for name, f := range families {
		commands := make([][]string, len(f.sample))
		for i, key := range f.sample {
			commands[i] = []string{"MEMORY", "USAGE", key, "SAMPLES", "50"}
		}
		got, err := r.do(commands...)
		if err != nil {
			return err
		}
		sum, measured := 0.0, 0
		for _, size := range got {
			if n, is := size.(int64); is { // others have expired meanwhile
				sum += float64(n)
				measured++
			}
		}
		now["redis: "+name] = sum / float64(max(1, measured)) * float64(f.keys) / (1 << 20)
		now["redis: keys"] += float64(f.keys)
	}
	got, err := r.do([]string{"INFO", "memory"})
	if err != nil {
		return err
	}
	text, _ := got[0].(string)
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(line, "used_memory_dataset:"); is {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				return err
			}
			now["redis: all"] = n / (1 << 20)
		}
	}
	return nil
}

// familyOf is the name of a key without its project and its id.
func familyOf(key string) string {
	if _, rest, found := strings.Cut(key, "}:"); found {
		key = rest
	}
	if kind, _, found := strings.Cut(key, ":"); found {
		return kind + ":*"
	}
	return key
}
