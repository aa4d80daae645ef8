package embedded

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// syncInterval is how often JetStream's files are flushed to the disk. Between two of them a power cut may take
// messages along; a killed process takes none. A lost message costs time, never a ticket.
const syncInterval = 10 * time.Second

// maxStore limits the sum of what the streams may have, in bytes, where the settings do not. nats-server's own limit is
// three quarters of what the disk has free at the start: a stream that may have 1 GiB, and has 1 MiB, would be refused.
const maxStore = 1 << 50

// NATSOptions say where the server keeps its data and where it listens.
type NATSOptions struct {
	// Dir holds JetStream's store; it is created when missing.
	Dir string
	// Port to listen on; a free one when 0.
	Port int
	// Settings is the path of a file of nats-server's own settings, such as users, TLS and a cluster; none when empty.
	// What is said here goes before what is said there.
	Settings string
	// Password is the password of its one user; when empty, and without Settings, every client may do everything.
	Password string
	Log      *slog.Logger
}

// NATS is a NATS server with JetStream in this process.
type NATS struct {
	server *server.Server
	login  *url.Userinfo
	lock   *os.File
}

// NATSVersion is the version of the server.
func NATSVersion() string { return server.VERSION }

// StartNATS returns when clients may connect and the streams in Dir are recovered. It installs no signal handlers: the
// server lives until Close.
func StartNATS(ctx context.Context, o NATSOptions) (*NATS, error) {
	lock, err := lock(ctx, o.Dir)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	s, err := serve(ctx, o)
	if err != nil {
		_ = unlock(lock)
		return nil, fmt.Errorf("nats: %w", err)
	}
	n := &NATS{server: s, lock: lock}
	if o.Password != "" {
		n.login = url.UserPassword(natsUser, o.Password)
	}
	return n, nil
}

func serve(ctx context.Context, o NATSOptions) (*server.Server, error) {
	options, err := natsOptions(o)
	if err != nil {
		return nil, err
	}
	s, err := server.NewServer(options)
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

// natsOptions is the one place where the server's settings are made.
func natsOptions(o NATSOptions) (*server.Options, error) {
	n := new(server.Options)
	if o.Settings != "" {
		var err error
		if n, err = server.ProcessConfigFile(o.Settings); err != nil {
			return nil, err
		}
	}
	n.ServerName = cmp.Or(n.ServerName, "embedded")
	n.Host = "127.0.0.1"
	n.Port = cmp.Or(o.Port, server.RANDOM_PORT)
	n.JetStream = true
	n.StoreDir = o.Dir
	n.JetStreamMaxStore = cmp.Or(n.JetStreamMaxStore, maxStore)
	n.SyncInterval = syncInterval
	n.NoSigs = true
	if o.Password != "" {
		n.Username, n.Password = natsUser, o.Password
	}
	n.DisableJetStreamBanner = true
	return n, nil
}

// natsUser is the user that Password is for: nats-server knows no password without one.
const natsUser = "matchmaker"

// URL is where clients connect, nats://[user:password@]host:port.
func (n *NATS) URL() string {
	return (&url.URL{Scheme: "nats", User: n.login, Host: n.ClientsAddr()}).String()
}

// ClientsAddr is where clients connect, host:port.
func (n *NATS) ClientsAddr() string { return n.server.Addr().String() }

// RoutesAddr is where the other servers of its cluster reach it, host:port; "" when it is alone.
func (n *NATS) RoutesAddr() string {
	if a := n.server.ClusterAddr(); a != nil {
		return a.String()
	}
	return ""
}

// Close disconnects the clients, flushes the streams to their files and returns when the server has ended. Close the
// clients first: those that are left would look for the server until their own time is up.
func (n *NATS) Close() error {
	n.server.Shutdown()
	n.server.WaitForShutdown()
	return unlock(n.lock)
}

// natsLog passes the NATS server's log on to slog. Its notices become debug lines.
type natsLog struct {
	log *slog.Logger
	// fatal gets the first reason why the server cannot run. The server does not end the process itself: the caller has
	// to look here.
	fatal chan string
}

func (l *natsLog) Noticef(format string, v ...any) { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *natsLog) Debugf(format string, v ...any)  { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *natsLog) Tracef(format string, v ...any)  { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *natsLog) Errorf(format string, v ...any)  { l.log.Error("nats: " + fmt.Sprintf(format, v...)) }

// Warnf leaves out warnings that do not apply to dev: the password is new at each start, and in memory only.
func (l *natsLog) Warnf(format string, v ...any) {
	if !strings.HasPrefix(format, "Plaintext passwords detected") {
		l.log.Warn("nats: " + fmt.Sprintf(format, v...))
	}
}

func (l *natsLog) Fatalf(format string, v ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, v...):
	default:
	}
}
