package launch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// given are the ports that [Vacant] gave away in this process.
var given sync.Map

// Vacant is an address of this machine, host:port, at which no process listens. Its port is below the ports that Linux
// gives to connections and to listeners at port 0: between this call and the start of a server, no connection takes it,
// and a server that is killed gets it again. It gives no port twice.
func Vacant(ctx context.Context) (string, error) {
	const first, ports = 10_000, 20_000
	for range 1000 {
		port := first + rand.IntN(ports) //nolint:gosec // which one does not matter
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", errors.New("no port is free")
}
