package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"

	"matchmaker.dev/services/internal/platform/process"
)

// unit is a program that is started again and again. One process of it runs at a time.
type unit struct {
	name string
	// command makes the command of a process.
	command func() *exec.Cmd
	// address finds in a line of output where the process listens; "" when the line does not say it.
	address func(line string) string
	// logs is the folder for its output.
	logs string

	mu      sync.Mutex
	current *running
}

// running is the latest process of a unit. It may have ended.
type running struct {
	*process.Process
	address atomic.Pointer[string] // nil until the process has printed it
}

// start starts a process of the unit. The one before must have ended.
func (u *unit) start() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	file, err := os.OpenFile(filepath.Join(u.logs, u.name+".log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	p := new(running)
	cmd := u.command()
	cmd.Stdout = io.MultiWriter(file, process.Lines(func(line string) {
		if address := u.address(line); address != "" {
			p.address.CompareAndSwap(nil, &address)
		}
	}))
	cmd.Stderr = cmd.Stdout
	if p.Process, err = process.Start(cmd); err != nil {
		_ = file.Close()
		return err
	}
	go func() {
		<-p.Done()
		_ = file.Close()
	}()
	u.current = p
	return nil
}

// process is the latest process, nil before the first start.
func (u *unit) process() *running {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.current
}

var errEnded = errors.New("the process has ended")

// listening returns where the unit listens. It waits until the unit does.
func (u *unit) listening(ctx context.Context) (string, error) {
	p := u.process()
	if p == nil {
		return "", errEnded
	}
	if err := p.Wait(ctx, func() bool { return p.address.Load() != nil }); err != nil {
		return "", err
	}
	if !p.Running() {
		return "", errEnded
	}
	return *p.address.Load(), nil
}

// dial connects to the unit. part chooses from what the unit says where it listens.
func (u *unit) dial(part func(string) (network, address string)) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		where, err := u.listening(ctx)
		if err != nil {
			return nil, err
		}
		network, address := part(where)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

func tcp(where string) (network, address string) { return "tcp", where }
