package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"matchmaker.dev/services/internal/embedded"
)

// nodeCommand makes this program a NATS server of a cluster: its name, its folder and where the others are reached
// for routes follow. nodeListens begins the line in which it says where clients and other servers find it.
const (
	nodeCommand = "nats-node"
	nodeListens = "listening for clients and routes at "
)

// node runs until ctx ends.
func node(ctx context.Context, out io.Writer, arguments []string) error {
	if len(arguments) < 2 {
		return fmt.Errorf("%s needs a name and a folder", nodeCommand)
	}
	n, err := embedded.StartNATS(ctx, embedded.NATSOptions{
		Dir: arguments[1], Log: slog.New(slog.NewTextHandler(out, nil)),
		Cluster: &embedded.Cluster{Server: arguments[0], Routes: arguments[2:]},
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s%s %s\n", nodeListens, n.ClientsAddr(), n.RoutesAddr()); err != nil {
		return err
	}
	<-ctx.Done()
	return n.Close()
}
