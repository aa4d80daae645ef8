package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// syncInterval is how often JetStream's files are flushed to the disk. Between
// two of them a power cut may take messages along; a killed process takes none.
// A lost message costs time, never a ticket.
const syncInterval = 10 * time.Second

// NATSOptions say where the server keeps its data and where it listens.
type NATSOptions struct {
	// Dir holds JetStream's store; it is created when missing.
	Dir string
	// Host to listen on; 127.0.0.1 when empty.
	Host string
	// Port to listen on; a free one when 0.
	Port int
	Log  *slog.Logger
}

// NATS is a NATS server with JetStream in this process.
type NATS struct {
	server *server.Server
	lock   *os.File
}

// StartNATS returns when clients may connect and the streams in Dir are recovered.
// It installs no signal handlers: the server lives until Close.
func StartNATS(ctx context.Context, o NATSOptions) (*NATS, error) {
	lock, err := lock(ctx, o.Dir)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	s, err := serve(ctx, o)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("nats: %w", err)
	}
	return &NATS{server: s, lock: lock}, nil
}

func serve(ctx context.Context, o NATSOptions) (*server.Server, error) {
	s, err := server.NewServer(natsOptions(o))
	if err != nil {
		return nil, err
	}
	log := &natsLog{log: o.Log, fatal: make(chan string, 1)}
	s.SetLogger(log, o.Log.Enabled(ctx, slog.LevelDebug), false)
	ready := make(chan struct{})
	go func() {
		s.Start()
		if s.ReadyForConnections(time.Minute) {
			close(ready)
		}
	}()
	select {
	case <-ready:
		return s, nil
	case text := <-log.fatal:
		err = fmt.Errorf("%s", text)
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.Shutdown()
	return nil, err
}

// natsOptions is the one place where the server's settings are made; a cluster
// of several servers would add its routes and names here.
func natsOptions(o NATSOptions) *server.Options {
	n := &server.Options{
		ServerName:             "embedded",
		Host:                   o.Host,
		Port:                   o.Port,
		JetStream:              true,
		StoreDir:               o.Dir,
		SyncInterval:           syncInterval,
		NoSigs:                 true,
		DisableJetStreamBanner: true,
	}
	if n.Host == "" {
		n.Host = "127.0.0.1"
	}
	if n.Port == 0 {
		n.Port = server.RANDOM_PORT
	}
	return n
}

// URL is where clients connect, nats://host:port.
func (n *NATS) URL() string { return n.server.ClientURL() }

// Close disconnects the clients, flushes the streams to their files and returns
// when the server has ended. Close the clients first: those that are left would
// look for the server until their own time is up.
func (n *NATS) Close() error {
	n.server.Shutdown()
	n.server.WaitForShutdown()
	return n.lock.Close()
}
