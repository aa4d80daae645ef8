package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// askTime is how long a Redis may take for an answer.
const askTime = 2 * time.Second

// redis is a server of Redis.
type redis struct {
	*unit
	// network is the network of the address where it listens. config is the file of its settings, if it has one.
	network, config string
	// dir has its files.
	dir string
}

// ask sends a command over a connection of its own. The answer is a string, an int64, nil, or a list of these.
func (r *redis) ask(ctx context.Context, words ...string) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	conn, err := r.dial(func(where string) (network, address string) { return r.network, where })(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(conn, out.String()); err != nil {
		return nil, err
	}
	answer, err := readAnswer(bufio.NewReader(conn))
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", r.name, words[0], err)
	}
	return answer, nil
}

func readAnswer(in *bufio.Reader) (any, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, text := line[0], strings.TrimSpace(line[1:])
	switch kind {
	case '+':
		return text, nil
	case '-':
		return nil, errors.New(text)
	case ':':
		return strconv.ParseInt(text, 10, 64)
	}
	size, err := strconv.Atoi(text)
	if err != nil || size < 0 {
		return nil, err
	}
	if kind == '$' {
		body := make([]byte, size+2)
		_, err = io.ReadFull(in, body)
		return string(body[:size]), err
	}
	list := make([]any, size)
	for i := range list {
		if list[i], err = readAnswer(in); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// info reads a section of INFO.
func (r *redis) info(ctx context.Context, section string) (map[string]string, error) {
	answer, err := r.ask(ctx, "INFO", section)
	if err != nil {
		return nil, err
	}
	text, _ := answer.(string)
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			values[name] = value
		}
	}
	return values, nil
}

// role is what a server says about its replication.
type role struct {
	// primary reports whether it is one, linked whether it is a replica that gets its primary's writes.
	primary, linked bool
	// offset is how far its history goes, in bytes.
	offset int64
	// run is the process, and written how many changes it has made.
	run, written string
}

func (r *redis) role(ctx context.Context) (role, error) {
	values, err := r.info(ctx, "everything")
	if err != nil {
		return role{}, err
	}
	is := role{
		primary: values["role"] == "master", linked: values["master_link_status"] == "up",
		run: values["run_id"], written: values["rdb_changes_since_last_save"],
	}
	name := "slave_repl_offset"
	if is.primary {
		name = "master_repl_offset"
	}
	is.offset, err = strconv.ParseInt(values[name], 10, 64)
	return is, err
}

// pair is a primary and its replica. They may change places.
type pair struct {
	name    string
	servers [2]*redis
}

// look returns which of the pair is the primary, if one is and the other one gets its writes.
func (p *pair) look(ctx context.Context) (primary, replica *redis, whole bool) {
	for i, r := range p.servers {
		other := p.servers[1-i]
		if is, err := r.role(ctx); err != nil || !is.primary {
			continue
		}
		is, err := other.role(ctx)
		return r, other, err == nil && !is.primary && is.linked
	}
	return nil, nil, false
}

// wholeTime is how long a pair may take to be a primary with a replica again: a Sentinel waits for ten seconds until it
// makes a server a replica that was restarted as a primary.
const wholeTime = time.Minute

// whole waits until one of the pair is the primary and the other one gets its writes.
func (p *pair) whole(ctx context.Context) (primary, replica *redis, err error) {
	ctx, cancel := context.WithTimeout(ctx, wholeTime)
	defer cancel()
	err = until(ctx, func() bool {
		var is bool
		primary, replica, is = p.look(ctx)
		return is
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s does not have a primary with a replica: %w", p.name, err)
	}
	return primary, replica, nil
}
