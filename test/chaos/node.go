package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/clustertest"
)

// nodeCommand runs this program as a NATS server of a cluster. Its arguments are the cluster's name, its own name, its
// folder and the addresses of the others' routes. nodeListens begins the line with its addresses for clients and
// routes.
const (
	nodeCommand = "nats-node"
	nodeListens = "listening for clients and routes at "
)

// node runs a NATS server until ctx ends.
func node(ctx context.Context, out io.Writer, arguments []string) error {
	if len(arguments) < 3 {
		return fmt.Errorf("%s needs the name of a cluster, its own and a folder", nodeCommand)
	}
	file := arguments[2] + ".conf"
	if err := clustertest.Write(file, arguments[0], arguments[1], arguments[3:]); err != nil {
		return err
	}
	n, err := embedded.StartNATS(ctx, embedded.NATSOptions{
		Dir: arguments[2], Settings: file, Log: slog.New(slog.NewTextHandler(out, nil)),
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
