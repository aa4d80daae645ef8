// Package clustertest makes the settings of NATS servers that are a cluster.
package clustertest

import (
	"fmt"
	"os"
	"strings"
)

// Nowhere is an address at which nothing listens.
const Nowhere = "127.0.0.1:1"

// Write writes a file of settings of a server: the name of its cluster, its own name, and the addresses of the others'
// routes, which may come later. The servers use these and tell each other, and clients, of no more: a server that heard
// of this one from a third must use the route that it was given. A server that hangs is given up after 6 s, as clients
// do: until then the others route messages to its former clients.
func Write(file, cluster, server string, routes []string) error {
	text := fmt.Sprintf(`server_name: %q
cluster { name: %q, listen: "127.0.0.1:-1", advertise: %q, no_advertise: true, ping_interval: "2s", ping_max: 2
  routes: ["nats-route://%s"] }
`, server, cluster, Nowhere, strings.Join(routes, `", "nats-route://`))
	return os.WriteFile(file, []byte(text), 0o600)
}
